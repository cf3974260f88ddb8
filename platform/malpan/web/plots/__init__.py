"""Plots drawn on the server: pure geometry here, shapes in ``templates/plots/``, colours in ``static/web/plots.css``.

A plot is an SVG of fixed coordinates that the page scales. It says nothing that the table beside it does not.
"""

"""Every page of the site, in a real browser, as people of each kind see it: axe, targets, widths, pictures.

``python -m tests.appearance`` starts a site with the demo and follows its links.
"""

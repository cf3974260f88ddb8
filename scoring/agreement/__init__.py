"""How far a judge's values agree with scores that people gave the same items.

``human`` reads the scores of people, ``figures`` computes Pearson's and Spearman's correlation and the quadratic
weighted kappa with bootstrap intervals, ``record`` is what is kept of it. Only ``figures`` loads numpy.
"""

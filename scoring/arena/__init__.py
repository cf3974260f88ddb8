"""Evaluation by people: votes of judges, and what follows from them. Pure functions, usable without the site."""

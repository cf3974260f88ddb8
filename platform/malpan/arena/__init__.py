"""Human evaluation of a track's systems (말평 아레나): campaigns, judges, judgements, and the published result."""

"""A whole competition as one file: ``exporting`` writes it, ``importing`` reads it, ``format`` describes it."""

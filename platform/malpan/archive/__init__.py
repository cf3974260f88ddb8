"""A whole competition as one file: ``exporting`` writes it, ``importing`` reads it, ``format`` says what it is."""

"""What METEOR needs to match words: alignments, synonyms, lemmas."""

"""The demo: self-written items in the official format, the teams that answer them, and how it is loaded."""

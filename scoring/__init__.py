"""The instrument: scoring of Korean text generation, on files or in Python, without a server."""

__version__ = "0.1.0"

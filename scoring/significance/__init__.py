"""Comparison of two results: what differs, by how much, and whether it could be chance."""

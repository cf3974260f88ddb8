"""Two outputs side by side: what differs, by how much, and whether it could be chance."""

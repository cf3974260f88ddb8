"""The arena: evaluation by people, from the design of who judges what to a result that anyone can compute again."""

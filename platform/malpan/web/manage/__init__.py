"""The manage pages, on which organisers run a competition. One module for each group; ``urls`` combines them."""

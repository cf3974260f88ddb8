"""The manage pages: the pages behind a competition. One module a page family; ``urls`` composes them."""

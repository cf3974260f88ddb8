"""What organisers set and see, a file for each subject, as in ``malpan.api.manage``."""

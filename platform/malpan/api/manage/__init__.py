"""What organisers do, a file for each subject: through the services of the pages, with the same permissions."""

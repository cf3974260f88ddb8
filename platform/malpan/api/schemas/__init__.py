"""What the API reads and answers, a file for each subject. Scores are 0-1; times are ISO 8601 with their offset."""

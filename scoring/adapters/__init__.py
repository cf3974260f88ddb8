"""The metrics inside other programs: each module needs the program that it is for, which no extra installs."""

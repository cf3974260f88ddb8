"""Personal data: what the site holds of a person, handing it over, erasing it, and letting go of it in time."""

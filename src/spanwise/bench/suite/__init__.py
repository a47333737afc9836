"""Does a scheme help everywhere and hurt nowhere? Many streams, many learners, one table."""

"""A subnet's steps as one table that several threads process, and where activations lie."""

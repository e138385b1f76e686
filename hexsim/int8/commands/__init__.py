"""A subnet's steps as one table that several threads go through; where activations lie."""

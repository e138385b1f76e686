"""The reports on a model itself: layers, encodings, how it was read and quantised."""

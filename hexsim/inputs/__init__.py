"""Where the inputs of a comparison come from: raw files, pictures, or a seed."""

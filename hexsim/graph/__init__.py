"""The network as every other part of hexsim sees it: layers, tensors and constants."""

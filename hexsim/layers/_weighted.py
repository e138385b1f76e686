"""Which layers multiply by weights that are quantised."""

from __future__ import annotations

from hexsim.layers.convolution import Convolution
from hexsim.layers.deconvolution import Deconvolution
from hexsim.layers.fully_connected import FullyConnected

Filtering = Convolution | Deconvolution
"""They slide a window over an image and know the moments of what they write."""
Weighted = Filtering | FullyConnected
"""They have a weight, its last axis the output channel, perhaps a bias, and a clamp."""

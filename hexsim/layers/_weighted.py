"""The layers that multiply by quantised weights."""

from hexsim.layers._filtering import Filtering
from hexsim.layers.fully_connected import FullyConnected

Weighted = Filtering | FullyConnected
"""They have a weight with the output channels last, an optional bias, and a clamp."""

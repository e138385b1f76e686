"""The layers that multiply by quantised weights."""

from __future__ import annotations

from hexsim.layers._filtering import Filtering
from hexsim.layers.fully_connected import FullyConnected

Weighted = Filtering | FullyConnected
"""They have a weight with the output channels last, an optional bias, and a clamp."""

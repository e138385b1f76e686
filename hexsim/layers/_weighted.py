"""Which layers multiply by weights that are quantised."""

from __future__ import annotations

from hexsim.layers._filtering import Filtering
from hexsim.layers.fully_connected import FullyConnected

Weighted = Filtering | FullyConnected
"""They have a weight, its last axis the output channel, perhaps a bias, and a clamp."""

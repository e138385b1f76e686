"""The quantisation-friendly form of shapes_mobilenet.py, trained in the same way."""

from ._built import BuiltModel
from ._trained import trained
from .shapes_mobilenet import NETWORK


def build() -> BuiltModel:
    """Return the trained network with a softmax over ten classes."""
    return trained(NETWORK.build("shapes_mobilenet_friendly", friendly=True))

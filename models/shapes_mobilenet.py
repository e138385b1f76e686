"""A MobileNetV1 for pictures of ten shapes (32 x 32), with trained weights.

Its batch norms before depthwise steps have scales that differ 60 times, as those of published
MobileNets do, so that folding blows up some depthwise weights: int8 with one range for each tensor
loses its answers. `python -m benchmarks.train_shapes` trains it.
"""

from ._built import BuiltModel
from ._separable import Separable
from ._shapes import CLASSES, INPUT, SIZE
from ._trained import trained

NETWORK = Separable(
    size=SIZE,
    first=16,
    blocks=((1, 32), (2, 64), (1, 64), (2, 128), (1, 128)),
    classes=len(CLASSES),
    epsilon=1e-5,
    input=INPUT,
)


def build() -> BuiltModel:
    """Return the trained network with a softmax over ten classes."""
    return trained(NETWORK.build("shapes_mobilenet"))

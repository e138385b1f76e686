"""Inception v3 as in torchvision: 299x299, factorised convolutions, batch norm throughout.

Szegedy et al., "Rethinking the Inception Architecture for Computer Vision", 2015. Initialisers
are named as in torchvision's state dict. Left out: the training-only classifier and the input
rescaling that goes with torchvision's trained weights.
"""

from __future__ import annotations

from ._builder import LOGIT_STD, Builder
from ._built import BuiltModel
from ._window import KernelSize, Pads, Window


class _Module:
    """One inception module: branches written as chains of named convolutions."""

    def __init__(self, net: Builder, name: str) -> None:
        self._net, self._prefix = net, f"{name}." if name else ""

    def conv(
        self,
        x: str,
        name: str,
        channels: int,
        kernel: KernelSize,
        stride: int = 1,
        pads: Pads | None = None,
    ) -> str:
        """Convolution, batch norm and ReLU; the image keeps its size unless `pads` says so."""
        net, path = self._net, f"{self._prefix}{name}"
        height, width = (kernel, kernel) if isinstance(kernel, int) else kernel
        around = (height // 2, width // 2) if pads is None else pads
        window = Window(kernel, stride, around)
        x = net.conv(x, f"{path}.conv", channels, window, bias=False)
        return net.relu(net.batch_norm(x, f"{path}.bn", epsilon=1e-3), f"{path}.relu")

    def halve(self, x: str) -> str:
        """Max pool that halves the image."""
        return self._net.max_pool(x, f"{self._prefix}max_pool", 3, 2)

    def pool(self, x: str, channels: int) -> str:
        """Average pool, then a 1x1 convolution."""
        x = self._net.average_pool(x, f"{self._prefix}avg_pool", 3, pads=1)
        return self.conv(x, "branch_pool", channels, 1)

    def join(self, *branches: str, name: str = "cat") -> str:
        """Concatenate branches."""
        return self._net.concat(branches, f"{self._prefix}{name}")


def _inception_a(net: Builder, x: str, name: str, pooled: int) -> str:
    module = _Module(net, name)
    b5 = module.conv(x, "branch5x5_1", 48, 1)
    b3 = module.conv(x, "branch3x3dbl_1", 64, 1)
    b3 = module.conv(b3, "branch3x3dbl_2", 96, 3)
    return module.join(
        module.conv(x, "branch1x1", 64, 1),
        module.conv(b5, "branch5x5_2", 64, 5),
        module.conv(b3, "branch3x3dbl_3", 96, 3),
        module.pool(x, pooled),
    )


def _inception_b(net: Builder, x: str, name: str) -> str:
    module = _Module(net, name)
    b3 = module.conv(x, "branch3x3dbl_1", 64, 1)
    b3 = module.conv(b3, "branch3x3dbl_2", 96, 3)
    return module.join(
        module.conv(x, "branch3x3", 384, 3, stride=2, pads=0),
        module.conv(b3, "branch3x3dbl_3", 96, 3, stride=2, pads=0),
        module.halve(x),
    )


def _inception_c(net: Builder, x: str, name: str, width: int) -> str:
    module = _Module(net, name)
    b7 = module.conv(x, "branch7x7_1", width, 1)
    b7 = module.conv(b7, "branch7x7_2", width, (1, 7))
    double = module.conv(x, "branch7x7dbl_1", width, 1)
    for index, kernel in ((2, (7, 1)), (3, (1, 7)), (4, (7, 1))):
        double = module.conv(double, f"branch7x7dbl_{index}", width, kernel)
    return module.join(
        module.conv(x, "branch1x1", 192, 1),
        module.conv(b7, "branch7x7_3", 192, (7, 1)),
        module.conv(double, "branch7x7dbl_5", 192, (1, 7)),
        module.pool(x, 192),
    )


def _inception_d(net: Builder, x: str, name: str) -> str:
    module = _Module(net, name)
    b3 = module.conv(x, "branch3x3_1", 192, 1)
    b7 = module.conv(x, "branch7x7x3_1", 192, 1)
    b7 = module.conv(b7, "branch7x7x3_2", 192, (1, 7))
    b7 = module.conv(b7, "branch7x7x3_3", 192, (7, 1))
    return module.join(
        module.conv(b3, "branch3x3_2", 320, 3, stride=2, pads=0),
        module.conv(b7, "branch7x7x3_4", 192, 3, stride=2, pads=0),
        module.halve(x),
    )


def _inception_e(net: Builder, x: str, name: str) -> str:
    module = _Module(net, name)

    def split(x: str, branch: str, a: str, b: str) -> str:
        halves = (
            module.conv(x, f"{branch}_{a}", 384, (1, 3)),
            module.conv(x, f"{branch}_{b}", 384, (3, 1)),
        )
        return module.join(*halves, name=f"{branch}_cat")

    b3 = module.conv(x, "branch3x3_1", 384, 1)
    double = module.conv(x, "branch3x3dbl_1", 448, 1)
    double = module.conv(double, "branch3x3dbl_2", 384, 3)
    return module.join(
        module.conv(x, "branch1x1", 320, 1),
        split(b3, "branch3x3", "2a", "2b"),
        split(double, "branch3x3dbl", "3a", "3b"),
        module.pool(x, 192),
    )


def build() -> BuiltModel:
    """Return Inception v3, whose output is 1000 logits."""
    net = Builder("inception_v3", "input", (1, 3, 299, 299))
    stem = _Module(net, "")
    x = stem.conv("input", "Conv2d_1a_3x3", 32, 3, stride=2, pads=0)
    x = stem.conv(x, "Conv2d_2a_3x3", 32, 3, pads=0)
    x = stem.conv(x, "Conv2d_2b_3x3", 64, 3)
    x = net.max_pool(x, "maxpool1", 3, 2)
    x = stem.conv(x, "Conv2d_3b_1x1", 80, 1)
    x = stem.conv(x, "Conv2d_4a_3x3", 192, 3, pads=0)
    x = net.max_pool(x, "maxpool2", 3, 2)
    for letter, pooled in (("b", 32), ("c", 64), ("d", 64)):
        x = _inception_a(net, x, f"Mixed_5{letter}", pooled)
    x = _inception_b(net, x, "Mixed_6a")
    for letter, width in (("b", 128), ("c", 160), ("d", 160), ("e", 192)):
        x = _inception_c(net, x, f"Mixed_6{letter}", width)
    x = _inception_d(net, x, "Mixed_7a")
    for letter in "bc":
        x = _inception_e(net, x, f"Mixed_7{letter}")
    x = net.dropout(net.global_average_pool(x, "avgpool"), "dropout")
    x = net.flatten(x, "flatten")
    return net.finish(net.fully_connected(x, "fc", 1000, std=LOGIT_STD))

"""QuantizedNetwork: a network with an encoding for every tensor that an integer kernel meets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from hexsim.errors import HexsimError
from hexsim.graph.ir import Constant, Network
from hexsim.quantization.encodings import AxisEncoding, Encoding


@dataclass(frozen=True)
class QuantizedNetwork:
    """A float network and its encodings.

    `activations` maps tensor names (and constants used as operands) to encodings; `parameters`
    maps weights and biases. A bias of 32 bits has no encoding of its own: it is stored at the
    accumulator's scale when the plan is bound.

    `stored_codes` holds the codes of constants that a file keeps as codes; their float values
    are the dequantised ones.
    """

    network: Network
    activations: Mapping[str, Encoding]
    parameters: Mapping[str, Encoding | AxisEncoding]
    stored_codes: Mapping[str, Constant] = field(default_factory=dict, repr=False, compare=False)
    _codes: dict[str, npt.NDArray[np.integer]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    @property
    def name(self) -> str:
        """Name of the network."""
        return self.network.name

    def encoding(self, name: str) -> Encoding | AxisEncoding | None:
        """Encoding of a tensor or constant, if it has one."""
        return self.parameters.get(name) or self.activations.get(name)

    def codes(self, name: str) -> npt.NDArray[np.integer]:
        """Codes of a constant that has an encoding: those of the file, else computed once."""
        if name in self.stored_codes:
            return self.stored_codes[name].value()  # type: ignore[return-value]
        if name not in self._codes:
            encoding = self.encoding(name)
            assert encoding is not None, f"constant '{name}' has no encoding"
            value = self.network.constants[name].finite()
            self._codes[name] = encoding.quantize(value.astype(np.float32, copy=False))
        return self._codes[name]

    @cached_property
    def weight_bytes(self) -> int:
        """Bytes of all quantised parameters, biases without encoding counted as int32."""
        total = 0
        for name in self.network.weights:
            bits = self.parameters[name].bitwidth if name in self.parameters else 32
            total += self.network.constants[name].elements * bits // 8
        return total


def float_network(model: Network | QuantizedNetwork) -> Network:
    """The network itself, without encodings."""
    return model.network if isinstance(model, QuantizedNetwork) else model


def require_float(model: Network | QuantizedNetwork) -> Network:
    """The network, if it is float; raise HexsimError if it is quantised already."""
    if isinstance(model, QuantizedNetwork):
        raise HexsimError(
            f"network '{model.name}' is quantised already; quantise the float network it was "
            "made from"
        )
    return model

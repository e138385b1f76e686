"""The targets that support a layer: an allow-list, and rules by which these refuse some layers.

The sentence of each is both the user's message and the documentation. Sources: the
SNPE list of limitations; for the HTA the operators of the QNN HTA back end, whose own list SNPE
never published (fully connected: SNPE compiles Inception v3 to one section).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from hexsim.records import dataclass
from hexsim.runtimes import RUNTIMES, LayerTarget

if TYPE_CHECKING:
    from hexsim.graph.ir import Network

HTA: frozenset[LayerTarget] = frozenset({"hta"})
GPU: frozenset[LayerTarget] = frozenset({"gpu", "gpu_fp16"})
INTEGER: frozenset[LayerTarget] = frozenset({"dsp", "aip", "fxp_cpu", "hta", "htp"})
HTP: frozenset[LayerTarget] = frozenset({"htp", "htp_fp16"})
_HTP_FLOATS: frozenset[LayerTarget] = frozenset({"htp_fp16"})
ACCELERATORS = GPU | INTEGER | _HTP_FLOATS
CPU: frozenset[LayerTarget] = frozenset({"cpu"})
_RUNTIMES: frozenset[LayerTarget] = frozenset(RUNTIMES)


@dataclass(frozen=True)
class Support:
    """The targets that support a layer type or function, and why others do not, in one sentence.

    For runtimes this is the assumption where the table of a release has no entry
    (`hexsim.datasheets.operators`). For the HTA it is the only source.
    """

    targets: frozenset[LayerTarget]
    otherwise: str


EVERYWHERE = Support(_RUNTIMES | HTA, "every runtime and the HTA take it")
MADE_OF_HTA_LAYERS = Support(
    _RUNTIMES | HTA, "every runtime takes it, and the HTA as sums, products and clamps (assumed)"
)
NO_HTA_LAYER = Support(_RUNTIMES, "the QNN HTA back end has no layer of this type")
NO_HTA_FUNCTION = Support(_RUNTIMES, "the QNN HTA back end has no such function")
NO_LAYER = Support(CPU, "the operator has no layer type on this runtime")
UNDECLARED = Support(CPU, "nothing says that this runtime has such a layer or function")


@dataclass(frozen=True)
class Limit:
    """A reason for which some targets refuse a layer; `refuses` takes the layer and its network."""

    targets: frozenset[LayerTarget]
    refuses: Callable[[Any, Network], bool]
    sentence: str

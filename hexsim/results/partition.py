"""How a network is cut into subnets: for a tensor engine, and where an engine refuses layers."""

from collections.abc import Mapping
from typing import Annotated, ClassVar

from hexsim.datasheets.quantity import Estimate
from hexsim.graph.ir import Network
from hexsim.quantization.evidence import Loss
from hexsim.results.costs import TimeError
from hexsim.results.document import Document
from hexsim.runtimes import Engine, Runtime, placed
from hexsim.texts.fields import Bytes, Macs, Microseconds, Part, Share, about
from hexsim.texts.figures import figure


class TimedSubnet(Part):
    """A run of layers on an engine."""

    runtime: Annotated[Runtime, about("the runtime that takes it")]
    engine: Annotated[Engine, about("the hardware that computes it")]
    ids: Annotated[str, about("ids of its first and last layer")]
    layers: Annotated[tuple[str, ...], about("its layers")]
    macs: Annotated[Macs, about("its multiply-accumulates")]
    us: Annotated[Microseconds, about("its duration without its edges")]


class Cut(Part):
    """The place where an engine hands over to the next."""

    after: Annotated[str, about("the layer before it")]
    after_id: Annotated[int, about("the id of that")]
    reason: Annotated[str, about("why it is there")]
    tensors: Annotated[tuple[str, ...], about("what crosses it")]
    bytes: Annotated[Bytes, about("the size of that")]
    conversion_us: Annotated[
        Microseconds, about("change of layout, or between floats and codes at the CPU")
    ]
    dispatch_us: Annotated[Microseconds, about("the hand-over")]


class RefusedLayer(Part):
    """A layer that the tensor engine refuses, or that an engine leaves to the CPU."""

    layer: Annotated[str, about("its name")]
    id: Annotated[int, about("its id")]
    type: Annotated[str, about("its type")]
    reason: Annotated[str, about("why it is refused")]
    cost_us: Annotated[Microseconds, about("time that it costs the inference")]


class CpuLayer(RefusedLayer):
    """A layer that runs on the CPU, because the engine of the runtime refuses it."""

    subnet: Annotated[int, about("the number of its subnet")]
    us: Annotated[Microseconds, about("its own time there")]
    to_cpu_us: Annotated[
        Microseconds, about("the crossing before it, 0 where it is not the first of its subnet")
    ]
    from_cpu_us: Annotated[
        Microseconds, about("the crossing after it, 0 where it is not the last of its subnet")
    ]
    instead: Annotated[str, about("a change that keeps it on the engine, if one is known")] = ""


class FastestCut(Part):
    """The fastest cut beside the automatic one, each as `compile_hta` reads it."""

    best: Annotated[str, about("the fastest sections; empty: none")]
    best_us: Annotated[Microseconds, about("an inference with them")]
    default: Annotated[str, about("the automatic sections")]
    default_us: Annotated[Microseconds, about("an inference with them")]
    hvx_us: Annotated[Microseconds, about("an inference without the tensor engine")]
    gain: Annotated[
        Estimate, about("the time of the automatic cut over that of the fastest, with its interval")
    ]
    sections: Annotated[
        tuple[range, ...], about("the fastest sections by indices of layers", stored=False)
    ] = ()


class Partition(Document):
    """One cut of a network."""

    WRITTEN_BY: ClassVar[str] = "hexsim partition"
    ROWS: ClassVar[str] = "pieces"

    network: Annotated[str, about("its name")]
    chip: Annotated[str, about("the chip")]
    stack: Annotated[str, about("the software")]
    rules: Annotated[str, about("which rules cut for the tensor engine")]
    pieces: Annotated[tuple[TimedSubnet, ...], about("the subnets, in their order")]
    cuts: Annotated[tuple[Cut, ...], about("the cuts between them, on aip")] = ()
    layer_share: Annotated[Share, about("layers on the tensor engine or processor")]
    mac_share: Annotated[Share, about("multiply-accumulates there")]
    total_us: Annotated[Microseconds, about("an inference with this cut")]
    hvx_us: Annotated[
        Microseconds | None, about("an inference without the tensor engine; null: there is none")
    ] = None
    refused: Annotated[
        tuple[RefusedLayer, ...],
        about("on aip: layers that the tensor engine refuses, the costliest first"),
    ] = ()
    on_cpu: Annotated[
        tuple[CpuLayer, ...], about("layers that run on the CPU, the costliest first")
    ] = ()
    search: Annotated[FastestCut | None, about("after a search: the fastest cut")] = None
    runtime: Annotated[Runtime, about("the runtime")] = "aip"
    precision: Annotated[str, about("bits, and where encodings come from, in words")] = ""
    software: Annotated[str, about("the stack with the changes made to it")] = ""
    sections: Annotated[str, about("on aip: where the sections come from")] = ""
    expected_errors: Annotated[
        Mapping[str, TimeError],
        about("how far times have been from measured ones, by runtime, where that is known"),
    ] = {}
    findings: Annotated[tuple[Loss, ...], about("what is lost for certain")] = ()
    graph: Annotated[Network | None, about("the network, to be drawn", stored=False)] = None

    @property
    def without_page(self) -> str:
        """Only what is drawn has a page."""
        return "" if self.graph is not None else "only a cut that was made here has a page"

    @property
    def title(self) -> str:
        """The number of subnets, and the time of an inference."""
        without = "" if self.hvx_us is None else f", without HTA {figure(self.hvx_us)} us"
        where = placed(self.network, self.runtime, self.chip, self.precision)
        return f"{where}: {figure(self.total_us)} us{without}; subnets: {len(self.pieces)}"

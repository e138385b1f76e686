"""A network on a runtime, and a benchmark: networks on the runtimes of chips.

An inference is what `profile` returns, and what a benchmark has for each network and runtime.
"""

from collections.abc import Callable, Iterable, Mapping
from math import inf
from typing import Annotated, Any, ClassVar

from hexsim.datasheets.measurements import FAULT, DeviceAnswer
from hexsim.errors import HexsimError
from hexsim.quantization.evidence import Loss
from hexsim.quantization.overrides import OverrideUse
from hexsim.results.accuracy import LEAST_DB, Accuracy, judged_db
from hexsim.results.costs import (
    AnchorError,
    CostModelShare,
    Draws,
    EnergyUse,
    Figures,
    Footprint,
    Interference,
    Interval,
    LayerCost,
    OverheadCost,
    TimeError,
)
from hexsim.results.document import Document
from hexsim.results.roofline import Roofline
from hexsim.runtimes import FileForm, Runtime, placed
from hexsim.texts.display import LayerTimes
from hexsim.texts.fields import Microseconds, Part, Share, about
from hexsim.texts.figures import figure
from hexsim.timing.results import Result, Timeline


class Inference(Document, LayerTimes[LayerCost]):
    """A network on a runtime."""

    WRITTEN_BY: ClassVar[str] = "hexsim bench or profile"
    ROWS: ClassVar[str] = "layers"

    network: Annotated[str, about("its name")]
    chip: Annotated[str, about("the chip")]
    stack: Annotated[str, about("the software")]
    ideal_cpu: Annotated[bool, about("whether CPU runtimes reach the speed of the cores")] = False
    vtcm_mb: Annotated[float | None, about("VTCM that a graph may use; null: all")] = None
    runtime: Annotated[Runtime, about("the runtime")]
    anchor: Annotated[str | None, about("what the times were calibrated with")] = None
    anchor_error: Annotated[AnchorError | None, about("how wrong it may be")] = None
    anchor_classes: Annotated[Any, about("factors of classes of layers")] = None
    expected_error: Annotated[
        TimeError | None, about("how far such times have been from measured ones; null: not known")
    ] = None
    as_simulated: Annotated[
        tuple[str, ...] | None, about("classes of layers without a factor, if others have one")
    ] = None
    precision: Annotated[str, about("bits, and where encodings come from, in words")] = ""
    given: Annotated[FileForm, about("the precision of the file, and who quantised it")] = "float"
    overrides: Annotated[OverrideUse | None, about("overrides of the file")] = None
    perf_profile: Annotated[str, about("the performance profile")]
    buffer: Annotated[str, about("the type of the user's buffers")]
    total_inference_us: Annotated[
        Microseconds, about("wall clock around the call", label="total inference", shown="ms")
    ]
    forward_propagate_us: Annotated[
        Microseconds, about("what the runtime reports", label="forward propagate", shown="ms")
    ]
    measured_ms: Annotated[Figures, about("published latencies")] = Figures()
    left_out_ms: Annotated[
        Figures, about("simulated with constants that were fitted without the rows of this chip")
    ] = Figures()
    measured_outcome: Annotated[DeviceAnswer | None, about("published answers")] = None
    uncertainty: Annotated[Interval | None, about("the interval of the times")] = None
    draws: Annotated[Draws | None, about("times with all constants drawn")] = None
    initialisation_total_us: Annotated[
        Microseconds,
        about("before the first inference", label="initialisation", shown="ms", row=True),
    ]
    initialisation_us: Annotated[Mapping[str, Microseconds], about("its parts")]
    coverage: Annotated[Mapping[str, CostModelShare], about("layers and MACs by cost model")]
    memory: Annotated[Footprint, about("its memory")]
    energy: Annotated[EnergyUse, about("its energy")]
    accuracy: Annotated[Accuracy | None, about("agreement with float")] = None
    findings: Annotated[tuple[Loss, ...], about("what is lost for certain")] = ()
    background: Annotated[Interference | None, about("beside other clients")] = None
    layers: Annotated[tuple[LayerCost, ...], about("every layer")]
    overheads: Annotated[tuple[OverheadCost, ...], about("every part that is no layer")] = ()
    source: Annotated[str, about("the file or built-in network, as named")] = ""
    builtin: Annotated[bool, about("whether it is a built-in network")] = False
    software: Annotated[str, about("the stack with the changes made to it")] = ""
    inputs: Annotated[tuple[str, ...], about("the inputs of the network")] = ()
    input_dims: Annotated[Mapping[str, tuple[int, ...]], about("their shapes, as given")] = {}
    calibrated_on: Annotated[str | None, about("the inputs it was quantised on here")] = None
    subnets: Annotated[int, about("its number of subnets")] = 1
    hta_choice: Annotated[str | None, about("why the tensor engine got its sections")] = None
    graph_note: Annotated[str | None, about("what initialisation does with prepared graphs")] = None
    roofline: Annotated[Roofline | None, about("layers under the roofs, where profiled")] = None
    snpe_rows: Annotated[
        Mapping[str, Microseconds], about("rows of snpe-diagview, nested as it nests them")
    ] = {}
    timing: Annotated[Result | None, about("the simulated workload", stored=False)] = None
    outputs: Annotated[Any, about("arrays by the names of outputs", stored=False)] = None

    def stored(self) -> Document:
        """Return a benchmark of this result alone."""
        return Benchmark(results=(self,))

    @classmethod
    def from_json(cls, text: str, where: str = "the text") -> "Inference":
        """Read the only result of a benchmark; HexsimError, with `where`, if it has others."""
        results = Benchmark.from_json(text, where).results
        if len(results) != 1:
            raise HexsimError(
                f"{where} has {len(results)} results, and one is wanted; read it as a Benchmark"
            )
        return results[0]

    @property
    def title(self) -> str:
        """Network, chip, runtime and time."""
        time = f"{figure(self.total_ms)} ms for an inference of {len(self.layers)} layers"
        return f"{placed(self.network, self.runtime, self.chip, self.precision)}: {time}"

    @property
    def total_ms(self) -> float:
        """Total inference time in milliseconds."""
        return self.total_inference_us / 1e3

    @property
    def timeline(self) -> Timeline | None:
        """All events by track; None if it was read from a file."""
        return None if self.timing is None else self.timing.timeline

    @property
    def interval_us(self) -> tuple[float, float] | None:
        """The ends of the interval of the total inference time, if it has one."""
        doubt = self.draws or self.uncertainty
        return doubt.total_inference_us if doubt else None

    @property
    def crashed(self) -> bool:
        """Whether the program of a published measurement crashed on the device."""
        return self.measured_outcome is not None and self.measured_outcome.outcome == FAULT

    @property
    def judged_db(self) -> float:
        """The SQNR by which outputs are judged; infinite where none were computed."""
        accuracy = self.accuracy
        return inf if accuracy is None else judged_db(accuracy.sqnr_db, accuracy.outputs)

    @property
    def rank(self) -> tuple[bool, float]:
        """The key by which the recommended of several results is the first, as simulated."""
        return self.crashed or self.judged_db < LEAST_DB, self.total_inference_us

    @property
    def overheads_us(self) -> dict[str, float]:
        """The time of the parts that are no layers, by name."""
        times: dict[str, float] = {}
        for part in self.overheads:
            times[part.name] = times.get(part.name, 0.0) + part.us
        return times


class Refusal(Part):
    """A network that a runtime of a chip refuses, with the reason as a sentence."""

    network: Annotated[str, about("its name")]
    source: Annotated[str, about("the file or built-in network, as named")]
    chip: Annotated[str, about("the chip")]
    runtime: Annotated[Runtime, about("the runtime")]
    reason: Annotated[str, about("why")]


class RuntimeOrder(Part):
    """Two runtimes of a network; the first is the faster one with the constants as stated."""

    network: Annotated[str, about("its name")]
    chip: Annotated[str, about("the chip")]
    first: Annotated[Runtime, about("the faster runtime")]
    second: Annotated[Runtime, about("the next one")]
    share: Annotated[Share, about("of the draws in which that holds")]
    draws: Annotated[int, about("how many draws")]
    contradicted: Annotated[bool, about("whether measured times have the other order")] = False


class Benchmark(Document):
    """What bench and profile found."""

    WRITTEN_BY: ClassVar[str] = "hexsim bench or profile"
    ROWS: ClassVar[str] = "results"

    results: Annotated[tuple[Inference, ...], about("every network on every runtime")]
    refused: Annotated[tuple[Refusal, ...], about("what a runtime does not take")] = ()
    orders: Annotated[tuple[RuntimeOrder, ...], about("how sure the order of runtimes is")] = ()

    @property
    def title(self) -> str:
        """How many networks on which chips."""
        networks = dict.fromkeys(result.network for result in self.results)
        chips = dict.fromkeys(result.chip for result in self.results)
        return f"{', '.join(networks)} on {', '.join(chips)}: {len(self.results)} results"


def place_names(results: Iterable[Inference | Refusal]) -> Callable[[Inference | Refusal], str]:
    """Return a function that names where a result belongs: its runtime.

    With its chip if `results` are of several chips.
    """
    several = len({result.chip for result in results}) > 1
    return lambda result: f"{result.runtime} of {result.chip}" if several else result.runtime

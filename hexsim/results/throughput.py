"""Several instances of networks at once: their latencies, and what limits them."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

from hexsim.datasheets.quantity import Estimate
from hexsim.q6_scheduler import PriorityHint
from hexsim.results.costs import AnchorError, TimeError
from hexsim.results.document import Document
from hexsim.runtimes import Runtime
from hexsim.texts.fields import Microseconds, Part, PerSecond, Share, about
from hexsim.texts.figures import figure
from hexsim.timing.results import Result

PERCENTILES: Mapping[str, float] = {"min": 0, "median": 50, "p90": 90, "p99": 99, "max": 100}
"""The figures of a distribution, by name."""


class Calls(Part):
    """The calls of a thread, or of all; latencies by percentile."""

    inferences: Annotated[int, about("how many")]
    elapsed_us: Annotated[Microseconds, about("from the first call to the last return")]
    inferences_per_second: Annotated[PerSecond, about("how many per second")]
    latency_us: Annotated[Mapping[str, Microseconds], about("latencies, by percentile")]


class Thread(Calls):
    """An instance of a network, and how it runs by itself."""

    network: Annotated[str, about("its name")]
    runtime: Annotated[Runtime, about("its runtime")]
    precision: Annotated[str, about("bits, and where encodings come from, in words")] = ""
    priority: Annotated[PriorityHint, about("low, normal or high")]
    latencies_us: Annotated[tuple[Microseconds, ...], about("the latency of each call")]
    alone: Annotated[Calls, about("one such thread by itself")]


class Repeats(Part):
    """The period after which calls repeat, so that later ones need not be simulated."""

    period_us: Annotated[Microseconds, about("the period")]
    calls: Annotated[int, about("calls in it")]
    simulated: Annotated[int, about("calls that are simulated")]


class Throughput(Document):
    """What throughput found."""

    WRITTEN_BY: ClassVar[str] = "hexsim throughput"
    ROWS: ClassVar[str] = "threads"

    vtcm_mb: Annotated[float | None, about("VTCM that a graph may use; null: all")] = None
    chip: Annotated[str, about("the chip")]
    stack: Annotated[str, about("the software")]
    graphs: Annotated[int, about("graphs that a tensor processor runs at a time")] = 1
    anchor: Annotated[str | None, about("what the times were calibrated with")] = None
    anchor_error: Annotated[AnchorError | None, about("how wrong it may be")] = None
    anchor_classes: Annotated[Any, about("factors of classes of layers")] = None
    total: Annotated[Calls, about("all calls of all threads")]
    gain: Annotated[float, about("work per second, relative to one instance by itself")]
    average_power_mw: Annotated[Estimate, about("over the simulated calls, without clients, in mW")]
    utilisation: Annotated[Mapping[str, Share], about("resources, by the share in use")]
    limited_by: Annotated[str | None, about("the resource in use for 9/10 of the time")] = None
    repeats: Annotated[Repeats | None, about("if later calls follow from a period")] = None
    threads: Annotated[tuple[Thread, ...], about("every instance")]
    hta_choices: Annotated[
        Mapping[str, str], about("why the tensor engine got its sections, by network")
    ] = {}
    software: Annotated[str, about("the stack with the changes made to it")] = ""
    perf_profile: Annotated[str, about("the performance profile")] = ""
    expected_errors: Annotated[
        Mapping[str, TimeError],
        about("how far times have been from measured ones, by runtime, where that is known"),
    ] = {}
    timing: Annotated[Result | None, about("the simulated calls", stored=False)] = None

    @property
    def title(self) -> str:
        """The number of threads, and what they reach together."""
        rate = figure(self.total.inferences_per_second)
        threads = f"{len(self.threads)} thread{'s' * (len(self.threads) > 1)}"
        return f"{threads} on {self.chip}: {rate} inferences per second"

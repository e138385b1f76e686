"""`snpe-throughput-net-run` runs several networks at once, each called repeatedly by a thread."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from hexsim.api.parameters import warn_of
from hexsim.cli._files import MODEL
from hexsim.cli._options import JsonOption
from hexsim.cli._say import log, say
from hexsim.cli._signature import grouped
from hexsim.cli._simulated import Hardware
from hexsim.errors import HexsimError
from hexsim.records import dataclass
from hexsim.results.throughput import Thread as Caller
from hexsim.results.throughput import Throughput
from hexsim.snpe import runtimes
from hexsim.snpe.buffers import Buffers
from hexsim.snpe.option import tools
from hexsim.timing.picoseconds import PS_PER_US

if TYPE_CHECKING:
    from hexsim.deployment import Deployment
    from hexsim.studies.throughput import ClosedLoop


@dataclass(frozen=True)
class Calls(Buffers):
    """How long the threads call, and with which buffers."""

    duration: float | None = None
    iterations: int | None = None

    def loop(self, deployments: Sequence[Deployment]) -> ClosedLoop:
        """Return the loop of all threads; HexsimError if it does not say when they stop."""
        from hexsim.studies.throughput import ClosedLoop

        if (self.duration is None) == (self.iterations is None):
            raise HexsimError("give --duration or --iterations; either says when the threads stop")
        kinds = {self.timed(deployment) for deployment in deployments}
        if len(kinds) > 1:
            raise HexsimError(
                "buffers of quantised values are for threads that all compute in their width; "
                "leave --userbuffer_... out, or time the threads apart"
            )
        if self.duration is None:
            return ClosedLoop(inferences=self.iterations or 0, buffer=kinds.pop())
        return ClosedLoop(duration_ms=1e3 * self.duration, buffer=kinds.pop())


@grouped
def throughput_net_run(
    *,
    container: Annotated[list[str], typer.Option("--container"), MODEL],
    calls: Calls,
    runtime: list[str] | None = None,
    perf_profile: list[str] | None = None,
    cpu_fallback: bool = False,
    hardware: Hardware,
    json: JsonOption = None,
) -> None:
    """Run one thread per container, and print how many inferences each does in a second."""
    from hexsim.deployment.at_load import is_coded
    from hexsim.deployment.findings import findings_of
    from hexsim.deployment.source_model import Preparation, SourceModel
    from hexsim.dlc.loading import load_container
    from hexsim.files.atomic_write import write_bytes
    from hexsim.reports.studies import repeats
    from hexsim.studies.throughput import Caller, throughput

    platform = hardware.platform()
    each = partial(runtimes.one_for_each, threads=len(container), what="times --container")
    orders = each("--use_... or --runtime_order", runtime or ["cpu"])
    profiles = each("--perf_profile", perf_profile or ["default"])
    deployments, precisions = [], []
    for source, order in zip(container, orders, strict=True):
        read = load_container(source)
        choice = runtimes.ordered(order, platform, quantized=is_coded(read.model, platform))
        preparation = Preparation(cpu_fallback=cpu_fallback or choice.cpu_fallback)
        loaded = SourceModel(source, read, platform, preparation)
        deployments.append(loaded.deployment(choice.runtime))
        precisions.append(loaded.precision(deployments[-1]))
    pairs = list(zip(deployments, profiles, strict=True))
    callers = [
        Caller(deployment.plan, perf_profile=profile, precision=precision)
        for (deployment, profile), precision in zip(pairs, precisions, strict=True)
    ]
    warn_of(*((pair[0].network.name, findings_of(*pair)) for pair in pairs))
    result = throughput(platform, callers, calls.loop(deployments))
    if json is not None:
        write_bytes(json, result.to_json().encode())
    threads = [_thread(*pair) for pair in pairs]
    for line in repeats(result):
        log("INFO", line)
    say(throughput_lines(result, threads))


def _thread(deployment: Deployment, profile: str) -> Thread:
    from hexsim.graph.batches import batch_size

    built = deployment.simulate(perf_profile=profile).init_ps
    name = runtimes.LONG[deployment.runtime]
    return Thread(name, built, batch_size(deployment.network))


@dataclass(frozen=True)
class Thread:
    """A thread: the name of its runtime, its time to build, and the items of a call."""

    runtime: str
    build_ps: int
    batch: int


def throughput_lines(throughput: Throughput, threads: Sequence[Thread]) -> str:
    """Return a line for each thread, and the total, which counts images as the threads do."""
    pairs = list(zip(throughput.threads, threads, strict=True))
    lines = [_line(number, instance, thread) for number, (instance, thread) in enumerate(pairs)]
    images = sum(_images(instance, thread) for instance, thread in pairs)
    rate = images * 1e6 / throughput.total.elapsed_us
    return "\n".join((*lines, f"Total throughput: {rate:.4f} infs/sec"))


def _line(number: int, calls: Caller, thread: Thread) -> str:
    images = _images(calls, thread)
    parts = (
        f"{images * 1e6 / calls.elapsed_us:.4f} infs/sec",
        f"Number of images processed: {images}",
        f"Build time: {_rounded(thread.build_ps / PS_PER_US)} microseconds",
        f"Elapsed time: {_rounded(calls.elapsed_us)} microseconds",
        f"Real time: {_rounded(sum(calls.latencies_us))} microseconds",
        f"Batch : {thread.batch}",
    )
    return f"[Thread {number} - {thread.runtime}] {' - '.join(parts)}"


def _images(calls: Caller, thread: Thread) -> int:
    return calls.inferences * thread.batch


def _rounded(us: float) -> int:
    return math.floor(us + 0.5)


TOOLS = tools({"snpe-throughput-net-run": throughput_net_run})

"""`snpe-parallel-run` shares the inputs of a list among runtimes that work at once (PSNPE).

The runtimes take the inputs in turn. How PSNPE distributes them is not published; if runtimes
compute differently, values depend on it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from hexsim.api.parameters import warn_of
from hexsim.cli._files import INPUT_LIST, MODEL, Writes
from hexsim.cli._inputs import remark_run
from hexsim.cli._say import remark, say
from hexsim.cli._signature import grouped
from hexsim.cli._simulated import Hardware
from hexsim.errors import HexsimError
from hexsim.records import dataclass
from hexsim.snpe import runtimes
from hexsim.snpe.option import Level, tools
from hexsim.snpe.tools.net_run import announce, write_log

if TYPE_CHECKING:
    from hexsim.deployment import Deployment
    from hexsim.deployment.platform import Platform
    from hexsim.execution.executors import ListExecutor, SubnetExecutor
    from hexsim.graph.ir import FloatArray
    from hexsim.results.throughput import Throughput


@dataclass(frozen=True)
class ParallelRuntimes(Hardware):
    """The runtimes that work at once, and their settings."""

    runtime: list[str] | None = None
    perf_profile: list[str] | None = None
    cpu_fallback: Literal["true", "false"] = "false"

    def choices(self, platform: Platform, *, quantized: bool) -> list[runtimes.RuntimeChoice]:
        """Return the runtime of each thread."""
        if not self.runtime:
            raise HexsimError("no thread has a runtime; give --use_... or --runtime_order for each")
        falls_back = self.cpu_fallback == "true"
        choices = [runtimes.ordered(order, platform, quantized=quantized) for order in self.runtime]
        return [
            runtimes.RuntimeChoice(choice.runtime, choice.cpu_fallback or falls_back)
            for choice in choices
        ]

    def profiles(self, threads: int) -> list[str]:
        """Return the performance profile of each thread."""
        levels = self.perf_profile or ["default"]
        return runtimes.one_for_each("--perf_profile", levels, threads, "runtimes")


class _InTurn:
    """Executors that take one set of inputs each, in turn."""

    def __init__(self, executors: Sequence[SubnetExecutor]) -> None:
        self._executors = executors

    def run_each(
        self, feeds: Iterable[Mapping[str, FloatArray]]
    ) -> Iterator[dict[str, FloatArray]]:
        """Yield the outputs for each of `feeds`, computed by the executors in turn."""
        for executor, feed in zip(cycle(self._executors), feeds, strict=False):
            yield executor.run(feed)


def _executor(deployments: Sequence[Deployment]) -> ListExecutor:
    """Return the executor of all inputs; if the runtimes compute alike, the first one does all."""
    first, *others = deployments
    if all(other.arithmetic == first.arithmetic for other in others):
        return first.executor()
    return _InTurn([deployment.executor() for deployment in deployments])


@grouped
def parallel_run(
    *,
    container: Annotated[str, typer.Argument(), MODEL],
    input_list: Annotated[Path, typer.Option("--input-list"), INPUT_LIST],
    output_dir: Annotated[Path, typer.Option("--output-dir"), Writes(folder=True)] = Path("output"),
    threads: ParallelRuntimes,
    profiling_level: Level = "off",
) -> None:
    """Run every input of a list on one of the runtimes."""
    from hexsim.deployment.at_load import is_coded
    from hexsim.deployment.findings import findings_of
    from hexsim.deployment.source_model import Preparation, SourceModel
    from hexsim.dlc.loading import load_container
    from hexsim.execution.net_run import run as run_all
    from hexsim.execution.net_run import wanted
    from hexsim.inputs.source import listed

    platform = threads.platform()
    read = load_container(container)
    choices = threads.choices(platform, quantized=is_coded(read.model, platform))
    profiles = threads.profiles(len(choices))
    source = listed(input_list, read.model.network)
    layers, tensors = source.output_layers, source.output_tensors
    names = wanted(read.model.network, layers, tensors, every=False, reported=remark)
    deployments: list[Deployment] = []
    findings = []
    for choice in choices:
        preparation = Preparation(cpu_fallback=choice.cpu_fallback)
        loaded = SourceModel(container, read, platform, preparation)
        deployment = loaded.deployment(choice.runtime).run_on(source.feeds)
        remark_run(deployment, source, read.overrides)
        losses = findings_of(deployment, profiles[len(deployments)], at_load=True)
        findings.append((loaded.model.name, losses))
        deployments.append(deployment.observing(names))
    warn_of(*findings)
    counts = [len(range(number, source.sets, len(choices))) for number in range(len(choices))]
    for number, (deployment, profile) in enumerate(zip(deployments, profiles, strict=True)):
        log = output_dir / f"SNPEDiag_{number}.log"
        write_log(log, deployment, profile, profiling_level, counts[number])
    used = [index for index, count in enumerate(counts) if count]
    throughput = _timed([deployments[i] for i in used], profiles, counts)
    say("PSNPE start executing...")
    executor = _executor(deployments)
    sized = [name for name in names if deployments[0].network.tensors[name].varies]
    run_all(executor, source, output_dir, names, announce, sized, say)
    words = " ".join(runtimes.LONG[choice.runtime] for choice in choices)
    build_times = [
        deployment.simulate(perf_profile=profile).init_ps
        for deployment, profile in zip(deployments, profiles, strict=True)
    ]
    say(f"runtimes: {words} - Mode :0- Number of images processed: {source.items}")
    say(f"Build time: {sum(build_times) / 1e12:.6f} seconds.")
    say(f"Total throughput: {source.items * 1e6 / throughput.total.elapsed_us:.4f} infs/sec")


def _timed(
    deployments: Sequence[Deployment], profiles: Sequence[str], counts: Sequence[int]
) -> Throughput:
    """Simulate all runtimes working at once, each on its share of the inputs."""
    from hexsim.studies.throughput import Caller, throughput

    callers = [
        Caller(deployment.plan, perf_profile=profile, inferences=count)
        for deployment, profile, count in zip(deployments, profiles, counts, strict=False)
    ]
    return throughput(deployments[0].platform, callers)


TOOLS = tools({"snpe-parallel-run": parallel_run})

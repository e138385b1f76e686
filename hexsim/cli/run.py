"""`hexsim run` writes the outputs of a network for a list of inputs, in the files of SNPE."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated

from hexsim.cli._files import FILE, Writes
from hexsim.cli._inputs import Inputs, print_losses, remark_run
from hexsim.cli._options import FallbackOption, ModelArgument, OverrideParamsOption, ThreadsOption
from hexsim.cli._output import JsonCsvTrace
from hexsim.cli._say import log, remark, say
from hexsim.cli._signature import grouped
from hexsim.cli._simulated import RuntimeOnChip, Shapes
from hexsim.errors import HexsimError, counting
from hexsim.records import dataclass

if TYPE_CHECKING:
    from hexsim.execution.executors import ListExecutor
    from hexsim.graph.ir import Network
    from hexsim.inputs.source import InputSource

EXAMPLES = {"run": ("hexsim run model.dlc --input-list list.txt --chip sd855 --runtime dsp",)}


@dataclass(frozen=True)
class Results:
    """The tensors to write, and the folder."""

    output: Annotated[Path, "Folder for Result_0, Result_1, ...", Writes(folder=True)] = Path(
        "output"
    )
    set_output_tensors: Annotated[str | None, "Tensors to write: a,b; default: the outputs."] = None
    debug: Annotated[bool, "Write the output of every layer (not on aip)."] = False

    def wanted(self, network: Network, source: InputSource) -> tuple[str, ...]:
        """Return the names of the tensors to write."""
        from hexsim.execution.net_run import wanted

        chosen = [name for name in (self.set_output_tensors or "").split(",") if name]
        tensors = (*source.output_tensors, *chosen)
        layers = source.output_layers
        return wanted(network, layers, tensors, every=self.debug, reported=remark)


@dataclass(frozen=True)
class Loading(Shapes):
    """Options to read the model, to deploy it, and to read its answers."""

    cpu_fallback: FallbackOption = True
    override_params: OverrideParamsOption = None
    labels: Annotated[
        Path | None, "Names of the classes, one per line: prints the top five of each input.", FILE
    ] = None
    threads: ThreadsOption = 0


@grouped
def run(
    *,
    model: ModelArgument,
    inputs: Inputs,
    runs_on: RuntimeOnChip,
    results: Results,
    loading: Loading,
    outputs: JsonCsvTrace,
) -> None:
    """Run every input, of a list, a folder or seeded ones, and write the outputs as raw floats."""
    started, platform = perf_counter(), runs_on.platform()

    from hexsim.accuracy.classes import Answering
    from hexsim.deployment.source_model import Preparation, SourceModel, runtime_on
    from hexsim.dlc.loading import load_container
    from hexsim.reports.answers import answers_text
    from hexsim.reports.text import number
    from hexsim.reports.trace import trace_json
    from hexsim.results.answers import Answers
    from hexsim.runtimes import placed
    from hexsim.texts.figures import figure

    runtime = runtime_on(platform, runs_on.runtime, model)
    if results.debug and runtime == "aip":
        raise HexsimError("--debug is not for aip, as on a device; leave it out")
    read = load_container(model, input_dims=loading.input_dims or {})
    given = SourceModel(model, read, platform, Preparation.of(loading.keywords()))
    network = read.model.network
    source = inputs.source(network)
    names = results.wanted(network, source)
    deployment = given.running(runtime, source.feeds, seeded=source.seeded)
    if deployment.graph_note is not None:
        log("INFO", deployment.graph_note)
    print_losses(deployment, at_load=True)
    answers_too = bool(loading.labels or outputs.json or outputs.csv)
    class_names = _class_names(loading.labels, network, source.batch) if answers_too else None
    scores = network.outputs[:1] if answers_too else ()
    observed = deployment.observing(tuple(dict.fromkeys((*names, *scores))))
    executor = observed.executor(loading.threads)
    say(placed(network.name, runtime, platform.chip.name, given.precision(deployment)))
    title = f"{network.name} on {platform.chip.name} {runtime}"
    timing = observed.simulate(recorded=outputs.trace is not None)
    outputs.write(trace=lambda: trace_json([(title, timing)]))
    remark_run(deployment, source, read.overrides)
    sized = [name for name in names if deployment.network.tensors[name].varies]
    answering = Answering(executor, source, network, class_names) if answers_too else None
    written = _run_all(answering or executor, source, results.output, names, sized)
    if answering is not None:
        answers = Answers(answers=tuple(answering.answers))
        outputs.write(json=answers.to_json, csv=answers.to_csv)
        say(answers_text(answers))
    say(
        f"wrote {number(written, 'result')} into {results.output}, "
        f"{figure(timing.total_us / 1e3)} ms for an inference as simulated; "
        f"took {perf_counter() - started:.1f} s here"
    )


def _run_all(
    executor: ListExecutor,
    source: InputSource,
    folder: Path,
    names: Sequence[str],
    sized: list[str],
) -> int:
    """Write tensors `names` of all results and show progress; return the number of results."""
    from hexsim.execution.net_run import run

    remarks: list[str] = []  # printed afterwards, since a bar takes what is printed beside it
    with counting("running", source.sets) as progress:
        done = count()
        written = run(
            *(executor, source, folder, names),
            progress=lambda files: progress(next(done)),
            sized=sized,
            reported=remarks.append,
        )
    for line in remarks:
        say(line)
    return written


def _class_names(labels: Path | None, network: Network, batch: int) -> tuple[str, ...] | None:
    """Return the names of the classes, if given; HexsimError if the network is no classifier."""
    from hexsim.accuracy.classes import count_classes, read_class_names

    count_classes(network, batch)
    return None if labels is None else read_class_names(labels, network, batch)

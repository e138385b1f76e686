"""Exact int8 inference beside onnxruntime's, in one process, taking turns.

python -m benchmarks.int8_against_onnxruntime [--networks alexnet …] [--weights tensor channel …]
    [--rounds 15] [--threads 1 2] [--models FOLDER] [--breakdown] [--avx2] [--block NAME]
    [--processes [--openvino PYTHON]]

A ratio is onnxruntime's time over ours within one round: above 1, ours is faster. Opponents are

- u8u8: unsigned weights, which onnxruntime multiplies exactly on every CPU;
- u8s8: signed weights, its default, whose AVX2 kernels saturate (a line says what this CPU does);
- float32: the network before quantisation.

Both sides get a network that a quantiser has quantised from the same float file and the same
inputs: ours by hexsim, theirs by `quantize_static` (QDQ). Both start from float inputs and end with
float outputs. One thread is measured in CPU time of that thread, several (ours too) in elapsed
time, which neighbours on the machine disturb. The trained networks of the folder HEXSIM_REAL_DATA
can be named by their own folders. `--models` keeps what is quantised for the next run.
`--breakdown` prints instead where our time goes, by kind of layer. `--avx2` holds both sides to
AVX2 without VNNI, whatever the CPU has (benchmarks/held_to_avx2.py). `--block` also writes the
rows between the marks of that name in docs/results/int8-kernels.md, over those of an earlier run.

`--processes` gives each engine a process of its own, stopped until its turn
(benchmarks/engine_process.py), so that no engine's threads disturb another's. Opponents are then
onnxruntime's default int8 and OpenVINO, which reads the same QDQ file. `--openvino` names an
interpreter that has it, if it is not this one. A turn is a series of inferences, whose median
counts; printed are quartiles of the turns.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import itertools
import logging
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import onnxruntime
from onnx import TensorProto, helper
from onnxruntime.quantization import (
    CalibrationDataReader,
    QuantFormat,
    QuantType,
    quant_pre_process,
    quantize_static,
)

import hexsim
from benchmarks import engine_process, held_to_avx2
from benchmarks.engine_process import EngineProcess
from benchmarks.pages import RESULTS, block, with_block
from hexsim import dlc, models
from hexsim.deployment import Deployment
from hexsim.deployment.platform import Platform
from hexsim.dlc import Metadata
from hexsim.errors import HexsimError
from hexsim.inputs.seeded import seeded_inputs
from hexsim.inputs.stored import stored_inputs
from hexsim.int8.dispatch import prepare
from hexsim.int8.machine_code.features import compiled_features
from hexsim.int8.step import Buffers, Workspace
from hexsim.lowering import LoweredCall, lower
from hexsim.lowering.products import LoweredConvolution
from hexsim.quantization.model import Model
from hexsim.quantization.options import QuantizationOptions

NETWORKS = ("alexnet", "googlenet", "mobilenet_v1", "mobilenet_v2", "squeezenet1_1", "resnet50")
WEIGHTS = {
    "tensor": (QuantizationOptions(symmetric_weights=True), "sd855"),
    "channel": (QuantizationOptions(axis_weights=True), "sd855"),
    "asymmetric": (QuantizationOptions(), "sd835"),
}
"""Our quantiser's mode, and a chip whose kernels take such weights as they are."""
OPPONENTS = ("u8u8", "u8s8", "float32")
INPUTS = 8
"""Calibration inputs: enough for encodings; what they are does not change the time."""

Run = Callable[[], object]


class _Reader(CalibrationDataReader):  # type: ignore[misc]
    def __init__(self, feeds: Sequence[Any]) -> None:
        self._feeds: Iterator[Any] = iter(feeds)

    def get_next(self) -> Any:
        return next(self._feeds, None)


def ours(network: str, weights: str, folder: Path, feeds: Sequence[Any]) -> Model:
    """Our quantised network, from `folder` if it is there."""
    path = folder / f"{network}_{weights}.dlc"
    if not path.exists():
        floats = hexsim.load(_float_file(network, folder))
        dlc.write(path, hexsim.quantize(floats, feeds, WEIGHTS[weights][0]), Metadata())
    model = hexsim.load(path)
    assert model.quantized
    return model


def theirs(
    network: str, kind: str, weights: str, threads: int, folder: Path, feeds: Sequence[Any]
) -> Run:
    """An onnxruntime session of `kind`, run on the first of `feeds`."""
    path = their_file(network, kind, weights, folder, feeds)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 4
    options.add_session_config_entry("session.force_spinning_stop", "1")
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    return lambda: session.run(None, feeds[0])


def their_file(network: str, kind: str, weights: str, folder: Path, feeds: Sequence[Any]) -> Path:
    """The network of `kind` as `quantize_static` makes it, from `folder` if it is there."""
    path = _float_file(network, folder)
    if kind != "float32":
        per_channel = kind == "u8s8" and weights == "channel"
        source, path = path, folder / f"{network}_{kind}{'_channel' if per_channel else ''}.onnx"
        if not path.exists():
            with contextlib.redirect_stdout(io.StringIO()):  # it prints how it calibrates
                quantize_static(
                    source,
                    path,
                    _Reader(feeds),
                    quant_format=QuantFormat.QDQ,
                    activation_type=QuantType.QUInt8,
                    weight_type=QuantType.QInt8 if kind == "u8s8" else QuantType.QUInt8,
                    per_channel=per_channel,
                )
    return path


def _float_file(network: str, folder: Path) -> Path:
    path = folder / f"{network}.onnx"
    if not path.exists():
        plain = folder / f"{network}_plain.onnx"
        if network in models.names():
            models.export(network, plain)
        else:
            plain = _trained()[network]
        quant_pre_process(plain, path, skip_symbolic_shape=True)
    return path


def _trained() -> dict[str, Path]:
    """Float files of other people's trained networks, by folder."""
    root = os.environ.get("HEXSIM_REAL_DATA")
    return {path.parent.name: path for path in Path(root).glob("*/*.onnx")} if root else {}


def shapes_of(network: str, folder: Path) -> dict[str, tuple[int, ...]]:
    """Input shapes in ONNX axis order."""
    loaded = hexsim.load(_float_file(network, folder)).network
    return {name: loaded.tensors[name].source_shape for name in loaded.inputs}


def on_dsp(model: Model, weights: str) -> Deployment:
    """The model on the DSP of the chip for that kind of weights."""
    return Deployment(model, Platform.load(WEIGHTS[weights][1]), "dsp")


def executor(model: Model, weights: str, threads: int, feed: Any) -> Run:
    """Our network ready to run on the first input."""
    run = on_dsp(model, weights).executor(threads).run
    inputs = stored_inputs(model.network, feed)
    return lambda: run(inputs)


def take_turns(runs: dict[str, Run], rounds: int, clock: Callable[[], float]) -> dict[str, Any]:
    """Seconds of every run in every round, after two that do not count."""
    seconds: dict[str, list[float]] = {name: [] for name in runs}
    for turn in range(-2, rounds):
        for name, run in runs.items():
            run()  # brings its weights back into the cache
            start = clock()
            run()
            if turn >= 0:
                seconds[name].append(clock() - start)
    return seconds


class Ratios(NamedTuple):
    """One line of the table; `seconds` of ours and of the opponents by kind, round by round.

    An opponent that `quantize_static` fails to make is missing.
    """

    network: str
    weights: str
    threads: int
    mine: list[float]
    seconds: dict[str, list[float]]

    def of(self, kind: str) -> tuple[float, float, float] | None:
        """Least, median and largest ratio."""
        if kind not in self.seconds:
            return None
        each = [second / own for second, own in zip(self.seconds[kind], self.mine, strict=True)]
        return min(each), statistics.median(each), max(each)

    def line(self) -> str:
        """As text."""
        cells = [
            "-".rjust(17) if quartiles is None else " ".join(f"{ratio:5.2f}" for ratio in quartiles)
            for quartiles in map(self.of, OPPONENTS)
        ]
        times = " ".join(
            f"{1e3 * statistics.median(seconds):7.2f}"
            for seconds in (self.mine, *self.seconds.values())
        )
        return (
            f"{self.network:<22} {self.weights:<11} {self.threads:>7}  {'   '.join(cells)}  {times}"
        )

    def markdown(self) -> str:
        """As a row of a Markdown table."""
        cells = [
            "-" if quartiles is None else "{:.2f} **{:.2f}** {:.2f}".format(*quartiles)
            for quartiles in map(self.of, OPPONENTS)
        ]
        ours = f"{1e3 * statistics.median(self.mine):.2f}"
        return f"| {' | '.join((self.network, self.weights, str(self.threads), *cells, ours))} |"


MARKDOWN_HEAD = """\
| network | weights | threads | exact int8 (u8u8) | default int8 (u8s8) | float32 | ours, ms |
| --- | --- | --- | --- | --- | --- | --- |"""


def ratios(network: str, weights: str, threads: int, rounds: int, folder: Path) -> Ratios:
    """Measure one line of the table."""
    feeds = list(seeded_inputs(shapes_of(network, folder), INPUTS))
    model = ours(network, weights, folder, feeds)
    runs = {"ours": executor(model, weights, threads, feeds[0])}
    for kind in OPPONENTS:
        with contextlib.suppress(ValueError):  # quantize_static fails on some biases per channel
            runs[kind] = theirs(network, kind, weights, threads, folder, feeds)
    seconds = take_turns(runs, rounds, time.thread_time if threads == 1 else time.perf_counter)
    return Ratios(network, weights, threads, seconds.pop("ours"), seconds)


class Series(NamedTuple):
    """Median seconds of each turn of each engine, "ours" among them."""

    network: str
    weights: str
    threads: int
    seconds: dict[str, list[float]]

    def line(self) -> str:
        """As text: quartiles of the ratios by opponent, of our milliseconds last."""
        network, *cells = self._cells()
        return f"{network:<22} {'   '.join(cells)}".replace("*", "")

    def markdown(self) -> str:
        """As a row of a Markdown table."""
        return f"| {' | '.join(self._cells())} |"

    def _cells(self) -> list[str]:
        mine = self.seconds["ours"]
        ratios = [
            "-" if engine not in self.seconds else _quartiles(np.divide(self.seconds[engine], mine))
            for engine in engine_process.ENGINES
        ]
        times = _quartiles(1e3 * np.asarray(mine))
        return [self.network, self.weights, str(self.threads), *ratios, times]


SERIES_HEAD = """\
| network | weights | threads | onnxruntime's default int8 | OpenVINO's int8 | ours, ms |
| --- | --- | --- | --- | --- | --- |"""
_TURN = 0.2
"""Seconds of a turn: some inferences of the largest network."""


def _quartiles(values: Any) -> str:
    return "{:.2f} **{:.2f}** {:.2f}".format(*np.quantile(values, [0.25, 0.5, 0.75]))


def series(
    network: str, weights: str, threads: int, rounds: int, folder: Path, openvino: str | None
) -> Series:
    """Measure one line of the table with a process for each engine."""
    feeds = list(seeded_inputs(shapes_of(network, folder), INPUTS))
    ours(network, weights, folder, feeds)
    model = their_file(network, "u8s8", weights, folder, feeds)
    inputs = folder / f"{network}.npz"
    np.savez(inputs, **feeds[0])
    begin = f"from {__spec__.name} import serve_ours; serve_ours()"
    with contextlib.ExitStack() as stack:
        commands = {"ours": [sys.executable, "-c", begin, network, weights, folder, inputs]}
        for engine in engine_process.ENGINES:
            python = openvino if engine == "openvino" else sys.executable
            if python:
                commands[engine] = [python, engine_process.__file__, engine, model, inputs]
        engines = {}
        for name, command in commands.items():
            try:
                engines[name] = EngineProcess([*command, str(threads)])
            except ChildProcessError as error:
                if name == "ours":
                    raise
                print(f"{name} does not run {network}: {error}", file=sys.stderr)
                continue
            stack.callback(engines[name].close)
        seconds: dict[str, list[float]] = {name: [] for name in engines}
        for _ in range(rounds):
            for name, runner in engines.items():
                times = runner.turn(_TURN)
                seconds[name].append(times.cpu if threads == 1 else times.elapsed)
    return Series(network, weights, threads, seconds)


def serve_ours() -> None:
    """What our process does; the arguments are those that `series` gives it."""
    network, weights, folder, inputs, threads = sys.argv[1:]
    with np.load(inputs) as feed:
        model = ours(network, weights, Path(folder), [])
        engine_process.serve(executor(model, weights, int(threads), dict(feed)))


def with_openvino(named: str | None) -> str | None:
    """The interpreter `named`, or this one, if it can import OpenVINO.

    If this one cannot it says so. Raises HexsimError if the one named cannot.
    """
    python = named or sys.executable
    try:
        tried = subprocess.run([python, "-c", "import openvino"], capture_output=True, check=False)
    except OSError as error:
        raise HexsimError(f"--openvino {python} cannot be run: {error.strerror}") from error
    if tried.returncode == 0:
        return python
    advice = "pip install openvino, or name an interpreter that has it by --openvino"
    if named:
        raise HexsimError(f"--openvino {named} cannot import openvino; {advice}")
    print(f"no OpenVINO: {advice}")
    return None


def breakdown(network: str, weights: str, rounds: int, folder: Path) -> str:
    """Our milliseconds by kind of layer: the median over `rounds` of each call, added up."""
    feeds = list(seeded_inputs(shapes_of(network, folder), INPUTS))
    deployment = on_dsp(ours(network, weights, folder, feeds), weights)
    spent: dict[str, float] = defaultdict(float)
    macs: dict[str, float] = defaultdict(float)
    rng = np.random.default_rng(0)
    for subnet in deployment.plan.subnets:
        if subnet.engine != "hvx":
            continue
        calls = lower(subnet, deployment.model, signed_kernels=deployment.signed_kernels)
        for call, planned in zip(calls, subnet.calls, strict=True):
            operands = [
                rng.integers(0, 256, x.shape, x.encoding.dtype) if x.codes is None else x.codes
                for x in call.inputs
            ]
            result = np.empty(call.output.shape, call.output.encoding.dtype)
            work = prepare(call).steps(Buffers(operands, result, Workspace()))
            whole = {"": lambda work=work: [step() for step in work]}
            times = take_turns(whole, rounds, time.thread_time)[""]
            spent[kind_of(call)] += statistics.median(times)
            macs[kind_of(call)] += planned.macs
    lines = [f"{network}, {weights} weights: {1e3 * sum(spent.values()):.2f} ms"]
    for kind, seconds in sorted(spent.items(), key=lambda item: -item[1]):
        lines.append(
            f"  {kind:<28} {1e3 * seconds:8.3f} ms {macs[kind] / seconds / 1e9:7.1f} GMAC/s"
        )
    return "\n".join(lines)


def kind_of(call: LoweredCall) -> str:
    """What a layer is for the kernels."""
    name = type(call).__name__.removeprefix("Bound")
    if not isinstance(call, LoweredConvolution):
        return name
    height, width = call.window.kernel
    step = call.window.strides[0]
    depthwise = call.groups > 1 and call.groups == call.inputs[0].shape[-1]
    return f"{'Depthwise' if depthwise else name} {height}x{width} step {step}"


def saturation() -> tuple[bool, str]:
    """Whether onnxruntime's u8 by s8 product saturates on this CPU, and what it is where pairs of
    products exceed int16.
    """
    depth = 512
    graph = helper.make_graph(
        [helper.make_node("MatMulInteger", ["x", "w"], ["y"])],
        "extremes",
        [
            helper.make_tensor_value_info("x", TensorProto.UINT8, [16, depth]),
            helper.make_tensor_value_info("w", TensorProto.INT8, [depth, 16]),
        ],
        [helper.make_tensor_value_info("y", TensorProto.INT32, [16, 16])],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)])
    model.ir_version = 10
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    codes = {"x": np.full((16, depth), 255, np.uint8), "w": np.full((depth, 16), 127, np.int8)}
    (answer,) = session.run(None, codes)
    right = 255 * 127 * depth
    saturates = bool((answer != right).any())
    verdict = "NOT exact: it saturates" if saturates else "exact"
    return saturates, f"onnxruntime's u8 x s8 on this CPU: {answer[0, 0]} of {right}, {verdict}"


def merged(old: str, table: Sequence[str]) -> str:
    """`table`, with those rows of the old one that it has not: a long table takes several runs."""
    head, new = table[0].splitlines(), table[1:]
    rows = {tuple(row.split("|")[1:4]): row for row in old.splitlines()[len(head) :]}
    rows |= {tuple(row.split("|")[1:4]): row for row in new}
    return "\n".join((*head, *rows.values()))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    known = [*models.names(), *sorted(_trained())]
    parser.add_argument("--networks", nargs="+", choices=known, default=list(NETWORKS))
    parser.add_argument("--weights", nargs="+", choices=WEIGHTS, default=list(WEIGHTS))
    parser.add_argument("--threads", nargs="+", type=int, default=[1, 2])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--models", type=Path)
    parser.add_argument("--breakdown", action="store_true")
    parser.add_argument("--avx2", action="store_true")
    parser.add_argument("--block")
    parser.add_argument("--processes", action="store_true")
    parser.add_argument("--openvino")
    parser.add_argument("--held", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args()


def main() -> None:
    given = _arguments()
    if given.avx2 and not given.held:
        others = [argument for argument in sys.argv[1:] if argument != "--avx2"]
        sys.exit(held_to_avx2.run_again("benchmarks.int8_against_onnxruntime", ["--held", *others]))
    logging.getLogger().setLevel(logging.ERROR)  # onnxruntime's advice on preprocessing
    vector = sorted(f[1:] for f in compiled_features() if f.startswith("+avx"))
    saturates, verdict = saturation()
    print(f"our kernels are compiled for {' '.join(vector) or 'no AVX'}\n{verdict}")
    if given.held and not saturates:
        sys.exit("onnxruntime is not held to AVX2: its copy still uses VNNI")
    if given.processes:
        try:
            openvino = with_openvino(given.openvino)
        except HexsimError as error:
            print(error, file=sys.stderr)
            sys.exit(2)
        print("opponents' time / ours, quartiles of the turns of separate processes")
    elif not given.breakdown:
        print(
            "onnxruntime's time / ours, min median max\n"
            f"{'network':<22} {'weights':<11} threads  {'u8u8':<17}   {'u8s8':<17}   "
            f"{'float32':<17}   ms: ours, u8u8, u8s8, float32"
        )
    table = [SERIES_HEAD if given.processes else MARKDOWN_HEAD]
    with contextlib.ExitStack() as stack:
        folder = given.models or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        folder.mkdir(parents=True, exist_ok=True)
        for weights, network in itertools.product(given.weights, given.networks):
            if given.breakdown:
                print(breakdown(network, weights, given.rounds, folder), flush=True)
                continue
            for threads in given.threads:
                if given.processes:
                    row = series(network, weights, threads, given.rounds, folder, openvino)
                else:
                    row = ratios(network, weights, threads, given.rounds, folder)
                print(row.line(), flush=True)
                table.append(row.markdown())
    if given.block:
        page = RESULTS / "int8-kernels.md"
        text = page.read_text("utf-8")
        rows = merged(block(text, given.block), table)
        page.write_text(with_block(text, given.block, rows), "utf-8")


if __name__ == "__main__":
    main()

"""ONNX's own tests of backends, judged: the tables of docs/results/conformity.md.

python -m benchmarks.conformity [--write] [--only PART_OF_A_NAME]

The data are those of the onnx package: node tests, simple graphs, graphs exported by PyTorch, and
light networks, whose weights are made by their graphs. On the CPU what a test says must come out,
within its own tolerance; where onnxruntime, run on the untouched file, differs from it as we do,
that is counted by itself. On the DSP every layer must be what floats make of the values it reads,
to `STEPS` steps of its output's encoding; QLinear operators and single nodes that dequantise must
give the very integers; so must single nodes that quantise, but for values at a tie or less than
`BEYOND_TIE` steps above one, which Hexagon NN's quantiser gives the lower code.
"""

from __future__ import annotations

import argparse
import re
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import onnx
import onnxruntime
from onnx.backend.test.loader import load_model_tests
from onnx.backend.test.runner import Runner

from benchmarks.pages import RESULTS, with_block
from hexsim.accuracy.layer_errors import PairedRun
from hexsim.deployment import Deployment
from hexsim.errors import HexsimError
from hexsim.inputs.stored import stored_inputs
from hexsim.layers import Opaque
from hexsim.onnx_backend import HexsimBackend, Prepared
from hexsim.onnx_io.float_engine import FloatEngine

PAGE = RESULTS / "conformity.md"
KINDS = ("node", "simple", "pytorch-converted", "pytorch-operator", "real")
STEPS = 2.0
"""Of an output's encoding, by which a layer on the DSP may differ from floats."""
EXACT = ("QLinearConv", "QLinearMatMul", "DequantizeLinear", "QuantizeLinear")
"""Operators whose results must be the very ones on the DSP too."""
BEYOND_TIE = 0.05
"""Steps above a tie up to which Hexagon NN's quantiser gives the lower code."""
RANDOM = ("test_training_dropout",)
"""Tests of numbers drawn at random, which no two programs draw alike."""

Effect = Literal["passed", "opaque", "as onnxruntime", "refused", "failed"]
EFFECTS: tuple[Effect, ...] = ("passed", "opaque", "as onnxruntime", "refused", "failed")


@dataclass(frozen=True)
class Case:
    """One test of ONNX's: a model, and inputs with the outputs that they must give."""

    name: str
    operator: str
    model: onnx.ModelProto
    data: tuple[tuple[list[Any], list[Any]], ...]
    rtol: float
    atol: float


@dataclass(frozen=True)
class Outcome:
    """What became of a test on a device, and why, unless it passed."""

    case: str
    operator: str
    device: str
    effect: Effect
    reason: str = ""


def cases(only: str = "", kinds: Sequence[str] = KINDS) -> Iterator[Case]:
    """All tests of the onnx package that it holds the data of, and `only` in their names."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its generators divide by zero on purpose
        tests = [(kind, test) for kind in kinds for test in load_model_tests(kind=kind)]
    operators = {t.name: t.model.graph.node[0].op_type for kind, t in tests if kind == "node"}
    for kind, test in tests:
        if only in test.name:
            about = re.sub(r"_expanded(_ver\d+)?$", "", test.name)
            operator = operators.get(about, kind) if kind == "node" else f"({kind})"
            model, data = (test.model, test.data_sets) if kind == "node" else _stored(test)
            arrays = [([_array(x) for x in inputs], list(map(_array, o))) for inputs, o in data]
            yield Case(test.name, operator, model, tuple(arrays), test.rtol, test.atol)


def _stored(test: Any) -> tuple[onnx.ModelProto, list[tuple[list[Any], list[Any]]]]:
    """Model and data of a test in files; those of light networks get ONNX's dummy input."""
    if test.model_dir is not None:
        folder = Path(test.model_dir)
        model = onnx.load(folder / "model.onnx")
        sets = sorted(folder.glob("test_data_set_*"))
        return model, [(_read(folder, "input"), _read(folder, "output")) for folder in sets]
    path = Path(onnx.__file__).parents[1] / test.url
    model = onnx.load(path)
    constants = {constant.name for constant in model.graph.initializer}
    free = [value for value in model.graph.input if value.name not in constants]
    inputs = [Runner.generate_dummy_data(value, name=test.model_name) for value in free]
    return model, [(inputs, [_tensor(path.with_name(f"{path.stem}_output_0.pb"))])]


def _read(folder: Path, what: str) -> list[Any]:
    count = len(list(folder.glob(f"{what}_*.pb")))
    return [_tensor(folder / f"{what}_{number}.pb") for number in range(count)]


def _tensor(path: Path) -> Any:
    return onnx.TensorProto.FromString(path.read_bytes())


def _array(value: Any) -> Any:
    if not isinstance(value, onnx.TensorProto):
        return value
    return onnx.numpy_helper.to_array(value) if value.data_type else None


def judge(case: Case, device: str) -> Outcome:
    """Run a test on a device, "CPU" or "DSP"."""
    if case.name.startswith(RANDOM):
        return Outcome(case.name, case.operator, device, "refused", "its result is random")
    try:
        prepared = HexsimBackend.prepare(case.model, device)
        look = _on_cpu if device == "CPU" else _on_dsp
        effects = [look(case, prepared, inputs, outputs) for inputs, outputs in case.data]
    except HexsimError as error:
        return Outcome(case.name, case.operator, device, "refused", short(str(error)))
    except Exception as error:  # nothing else may be raised, so whatever is, is a failure
        reason = f"{type(error).__name__}: {error}"
        return Outcome(case.name, case.operator, device, "failed", reason)
    effect, reason = max(effects, key=lambda pair: EFFECTS.index(pair[0]))
    return Outcome(case.name, case.operator, device, effect, reason)


def _on_cpu(
    case: Case, prepared: Prepared, inputs: list[Any], outputs: list[Any]
) -> tuple[Effect, str]:
    opaque = any(isinstance(layer, Opaque) for layer in prepared.deployment(inputs).network.layers)
    got = prepared.run(inputs)
    difference = _difference(case, got, outputs)
    if not difference:
        return ("opaque", "") if opaque else ("passed", "")
    judge_of_floats = _by_onnxruntime(case.model, inputs)
    if judge_of_floats is not None and not _difference(case, got, judge_of_floats):
        return "as onnxruntime", difference
    return "failed", difference


def _on_dsp(
    case: Case, prepared: Prepared, inputs: list[Any], outputs: list[Any]
) -> tuple[Effect, str]:
    if case.operator in EXACT:
        got = prepared.run(inputs)
        if case.operator == "QuantizeLinear":
            outputs = [_with_lower_ties(outputs[0], *inputs)]
        same = all(map(np.array_equal, got, outputs))
        return ("passed", "") if same else ("failed", "integers differ")
    worst, layer = furthest(prepared.deployment(inputs), _named(case, inputs))
    if worst <= STEPS:
        return "passed", ""
    return "failed", f"layer '{layer}' is {worst:.2f} steps from floats"


def _with_lower_ties(codes: Any, values: Any, step: Any, zero_point: Any = 0) -> Any:
    """ONNX's codes of floats as Hexagon NN has them; they differ where ONNX took the upper one."""
    place = np.asarray(values, np.float64) / step
    above_tie = place - np.floor(place) - 0.5
    upper = (
        (above_tie >= 0) & (above_tie < BEYOND_TIE) & (codes == np.floor(place) + 1 + zero_point)
    )
    return np.where(upper, codes - 1, codes).astype(codes.dtype)


def _named(case: Case, inputs: list[Any]) -> dict[str, Any]:
    constants = {array.name for array in case.model.graph.initializer}
    names = [v.name for v in case.model.graph.input if v.name not in constants]
    return dict(zip(names, inputs, strict=False))


def furthest(deployment: Deployment, feeds: dict[str, Any]) -> tuple[float, str]:
    """How many steps a layer on the DSP is from floats on what it read, at most; and which."""
    network, model = deployment.network, deployment.loaded
    paired = PairedRun(deployment)
    _, values = paired.run(
        stored_inputs(network, {name: np.asarray(feeds[name]) for name in network.inputs})
    )
    worst, where = 0.0, ""
    for layer in network.layers:
        coded = [name for name in layer.outputs if name in paired.encodings]
        reads = [name for name in dict.fromkeys(layer.inputs) if name in network.tensors]
        if not coded:
            continue
        alone = FloatEngine(model.as_stored.subnetwork((layer,), reads, layer.outputs))
        floats = alone.run({name: values[name] for name in reads})
        for name in coded:
            encoding = paired.encodings[name]
            held = np.clip(floats[name], encoding.min, encoding.max)
            far = float(np.abs(held - values[name]).max(initial=0)) / encoding.delta
            if not far <= worst:
                worst, where = far, layer.name
    return worst, where


def _difference(case: Case, got: Sequence[Any], expected: Sequence[Any]) -> str:
    """Why outputs are not those expected, in one line; nothing if they are."""
    try:
        Runner.assert_similar_outputs(expected, got, case.rtol, case.atol)
    except (AssertionError, TypeError, AttributeError) as error:
        return " ".join(str(error).split())[:200]
    return ""


def _by_onnxruntime(model: onnx.ModelProto, inputs: list[Any]) -> list[Any] | None:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    try:
        session = onnxruntime.InferenceSession(
            model.SerializeToString(), options, providers=["CPUExecutionProvider"]
        )
        names = [value.name for value in session.get_inputs()]
        return list(session.run(None, dict(zip(names, inputs, strict=False))))
    except Exception:  # onnxruntime has many, and no common base
        return None


_KINDS_OF_REFUSAL = (
    ("NaN or infinite", "an input holds NaN or infinity"),
    (r"has dtype|numeric tensors only|Numpy type", "an element type that is no number to us"),
    (r"no tensor but|is a sequence|is a optional", "a sequence or an optional"),
    (r"shape depends on values|allowzero", "a shape that depends on values"),
    (r"symbolic shape|the model expects", "a size that is not given"),
    (r"does not depend on any input|has no input", "nothing depends on an input"),
    (r"opset before|uses opset", "an opset that onnx cannot convert"),
    (r"onnxruntime cannot run", "onnxruntime lacks it"),
    (r"not float32", "tensors that are not float32"),
    (r"no layer type", "an operator without a layer"),
)


def short(error: str) -> str:
    """The kind of a refusal; a rule of a runtime is its own sentence."""
    for pattern, kind in _KINDS_OF_REFUSAL:
        if re.search(pattern, error):
            return kind
    stated = re.search(r"cannot run on \w+: (.*)", error)
    return stated.group(1) if stated else re.sub(r"'[^']*'", "...", error)


def tables(outcomes: Iterable[Outcome]) -> dict[str, str]:
    """The blocks of the page, by the names of their marks."""
    listed = list(outcomes)
    return {"total": _totals(listed), "operators": _operators(listed), "reasons": _reasons(listed)}


def _totals(outcomes: list[Outcome]) -> str:
    rows = [f"| device | {' | '.join(EFFECTS)} |", "|---" * (len(EFFECTS) + 1) + "|"]
    for device in ("CPU", "DSP"):
        counted = Counter(outcome.effect for outcome in outcomes if outcome.device == device)
        rows.append(f"| {device} | {' | '.join(str(counted[e]) for e in EFFECTS)} |")
    versions = f"onnx {onnx.__version__}, onnxruntime {onnxruntime.__version__}"
    return "\n".join([f"With {versions}:", "", *rows])


def _operators(outcomes: list[Outcome]) -> str:
    rows = [
        "| operator | CPU: passed | opaque | as onnxruntime | refused | DSP: passed | refused |",
        "|---|---|---|---|---|---|---|",
    ]
    letters = _letters(outcomes)
    for operator in sorted({outcome.operator for outcome in outcomes}, key=str.lower):
        cells = []
        for device, effects in (("CPU", EFFECTS[:4]), ("DSP", ("passed", "refused"))):
            here = [o for o in outcomes if (o.operator, o.device) == (operator, device)]
            for effect in effects:
                some = [outcome for outcome in here if outcome.effect == effect]
                why = "" if effect != "refused" else _why(some, letters)
                cells.append(f"{len(some) or ''}{why}")
        rows.append(f"| {operator} | {' | '.join(cells)} |")
    return "\n".join(rows)


def _why(refused: list[Outcome], letters: dict[str, str]) -> str:
    marks = sorted({letters[outcome.reason] for outcome in refused}, key=lambda m: (len(m), m))
    return f" {' '.join(marks)}" if marks else ""


def _letters(outcomes: list[Outcome]) -> dict[str, str]:
    """A short mark for each reason of a refusal, the most frequent first."""
    counted = Counter(outcome.reason for outcome in outcomes if outcome.effect == "refused")
    ordered = sorted(counted, key=lambda reason: (-counted[reason], reason))
    return {reason: f"r{number}" for number, reason in enumerate(ordered, 1)}


def _reasons(outcomes: list[Outcome]) -> str:
    rows = ["| mark | CPU | DSP | refused because of |", "|---|---|---|---|"]
    for reason, mark in _letters(outcomes).items():
        counts = Counter(o.device for o in outcomes if (o.effect, o.reason) == ("refused", reason))
        rows.append(f"| {mark} | {counts['CPU'] or ''} | {counts['DSP'] or ''} | {reason} |")
    return "\n".join(rows)


def main() -> None:
    """Print the tables, or write them into the page; failures are printed either way."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--only", default="")
    given = parser.parse_args()
    outcomes = [judge(case, device) for case in cases(given.only) for device in ("CPU", "DSP")]
    for outcome in outcomes:
        if outcome.effect in ("failed", "as onnxruntime"):
            place = f"{outcome.device}: {outcome.case} ({outcome.operator})"
            print(f"{outcome.effect} on {place}: {outcome.reason}")
    text = PAGE.read_text(encoding="utf-8") if given.write else ""
    for name, block in tables(outcomes).items():
        if given.write:
            text = with_block(text, name, block)
        else:
            print(f"\n{block}")
    if given.write:
        PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

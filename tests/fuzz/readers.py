"""Every kind of file that a command reads: good ones, how they are damaged, and who reads them.

A case is told by its number alone: it takes a reader, one of its files and one of its lines, and
damages the file in a copy of the workspace.
"""

from __future__ import annotations

import contextlib
import random
import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import typer

from hexsim.cli.app import loaded
from hexsim.errors import HexsimError
from hexsim.studies.sweep.space import read_space
from tests.deployment.phone_profile.files import FILES as PROFILES
from tests.fuzz import binaries, containers, onnx_mutations, onnx_nodes, texts, toml_texts, values
from tests.fuzz.containers import opened, sealed
from tests.fuzz.onnx_seeds import seeds

Damage = Callable[[random.Random, Path], None]
"""Changes a file in its place."""


@dataclass(frozen=True)
class Reader:
    """Files of one kind in the workspace, what happens to them, and lines that read them.

    In a line {f} stands for the file. A line with && is several, of which each has to succeed
    before the next.
    """

    name: str
    files: Sequence[str]
    damage: Damage
    lines: Sequence[str]
    weight: int = 1


@dataclass(frozen=True)
class Case:
    """A line that reads a damaged file."""

    number: int
    reader: Reader
    file: str
    lines: Sequence[str]

    def damage(self, folder: Path) -> None:
        """Damage the file in a workspace."""
        self.reader.damage(random.Random(self.number), folder / self.file)


def case(number: int, name: str = "") -> Case:
    """The case of a number, of any reader or of the one called `name`."""
    rng = random.Random(-1 - number)
    readers = [reader for reader in READERS if name in ("", reader.name)]
    (reader,) = rng.choices(readers, [reader.weight for reader in readers])
    file = rng.choice(reader.files)
    lines = rng.choice(lines_of(reader, file))
    if reader is OPTIONS:
        lines = [" ".join((line, *_options(rng, line))) for line in lines]
    return Case(number, reader, file, lines)


def _options(rng: random.Random, line: str) -> Iterator[str]:
    """One or two options of the command of a line, with numbers or words that may not fit."""
    command: Any = typer.main.get_command(loaded(line.split()[0]))
    names = {option: (*option.opts, *option.secondary_opts)[0] for option in command.params}
    known = [option for option, name in names.items() if name.startswith("--")]
    harmless = [option for option in known if names[option] not in _STARTING]
    for option in rng.sample(harmless, rng.choice((1, 1, 2))):
        yield names[option]
        if not option.is_bool_flag:
            number = rng.choice((*map(str, values.WHOLE), *values.REALS))
            yield shlex.quote(rng.choice((number, number, rng.choice(values.WORDS))))


def lines_of(reader: Reader, file: str) -> Sequence[Sequence[str]]:
    """The lines that read a file of a reader: those of all of its files, and its own."""
    own = [line.partition("|")[2] for line in reader.lines if line.startswith(f"{file}|")]
    lines = own + [line for line in reader.lines if "|" not in line]
    return [line.format(f=file).split(" && ") for line in lines]


def _by(*changes: values.Change) -> Damage:
    """One of the changes that changes something, or of bytes in one of seven cases."""

    def damage(rng: random.Random, path: Path) -> None:
        good = damaged = path.read_bytes()
        for _ in range(20):
            change = texts.mutated if rng.random() < 1 / 7 else rng.choice(changes)
            damaged = change(rng, good)
            if damaged != good:
                break
        path.write_bytes(damaged)

    return damage


def _toml(rng: random.Random, data: bytes) -> bytes:
    """Values, keys and headers of TOML that are valid, and not what is expected."""
    return toml_texts.mutated(rng, data.decode()).encode("utf-8", "surrogatepass")


def _space(rng: random.Random, path: Path) -> None:
    """A damaged space that is refused, or of few points."""
    good = path.read_bytes()
    while True:
        path.write_bytes(good)
        _TOML(rng, path)
        with contextlib.suppress(HexsimError):
            if read_space(path).count > _MOST_POINTS:
                continue
        return


def _onnx(rng: random.Random, path: Path) -> None:
    path.write_bytes(onnx_mutations.mutated(rng, path.read_bytes()))


def _any_onnx(rng: random.Random, path: Path) -> None:
    """A damaged layer of any type, or a node whose operands contradict it."""
    if rng.random() < 0.3:
        path.write_bytes(onnx_nodes.model(rng.randrange(1 << 30)).SerializeToString())
    else:
        path.write_bytes(onnx_mutations.mutated(rng, rng.choice(seeds())))


def _any_dlc(rng: random.Random, path: Path) -> None:
    """A file of any layer type, in floats or in codes as this one, forged and sealed again."""
    files = [
        parts for name, parts in containers.good() if name.endswith("float") == (path.stem == "m")
    ]
    sealed(containers.mutated(rng, rng.choice(files)), path)


def _sealed(rng: random.Random, path: Path) -> None:
    """What this file says, forged and sealed again."""
    sealed(containers.mutated(rng, opened(path)), path)


def _columns(rng: random.Random, path: Path) -> None:
    """Columns of Parquet, or its bytes."""
    change = texts.mutated if rng.random() < 1 / 7 else values.columns
    path.write_bytes(change(rng, path.read_bytes()))


def _floats(rng: random.Random, path: Path) -> None:
    """Extreme floats in the places of some, or of all; at times too few bytes."""
    made = np.frombuffer(path.read_bytes(), "<f4").copy()
    some = slice(None) if rng.random() < 0.4 else slice(0, rng.randrange(1, len(made) + 1))
    with np.errstate(over="ignore"):
        made[some] = np.float32(float(rng.choice(values.REALS)))
    whole = made.tobytes()
    path.write_bytes(whole[: rng.randrange(len(whole))] if rng.random() < 0.05 else whole)


_NUMBERS = _by(values.numbers, values.numbers, values.line_of_numbers, values.words)
_JSON = _by(values.numbers, values.numbers, values.tree, values.tree, values.words)
_TOML = _by(values.numbers, values.line_of_numbers, values.line_of_numbers, _toml)

_ANY = (
    *("info {f}", "info {f} --json o.json --csv o.csv", "info {f} --chip sd855"),
    *(
        "overview --chip sd835 {f}",
        "profile --chip sd835 {f} --quantize --json o.json --csv o.csv --trace t.json",
    ),
    *("profile {f} --chip sd8gen2 --runtime htp_fp16", "profile {f} --chip sd855 --runtime cpu"),
    *(
        "bench --chip sd835 {f} --json o.json --csv o.csv",
        "bench {f} --timing-only --chip sd855,sd8gen2",
    ),
    *(
        "run --chip sd835 {f} -o out",
        "run --chip sd835 {f} --runtime cpu -o out --json o.json",
        "view {f} -o o.html",
    ),
    *("validate --chip sd835 {f} --json o.json --csv o.csv", "validate --chip sd835 {f} --explain"),
    *(
        "validate {f} --chip sd8gen2 --runtime htp",
        "info {f} --chip sd855 --memory dsp",
        "diff q.dlc {f}",
    ),
    *(
        "partition --chip sd855 {f} --json o.json --graph o.svg",
        "profile --chip sd835 {f} --roofline",
    ),
    *(
        "throughput --chip sd835 {f} --quantize --inferences 2",
        "always-on {f} --quantize --every 100 --chip sd855",
    ),
    *("diff {f} m.dlc --csv o.csv", "decide {f} --files --json o.json"),
    *(
        "overview {f} --chip sd855 --html o.html",
        "profile --chip sd835 {f} --quantize --uncertainty",
    ),
)
_FLOAT = (
    *("quantize {f} --seeded-inputs -o o.dlc && info o.dlc --json o.json",),
    *("quantize {f} --seeded-inputs -o o.dlc --enable-hta --chip sd855",),
    "quantize {f} --seeded-inputs -o o.dlc --act-bitwidth 16 && "
    "run o.dlc --chip sd835 --runtime fxp_cpu",
    *("decide {f} --chips sd855 --json o.json",),
)
_CONVERTERS = (
    "info {f} --imports",
    *("convert {f} -o o.dlc && run o.dlc -o out", "snpe-onnx-to-dlc -i {f} -o o.dlc"),
    *("qairt-converter -i {f} -o o.dlc", "qnn-onnx-converter -i {f} -o o.dlc"),
)
_DLC = (
    *("snpe-dlc-info -i {f} -s o.csv", "qairt-dlc-info -i {f}", "snpe-dlc-viewer -i {f} -s o.html"),
    *("snpe-dlc-diff -i1 {f} -i2 m.dlc -s o.csv", "snpe-dlc-diff -i1 q.dlc -i2 {f}"),
    *("snpe-net-run --container {f} --input_list list.txt --use_dsp",),
    *("snpe-net-run --container {f} --input_list list.txt --use_native_input_files",),
    *("snpe-parallel-run --container {f} --input_list list.txt --use_cpu --use_dsp",),
    *("snpe-throughput-net-run --container {f} --duration 1 --use_dsp --json o.json",),
    *("snpe-dlc-graph-prepare --input_dlc {f} --output_dlc o.dlc --chip sd8gen2",),
    *("qnn-context-binary-generator --dlc_path {f} --binary_file c --chip sd8gen2 --backend x",),
    *(
        f"m.dlc|{line}"
        for line in (
            *_FLOAT,
            "snpe-dlc-quantize --input_dlc {f} --input_list list.txt --output_dlc o.dlc",
            "snpe-dlc-quant --input_dlc {f} --input_list list.txt --output_dlc o.dlc",
            "qairt-quantizer -i {f} -l list.txt -o o.dlc",
        )
    ),
    "q.dlc|run {f} --chip sd8gen2 --runtime htp -o out --debug",
    "q.dlc|profile {f} --chip sd855 --runtime aip",
)
_ON_HTP = "--backend libQnnHtp.so --chip sd8gen2"
_SECTIONS = (
    *(
        "info {f}",
        "run --chip sd835 {f} -o out",
        "profile {f} --chip sd855 --quantize --runtime aip",
    ),
    *(
        "validate --chip sd835 {f}",
        "partition --chip sd855 {f}",
        "view {f} -o o.html",
        "snpe-dlc-info -i {f}",
    ),
    *(
        f"with_overrides.dlc|{line}"
        for line in (
            "quantize {f} --seeded-inputs -o o.dlc --override-params && run o.dlc -o out",
            "bench --chip sd835 {f} --timing-only --quantize --override-params",
            "snpe-dlc-quant --input_dlc {f} --input_list x.txt --override_params",
        )
    ),
    *(
        f"ctx.bin|qnn-net-run --retrieve_context {{f}} --input_list list.txt {more}"
        for more in (_ON_HTP, "--backend libQnnCpu.so")
    ),
)
_ON_CHIP = (
    *("profile q.dlc --chip {f} --json o.json", "bench q.dlc --chip {f} --timing-only"),
    *("decide m.dlc --chips {f}", "partition q.dlc --chip {f}", "overview m.dlc --chip {f}"),
    *("profile q.dlc --chip {f} --runtime aip", "throughput q.dlc --chip {f} --inferences 3"),
    *("always-on q.dlc --chip {f} --every 50", "profile q.dlc --chip {f} --roofline"),
    *("kernel conv --shape 16x16x32:32:3x3 --chip {f}", "profile m.dlc --chip {f} --runtime gpu"),
    *("profile m.dlc --chip {f} --runtime cpu", "chips show {f}", "info m.dlc --chip {f}"),
    *("snpe-net-run --container q.dlc --input_list list.txt --use_dsp --chip {f}",),
    *("profile q.dlc --chip {f} --background camera --uncertainty",),
    *("overview q.dlc --chip {f} --html o.html", "info m.dlc --chip {f} --memory dsp"),
)
_ON_HTP_CHIP = (
    *("profile q.dlc --chip {f} --runtime htp --json o.json", "llm config.json --chip {f}"),
    *("profile m.dlc --chip {f} --runtime htp_fp16 --uncertainty", "info m.dlc --chip {f}"),
    *("bench q.dlc --chip {f} --timing-only", "overview m.dlc --chip {f}"),
    *("profile phone.onnx --chip {f} --runtime htp_fp16 --anchor m.dlc@htp_fp16=2",),
    *("throughput q.dlc --chip {f} --runtime htp --inferences 3", "decide m.dlc --chips {f}"),
)
_ON_STACK = (
    *("profile q.dlc --chip sd855 --stack {f} --json o.json", "stacks show {f}"),
    *(
        "bench q.dlc --chip sd855 --stack {f} --timing-only",
        "overview --chip sd835 m.dlc --stack {f}",
    ),
    *(
        "throughput --chip sd835 q.dlc --stack {f} --inferences 3",
        "partition --chip sd855 q.dlc --stack {f}",
    ),
    *(
        "quantize m.dlc --seeded-inputs --stack {f} -o o.dlc",
        "run --chip sd835 q.dlc --stack {f} -o out",
    ),
    *("profile q.dlc --runtime aip --chip sd855 --stack {f}",),
    *("always-on q.dlc --chip sd855 --stack {f} --every 20",),
    *("profile q.dlc --chip sd855 --stack {f} --perf-profile power_saver --uncertainty",),
)
_ON_HTP_STACK = (
    *("profile q.dlc --chip sd8gen2 --runtime htp --stack {f}", "stacks show {f}"),
    *("llm config.json --chip sd8gen2 --stack {f}", "bench m.dlc --chip sd8gen2 --stack {f}"),
    *("quantize m.dlc --seeded-inputs --chip sd8gen2 --stack {f} -o o.dlc",),
)
_BACKGROUND = (
    *(
        "profile --chip sd835 q.dlc --background {f} --json o.json",
        "bench --chip sd835 q.dlc --background {f}",
    ),
    *(
        "throughput --chip sd835 "
        "q.dlc --background {f} --inferences 3 --json o.json --trace t.json",
    ),
    *("profile --chip sd835 q.dlc --background {f} --background audio --trace t.json",),
    *(
        "overview --chip sd835 q.dlc --background {f} --html o.html",
        "always-on q.dlc --chip sd855 --background {f} --every 20",
    ),
)
_PROFILES = (
    *("compare phone.onnx --measured {f} --chip sd855 --json o.json --csv o.csv --rows r.csv",),
    *("compare phone.onnx --measured {f} --chip sd8gen2 --runtime htp --rows r.csv",),
    *("bench.csv|compare phone.onnx --measured {f} --chip sd855 --runtime cpu",),
    *("profile phone.onnx --quantize --chip sd855 --anchor phone.onnx={f}",),
    *("bench m.dlc --timing-only --chip sd8gen2 --anchor phone.onnx={f} --json o.json",),
    *("profile q.dlc --chip sd8gen2 --runtime htp --anchor phone.onnx@htp={f} --uncertainty",),
)
_LISTS = (
    *("run --chip sd835 m.dlc --input-list {f} -o out", "quantize m.dlc --input-list {f} -o o.dlc"),
    *(
        "bench --chip sd835 q.dlc --input-list {f}",
        "validate --chip sd835 m.dlc --calibration-list {f}",
    ),
    *("snpe-net-run --container q.dlc --input_list {f}",),
    *("view m.dlc --chip sd855 --input-list {f} -o o.html",),
    *("snpe-dlc-quantize --input_dlc m.dlc --input_list {f} --output_dlc o.dlc",),
    *("snpe-parallel-run --container q.dlc --input_list {f} --use_dsp --use_cpu",),
)
_RAW = (
    *(
        "run --chip sd835 m.dlc --input-list list.txt -o out",
        "run --chip sd835 q.dlc --input-list list.txt -o out",
    ),
    *("quantize m.dlc --input-list list.txt -o o.dlc && run o.dlc -o out",),
    *(
        "validate --chip sd835 m.dlc --input-list list.txt --explain",
        "bench --chip sd835 m.dlc --input-list list.txt",
    ),
    *(
        "decide m.dlc --files --input-list list.txt",
        "decide m.dlc --chips sd855 --input-list list.txt",
    ),
    *("quantize m.dlc --input-list list.txt -o o.dlc --act-bitwidth 16",),
    *("snpe-net-run --container q.dlc --input_list list.txt --use_native_input_files",),
)
_LABELS = (
    *("names.txt|run m.dlc --input-list list.txt --labels {f} -o out",),
    *("labels.txt|validate m.dlc --input-list list.txt --labels {f}",),
    *("labels.txt|bench q.dlc --input-list list.txt --labels {f}",),
    *("labels.txt|snpe_bench.py -c benchmark.json --labels {f}",),
    *("picture_labels.txt|validate m.dlc --images pictures --labels {f}",),
    *("picture_labels.txt|decide m.dlc --chips sd855 --images pictures --labels {f}",),
)
_OVERRIDES = (
    "convert m.onnx --quantization-overrides {f} -o o.dlc && info o.dlc && "
    "quantize o.dlc --seeded-inputs --override-params -o q2.dlc && run q2.dlc -o out",
    "snpe-onnx-to-dlc -i m.onnx --quantization_overrides {f} -o o.dlc && "
    "qairt-quantizer -i o.dlc -l x.txt -o q2.dlc && snpe-dlc-info -i q2.dlc",
    "convert m.onnx --quantization-overrides {f} -o o.dlc && "
    "bench o.dlc --quantize --override-params --chip sd855,sd8gen2",
    "convert m.onnx --quantization-overrides {f} -o o.dlc && "
    "validate o.dlc --override-params --chip sd8gen2 --runtime htp",
)
_DETECTIONS = "detections results --input-list seen.txt --first-class 1 --truth"

OPTIONS = Reader(
    "options",
    ["q.dlc", "m.dlc"],
    lambda rng, path: None,
    (
        *(
            "overview --chip sd835 {f}",
            "bench --chip sd835 {f} --timing-only",
            "profile --chip sd835 {f} --quantize",
        ),
        *(
            "throughput --chip sd835 {f} --quantize --inferences 2",
            "always-on {f} --quantize --every 50 --chip sd855",
        ),
        *(
            "kernel conv --shape 16x16x32:32:3x3 --chip sd855",
            "llm config.json",
            "overview --chip sd835 {f} --html o.html",
        ),
        *("compare bench.json profile.json", "calibrate rows.csv --chip sd855 -o o.toml"),
        *("compare phone.onnx --measured qnn.csv --chip sd8gen2", "convert m.onnx -o o.dlc"),
        *("quantize m.dlc --seeded-inputs -o o.dlc", "info {f}", "view {f} -o o.html"),
        *(
            "diff {f} m.dlc",
            "partition --chip sd855 {f}",
            "run --chip sd835 {f} --input-list list.txt -o out",
        ),
        *(
            "prepare pictures --model m.dlc -o out",
            "validate --chip sd835 {f} --input-list list.txt",
        ),
        *(
            "run --chip sd835 {f} --images pictures -o out",
            "decide m.dlc --chips sd855",
            "decide {f} --files",
        ),
        *("detections results --input-list seen.txt --first-class 1 --truth truth.json --size 9",),
    ),
    3,
)
"""Good files, and options that may be wrong."""
_STARTING = ("--threads", "--workers", "--scheduler", "--distributed", "--udl")
"""Options that start processes, or run what is in a file."""
_MOST_POINTS = 200
READERS: tuple[Reader, ...] = (
    OPTIONS,
    Reader("onnx files", ["m.onnx"], _any_onnx, (*_ANY, *_FLOAT, *_CONVERTERS), 6),
    Reader("dlc files", ["m.dlc", "q.dlc"], _any_dlc, (*_ANY, *_DLC), 6),
    Reader(
        "dlc files with more",
        ["with_overrides.dlc", "sections.dlc", "ctx.bin", "q.dlc"],
        _sealed,
        _SECTIONS,
        3,
    ),
    Reader(
        "caffe",
        ["net.prototxt"],
        _NUMBERS,
        (
            "convert {f} -o o.dlc && run o.dlc",
            "snpe-caffe-to-dlc -i {f} -b net.caffemodel -o o.dlc",
            "profile --chip sd835 {f} --runtime cpu",
        ),
    ),
    Reader(
        "caffemodel",
        ["net.caffemodel"],
        _by(binaries.message),
        ["convert net.prototxt -o o.dlc && run o.dlc"],
    ),
    Reader(
        "llm configuration",
        ["config.json", "config_old.json"],
        _JSON,
        (
            "llm {f} --json o.json --trace t.json",
            "llm {f} --html o.html --weights w8",
            "llm {f} --generate 3 --context 64 --prompt 16 --block 8",
            "llm {f} --chip sd8gen2 --block 32",
        ),
        2,
    ),
    Reader(
        "llm export",
        ["decoder.onnx", "prefill.onnx", "step.onnx"],
        _onnx,
        ("llm {f} --json o.json", "llm {f} --chip sd8gen3 --weights w8"),
        2,
    ),
    Reader("chip", ["chip.toml"], _TOML, _ON_CHIP, 3),
    Reader("chip with a tensor processor", ["chip_htp.toml"], _TOML, _ON_HTP_CHIP, 2),
    Reader("stack", ["stack.toml"], _TOML, _ON_STACK, 2),
    Reader("stack with a tensor processor", ["stack_htp.toml"], _TOML, _ON_HTP_STACK),
    Reader("background", ["load.toml"], _TOML, _BACKGROUND, 2),
    Reader(
        "space",
        ["space.toml", "small_space.toml"],
        _space,
        ["sweep {f} -o o.parquet --workers 1 && sweep show o.parquet"],
    ),
    Reader(
        "sweep",
        ["swept.parquet", "swept_small.parquet"],
        _columns,
        (
            "sweep show {f}",
            "sweep show {f} --json o.json --html o.html",
            "sweep show {f} --pareto latency,energy",
            'sweep show {f} --best "latency_ms < 5"',
        ),
        2,
    ),
    Reader("profile of a phone", [*PROFILES], _NUMBERS, _PROFILES, 3),
    Reader(
        "results",
        ["bench.json", "profile.json", "llm.json"],
        _JSON,
        (
            "bench.json|compare {f} profile.json",
            "profile.json|compare bench.json {f} --json o.json --csv o.csv",
            "llm.json|compare llm.json {f}",
        ),
        2,
    ),
    Reader(
        "measured rows",
        ["rows.csv"],
        _NUMBERS,
        (
            "calibrate {f} --chip sd855 -o o.toml --json o.json",
            "calibrate {f} --chip sd855 --adjust both -o o.toml --chip-output c.toml && "
            "profile q.dlc --chip c.toml --stack o.toml",
        ),
        2,
    ),
    Reader(
        "measured layers",
        ["layers.csv"],
        _NUMBERS,
        (
            "calibrate --layers {f} --chip sd855 -o o.toml --json o.json",
            "calibrate rows.csv --layers {f} --chip sd855 -o o.toml",
        ),
        2,
    ),
    Reader("input list", ["list.txt", "named.txt"], _NUMBERS, _LISTS),
    Reader("raw file", ["0.raw"], _floats, _RAW, 2),
    Reader(
        "picture",
        ["pictures/a.png"],
        _by(binaries.picture),
        (
            "run --chip sd835 m.dlc --images pictures -o out",
            "prepare pictures --model m.dlc -o out",
        ),
    ),
    Reader(
        "mean image",
        ["mean.npy"],
        _by(binaries.array),
        (
            "convert m.onnx -o o.dlc --mean-file {f}",
            "prepare pictures --model m.dlc --mean-file {f}",
        ),
    ),
    Reader("labels", ["labels.txt", "names.txt", "picture_labels.txt"], _NUMBERS, _LABELS),
    Reader(
        "annotations",
        ["truth.json"],
        _JSON,
        (
            f"{_DETECTIONS} {{f}} --fit stretch --json o.json",
            f"{_DETECTIONS} {{f}} --size 300 --csv o.csv",
        ),
    ),
    Reader(
        "detections",
        [f"results/Result_{name}.raw" for name in ("0/boxes", "1/scores", "0/classes")],
        _floats,
        (
            f"{_DETECTIONS} truth.json --fit stretch --json o.json",
            f"{_DETECTIONS} truth.json --size 300",
        ),
    ),
    Reader(
        "overrides", ["overrides.json", "overrides1.json", "overrides2.json"], _JSON, _OVERRIDES, 3
    ),
    Reader(
        "configuration of a benchmark",
        ["benchmark.json"],
        _JSON,
        ("snpe_bench.py -c {f}", "snpe_bench.py -c {f} -json --chip sd855"),
    ),
    Reader(
        "configuration of a backend",
        ["backend.json", "htp.json"],
        _JSON,
        (
            f"qnn-net-run --retrieve_context ctx.bin --input_list list.txt {_ON_HTP} "
            "--config_file backend.json",
            f"qnn-context-binary-generator --dlc_path q.dlc --binary_file c {_ON_HTP} "
            "--config_file backend.json",
        ),
    ),
    Reader(
        "log",
        ["diag.log"],
        _NUMBERS,
        ("snpe-diagview --input_log {f} --output o.csv", "qnn-profile-viewer --input_log {f}"),
    ),
)

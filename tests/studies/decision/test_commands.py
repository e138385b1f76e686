"""The words of the commands that give a candidate's figures again."""

from __future__ import annotations

import shlex
from dataclasses import replace

from msgspec import structs

from hexsim.studies.decision import MODES
from hexsim.studies.decision.commands import CommandOptions, commands
from tests.studies.decision.decided import candidate

WORDS = CommandOptions(
    "my models/a b.onnx",
    calibration=("--images", "photos"),
    inputs=("--images", "photos", "--labels", "l.csv"),
    platform=("--stack", "snpe-1.30"),
    calling=("--idle-ms", "5.0"),
)


def test_floats_need_no_file() -> None:
    profile, validate = map(shlex.split, commands(candidate(mode=0, runtime="cpu"), WORDS))
    where = "--chip sd855 --stack snpe-1.30 --runtime cpu"
    assert profile == ["hexsim", "profile", WORDS.model, *f"{where} --idle-ms 5.0".split()]
    assert validate[:3] == ["hexsim", "validate", WORDS.model]
    assert validate[-4:] == list(WORDS.inputs)


def test_names_with_blanks_are_quoted() -> None:
    quantize, *_ = map(shlex.split, commands(candidate(mode=4), WORDS))
    assert quantize[2] == "my models/a b.onnx"
    assert quantize[-3:] == ["--axis-quant", "--output", "a b_decided.dlc"]


def test_sections_are_compiled_for_the_chip() -> None:
    fastest = candidate(runtime="aip", cut="fastest")
    fastest = structs.replace(fastest, hta_partitions="0-4,6-9")
    (quantize, *_) = commands(fastest, WORDS)
    assert "--enable-hta --chip sd855 --stack snpe-1.30 --hta-partitions 0-4,6-9 " in quantize
    (quantize, *_) = commands(candidate(runtime="aip", cut="automatic"), WORDS)
    assert "--enable-hta --chip sd855 --stack snpe-1.30 --output" in quantize
    (quantize, *_) = commands(candidate(runtime="aip", cut="none"), WORDS)
    assert "--enable-hta" not in quantize


def test_shapes_and_float_layers_are_settled_by_converting_first() -> None:
    shaped = replace(WORDS, dims=("--input-dim", "x 1,3,8,8"))
    first, second, *_ = map(shlex.split, commands(candidate(), shaped))
    assert first[1:2] + first[3:5] == ["convert", "--input-dim", "x 1,3,8,8"]
    assert second[1:3] == ["quantize", first[-1]]
    mode = MODES[1].keeping("one", ["it's"])
    mixed = structs.replace(
        candidate(), mode="one", quantizer_words=mode.words, float_tensors=mode.floats
    )
    written, converted, quantized, *_ = map(shlex.split, commands(mixed, WORDS))
    assert written[0] == "echo"
    assert '"it\'s"' in written[1]
    assert converted[-4:-2] == ["--quantization-overrides", written[-1]]
    assert "--override-params" in quantized

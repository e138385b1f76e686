"""Every dialect of the encodings file, and every mistake in one."""

import json
from pathlib import Path

import pytest

from hexsim.errors import HexsimError
from hexsim.quantization.overrides import FloatOverride, IntegerOverride, Range
from hexsim.quantization.overrides.aimet import read_aimet

ONE = {"bitwidth": 8, "min": -1.0, "max": 2.0}
CHANNELS = [
    {"bitwidth": 8, "is_symmetric": "True", "min": -d * 128, "max": d * 127, "scale": d}
    for d in (0.1, 0.2)
]


def write(folder: Path, document: object) -> Path:
    path = folder / "f.json"
    path.write_text(document if isinstance(document, str) else json.dumps(document))
    return path


def sections(activations: object = None, parameters: object = None, **others: object) -> dict:
    return {
        "activation_encodings": {} if activations is None else activations,
        "param_encodings": {} if parameters is None else parameters,
        **others,
    }


@pytest.mark.parametrize("version", [{}, {"version": "0.4.0"}, {"version": "0.3"}])
def test_oldest_version(tmp_path: Path, version: dict) -> None:
    entry = {**ONE, "scale": 3 / 255, "offset": -85, "is_symmetric": "False"}
    read = read_aimet(write(tmp_path, sections({"a": [entry]}, {"w": CHANNELS}, **version)))
    assert read.activations == {
        "a": IntegerOverride(8, (Range(-1.0, 2.0, 3 / 255, -85),), symmetric=False)
    }
    weight = read.parameters["w"]
    assert isinstance(weight, IntegerOverride)
    assert weight.per_channel
    assert weight.symmetric is True
    assert [r.scale for r in weight.ranges] == [0.1, 0.2]
    assert len(read) == 2


@pytest.mark.parametrize("version", ["0.5.0", "0.6.1"])
def test_types_since_0_5(tmp_path: Path, version: str) -> None:
    activations = {"a": [{**ONE, "dtype": "int"}], "b": [{"dtype": "float", "bitwidth": 16}]}
    arguments = {"quantizer_args": {"activation_bitwidth": 8, "quant_scheme": "min_max"}}
    document = sections(activations, version=version, **arguments)
    read = read_aimet(write(tmp_path, document))
    assert read.activations == {
        "a": IntegerOverride(8, (Range(-1.0, 2.0),)),
        "b": FloatOverride(16),
    }


def test_floats_need_not_state_their_width(tmp_path: Path) -> None:
    named = sections({"a": [{"dtype": "float"}]}, version="0.6.1")
    entry = {"name": "a", "enc_type": "PER_TENSOR", "dtype": "FLOAT"}
    listed_ones = sections([entry], [], version="1.0.0")
    for document in (named, listed_ones):
        read = read_aimet(write(tmp_path, document))
        assert read.activations == {"a": FloatOverride(None)}


def test_lists_of_1_0(tmp_path: Path) -> None:
    activations = [
        {"name": "a", "enc_type": "PER_TENSOR", "dtype": "INT", "bw": 16, "is_sym": False}
        | {"scale": [0.5], "offset": [-3]},
        {"name": "b", "enc_type": "PER_TENSOR", "dtype": "FLOAT", "bw": 32},
    ]
    parameters = [
        {"name": "w", "enc_type": "PER_CHANNEL", "dtype": "INT", "bw": 4, "is_sym": True}
        | {"scale": [0.5, 0.25], "offset": [-8, -8]},
        {"name": "v", "enc_type": "PER_TENSOR", "bw": 8, "is_sym": True, "scale": [1.0]},
    ]
    read = read_aimet(write(tmp_path, sections(activations, parameters, version="1.0.0")))
    assert read.activations == {
        "a": IntegerOverride(16, (Range(scale=0.5, offset=-3),), symmetric=False),
        "b": FloatOverride(32),
    }
    assert read.parameters == {
        "w": IntegerOverride(
            4, (Range(scale=0.5, offset=-8), Range(scale=0.25, offset=-8)), symmetric=True
        ),
        "v": IntegerOverride(8, (Range(scale=1.0, offset=-128),), symmetric=True),
    }


def listed(**changes: object) -> dict:
    entry = {"name": "a", "enc_type": "PER_TENSOR", "bw": 8, "scale": [1.0], "offset": [-1]}
    return sections([{**entry, **changes}], [], version="1.0.0")


@pytest.mark.parametrize(
    ("document", "words"),
    [
        ('{"activation_encodings": {},\n "param_encodings": {,}}', "line 2: "),
        ("[]", "no JSON object"),
        ('{"a": 1, "a": 2}', "key 'a' is there twice"),
        ({"activation_encodings": {}}, "section 'param_encodings' is missing"),
        (sections(version="3.0.0"), "version 3.0.0 is not known"),
        (sections(version="0." + "9" * 5001), "version 0." + "9" * 35 + "... is not known"),
        (sections(version="new"), "version new is not known"),
        (sections([]), "activation_encodings is no object of names"),
        (sections({"a": {"output": {"0": ONE}}}), "encodings by layer, not by tensor"),
        (sections({"a": []}), "'a': expected a list with one entry"),
        (sections({"a": [3]}), "'a', entry 0: all of it is 3; expected a table"),
        (sections({"a": [{"bitwidth": "x", "min": 0, "max": 1}]}), "key 'bitwidth' is 'x'"),
        (sections({"a": [{"bitwdith": 8, "min": 0, "max": 1}]}), "key 'bitwidth' is missing"),
        (sections({"a": [{**ONE, "bitwidth": 33}]}), "key 'bitwidth' is 33"),
        (sections({"a": [{"bitwidth": 8, "min": 0}]}), "key 'max' is missing"),
        (sections({"a": [{"bitwidth": 8, "max": 0}]}), "key 'min' is missing"),
        (sections({"a": [{"bitwidth": 8, "scale": 1}]}), "key 'offset' is missing"),
        (sections({"a": [{**ONE, "scale": 0}]}), "key 'scale' is 0"),
        (sections({"a": [{**ONE, "min": 3}]}), "min 3 is above max 2"),
        ('{"activation_encodings": {"a": [{"bitwidth": 8, "min": NaN, "max": 1}]},'
         ' "param_encodings": {}}', "a[0].min' is NaN"),
        (sections({}, {"w": [ONE, {**ONE, "bitwidth": 4}]}), "differ between channels"),
        (sections({"a": [{"bitwidth": 8, "dtype": "float"}]}), "floats have 16 or 32 bits, not 8"),
        (sections({"a": [{**ONE, "dtype": "half"}]}), "key 'dtype' is 'half'"),
        (sections({}, [], version="1.0.0"), "is no list, which version 1.0.0 asks for"),
        (listed(enc_type="PER_BLOCK", block_size=32), "a real scale per block (PER_BLOCK)"),
        (listed(scale=[1.0, 2.0]), "2 scales and 1 offsets"),
        (listed(scale=[1.0, 2.0], offset=[-1, -1]), "2 scales, PER_TENSOR has one"),
        (listed(scale=[-1.0]), "key 'scale' holds -1"),
        (listed(offset=[]), "key 'offset' is missing"),
        (listed(dtype="FLOAT"), "floats have 16 or 32 bits, not 8"),
    ],
)  # fmt: skip
def test_mistakes_are_reported_in_a_sentence(tmp_path: Path, document: object, words: str) -> None:
    with pytest.raises(HexsimError) as error:
        read_aimet(write(tmp_path, document))
    assert words in str(error.value)
    assert "f.json" in str(error.value)
    assert "\n" not in str(error.value)


def test_a_name_twice_in_a_list(tmp_path: Path) -> None:
    document = listed()
    document["activation_encodings"] *= 2
    with pytest.raises(HexsimError, match="'a' is there twice"):
        read_aimet(write(tmp_path, document))


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(HexsimError, match=r"cannot read overrides .*: No such file"):
        read_aimet(tmp_path / "absent.json")
    with pytest.raises(HexsimError, match="cannot read"):
        read_aimet(tmp_path)
    (tmp_path / "binary.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(HexsimError, match="is no text"):
        read_aimet(tmp_path / "binary.json")
    (tmp_path / "deep.json").write_text("[" * 100_000)
    with pytest.raises(HexsimError, match="nested more than 64 levels deep"):
        read_aimet(tmp_path / "deep.json")

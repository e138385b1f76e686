"""Version 2.0.0 of the encodings file: one list, in the words of QuantizeLinear."""

import json
from pathlib import Path

import pytest

from hexsim.errors import HexsimError
from hexsim.quantization.overrides import (
    BlockOverride,
    FloatOverride,
    IntegerOverride,
    Override,
    Range,
    TensorOverride,
)
from hexsim.quantization.overrides.aimet import read_aimet


def read(folder: Path, *entries: object, **others: object) -> dict[str, TensorOverride]:
    path = folder / "f.json"
    path.write_text(json.dumps({"version": "2.0.0", "encodings": entries, **others}))
    return dict(read_aimet(path).unassigned)


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        (
            {"output_dtype": "uint8", "y_scale": 0.5, "y_zero_point": 114},
            IntegerOverride(8, (Range(scale=0.5, offset=-114),)),
        ),
        (
            {"output_dtype": "uint16", "y_scale": 2},
            IntegerOverride(16, (Range(scale=2, offset=0),)),
        ),
        (
            {"output_dtype": "int8", "y_scale": 0.5},
            IntegerOverride(8, (Range(scale=0.5, offset=-128),), True),
        ),
        (  # real = 0.5 * (q + 10), q from -128: the lowest is -118 steps
            {"output_dtype": "int8", "y_scale": 0.5, "y_zero_point": -10},
            IntegerOverride(8, (Range(scale=0.5, offset=-118),)),
        ),
        (
            {"output_dtype": "int4", "y_scale": [1, 2], "axis": 0},
            IntegerOverride(4, (Range(scale=1, offset=-8), Range(scale=2, offset=-8)), True),
        ),
        ({"output_dtype": "float16"}, FloatOverride(16)),
        ({"output_dtype": "float32"}, FloatOverride(32)),
        ({}, FloatOverride(None)),
        (
            {
                "output_dtype": "int4",
                "per_channel_float_scale": [[0.5], [0.25], [2.0]],
                "per_block_int_scale": [[1, 16], [2, 3], [4, 5]],
                "axis": 1,
                "block_size": 32,
            },
            BlockOverride(4, 8, 32, (0.5, 0.25, 2.0), (1, 16, 2, 3, 4, 5)),
        ),
        (  # the same weight with its axes exchanged, as a MatMul has it
            {
                "output_dtype": "int4",
                "per_channel_float_scale": [[0.5, 0.25, 2.0]],
                "per_block_int_scale": [[1, 2, 4], [16, 3, 5]],
                "axis": 0,
                "block_size": 32,
            },
            BlockOverride(4, 8, 32, (0.5, 0.25, 2.0), (1, 16, 2, 3, 4, 5)),
        ),
    ],
)
def test_entries(tmp_path: Path, entry: dict, expected: Override) -> None:
    assert read(tmp_path, {"name": "t", **entry})["t"].override == expected


BLOCKS = {
    "output_dtype": "int4",
    "per_channel_float_scale": [[0.5]],
    "per_block_int_scale": [[1, 2]],
    "axis": 1,
    "block_size": 32,
}


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ({"y_scale": 1}, "'output_dtype' is missing"),
        ({"output_dtype": "int3", "y_scale": 1}, "is 'int3', which no kernel computes with"),
        ({"output_dtype": "bfloat16"}, "is 'bfloat16', which no kernel computes with"),
        ({"output_dtype": "int8"}, "'y_scale' is missing"),
        ({"output_dtype": "int8", "y_scale": "1"}, "'y_scale' is not a number"),
        ({"output_dtype": "int8", "y_scale": [[1]], "axis": 0}, "'y_scale' is nested"),
        ({"output_dtype": "int8", "y_scale": 0}, "'y_scale' holds 0; scales are above 0"),
        ({"output_dtype": "int8", "y_scale": [1, 2]}, "2 scales without key 'axis'"),
        ({"output_dtype": "uint8", "y_scale": 1, "y_zero_point": 256}, "outside uint8"),
        ({"output_dtype": "uint8", "y_scale": 1, "y_zero_point": [1, 2]}, "1 scales and 2 zero"),
        (
            {"output_dtype": "int4", "y_scale": [[1], [2]], "block_size": 8},
            "a real scale per block",
        ),
        ({**BLOCKS, "per_block_int_scale": [[1, 17]]}, "expected whole numbers from 1 to 16"),
        ({**BLOCKS, "per_block_int_scale": [[1, 1.5]]}, "expected whole numbers from 1 to 16"),
        ({**BLOCKS, "per_block_int_scale": [[1], [2, 3]]}, "'per_block_int_scale' is not a number"),
        ({**BLOCKS, "per_channel_float_scale": [[0.0]]}, "a scale is 0"),
        ({**BLOCKS, "per_channel_float_scale": None}, "needs a scale per channel"),
        ({**BLOCKS, "axis": 2}, "'axis' is 2; expected that of the blocks"),
        ({**BLOCKS, "block_size": 0}, "'block_size' is 0"),
        ({**BLOCKS, "output_dtype": "int8"}, "codes of 8 bits in blocks"),
    ],
)
def test_mistakes(tmp_path: Path, entry: dict, said: str) -> None:
    with pytest.raises(HexsimError) as error:
        read(tmp_path, {"name": "t", **entry})
    assert f"'{tmp_path}/f.json', 't': " in str(error.value)
    assert said in str(error.value)


def test_mistakes_of_the_list(tmp_path: Path) -> None:
    entry = {"name": "t", "output_dtype": "float16"}
    with pytest.raises(HexsimError, match="'t' is there twice"):
        read(tmp_path, entry, entry)
    (tmp_path / "g.json").write_text('{"version": "2.0.0", "activation_encodings": []}')
    with pytest.raises(HexsimError, match="section 'encodings' is no list"):
        read_aimet(tmp_path / "g.json")


def test_version_1_has_blocks_too(tmp_path: Path) -> None:
    blocks = {
        "name": "w",
        "enc_type": "LPBQ",
        "dtype": "INT",
        "bw": 8,
        "compressed_bw": 4,
        "is_sym": True,
        "block_size": 64,
        "scale": [0.5, 0.25],
        "offset": [-128, -128],
        "per_block_int_scale": [1, 16, 2, 3],
    }
    half = {"name": "v", "enc_type": "PER_TENSOR", "dtype": "FLOAT", "bw": 16}
    path = tmp_path / "f.json"
    for nested in (blocks, {**blocks, "per_block_int_scale": [[1, 16], [2, 3]]}):
        document = {
            "version": "1.0.0",
            "activation_encodings": [],
            "param_encodings": [nested, half],
        }
        path.write_text(json.dumps(document))
        assert read_aimet(path).parameters == {
            "w": BlockOverride(4, 8, 64, (0.5, 0.25), (1, 16, 2, 3)),
            "v": FloatOverride(16),
        }

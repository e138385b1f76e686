from pathlib import Path

import pytest

from hexsim.datasheets import chips, stacks
from hexsim.errors import HexsimError

SD855 = (Path(chips.__file__).parent / "sd855.toml").read_text()
SNPE = (Path(stacks.__file__).parent / "snpe-1.23.toml").read_text()


def edited(text: str, key: str, line: str) -> str:
    lines = text.splitlines()
    (at, *_) = (i for i, old in enumerate(lines) if old.startswith(f"{key} = "))
    return "\n".join([*lines[:at], line, *lines[at + 1 :]])


def message_of(path: Path, text: str) -> str:
    path.write_text(text)
    with pytest.raises(HexsimError) as error:
        chips.load(path)
    message = str(error.value)
    assert message.startswith(f"{path}: ")
    assert "\n" not in message
    return message.removeprefix(f"{path}: ")


def constant(**changes: str) -> str:
    parts = {"value": "4", "unit": '"B"', "source": '"x"', "confidence": '"documented"'} | changes
    return "{ " + ", ".join(f"{key} = {value}" for key, value in parts.items() if value) + " }"


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("1000", "key 'dsp.l2_bytes' is 1000; expected a constant { value = ..., unit = \"B\""),
        (constant(value="1.5"), "key 'dsp.l2_bytes' is 1.5; expected a whole number"),
        (constant(value="-4"), "key 'dsp.l2_bytes' is -4.0; expected greater than or equal to 0"),
        (constant(value='"4"'), "key 'dsp.l2_bytes.value' is '4'; expected a number"),
        (constant(value=""), "key 'dsp.l2_bytes.value' is missing; expected a number"),
        (constant(unit='"kB"'), "key 'dsp.l2_bytes' is wrong; expected the unit 'B', not 'kB'"),
        (constant(source=""), "key 'dsp.l2_bytes.source' is missing; expected a string"),
        (constant(source='""'), "key 'dsp.l2_bytes.source' is ''; expected at least 1 character"),
        (
            constant(confidence='"sure"'),
            "key 'dsp.l2_bytes.confidence' is 'sure'; expected 'documented', 'inferred',",
        ),
        (
            constant(confidence='"assumed"'),
            "key 'dsp.l2_bytes' is wrong; expected low <= value <= high",
        ),
    ],
)
def test_a_wrong_constant_is_reported_with_its_key(
    tmp_path: Path, given: str, expected: str
) -> None:
    text = edited(SD855, "l2_bytes", f"l2_bytes = {given}")
    assert message_of(tmp_path / "my.toml", text).startswith(expected)


def test_a_missing_constant_is_reported_with_its_unit(tmp_path: Path) -> None:
    message = message_of(tmp_path / "my.toml", edited(SD855, "l2_bytes", ""))
    assert message.startswith("key 'dsp.l2_bytes' is missing; expected a constant { value")
    assert 'unit = "B"' in message


def test_a_misspelt_key_comes_before_the_key_it_leaves_missing(tmp_path: Path) -> None:
    message = message_of(
        tmp_path / "my.toml", edited(SD855, "l2_bytes", f"l2_bites = {constant()}")
    )
    assert message.startswith("key 'dsp.l2_bites' is not known; did you mean l2_bytes")
    message = message_of(tmp_path / "my.toml", SD855.replace("[hta]", "[hta_]"))
    assert message == "key 'hta_' is not known; did you mean hta?"


@pytest.mark.parametrize(
    ("key", "line", "expected"),
    [
        ("title", "", "key 'title' is missing; expected a string"),
        ("runtimes", "", "key 'runtimes' is missing; expected a list"),
        ("runtimes", 'runtimes = ["cpu", "npu"]', "key 'runtimes.1' is 'npu'; expected 'cpu', "),
        ("arch", 'arch = "v61"', "key 'dsp.arch' is 'v61'; expected 'v60', 'v62', 'v65' or 'v66'"),
        ("arch", "", "key 'dsp.arch' is missing; expected 'v60', 'v62', 'v65' or 'v66'"),
        ("title", 'title = "x"\ngpu = 3', "key 'gpu' is 3; expected a table"),
        ("title", 'title = "x"\n"" = 3', "key '' is not known; known: aliases, cpu, "),
    ],
)
def test_other_wrong_keys(tmp_path: Path, key: str, line: str, expected: str) -> None:
    text = SD855.split("[gpu]")[0] if "gpu" in line else SD855
    assert message_of(tmp_path / "my.toml", edited(text, key, line)).startswith(expected)


def test_stack_files_are_checked_alike(tmp_path: Path) -> None:
    path = tmp_path / "my.toml"
    for key, line, expected in (
        ("rules", "", "key 'partitioning.rules' is missing; expected '1.23' or '1.25+'"),
        ("default_profile", 'default_profile = "fast"', "key 'default_profile' is 'fast'; expect"),
    ):
        path.write_text(edited(SNPE, key, line))
        with pytest.raises(HexsimError) as error:
            stacks.load(path)
        assert str(error.value).startswith(f"{path}: {expected}")

"""Reads the encodings files of AIMET: versions 0.4 and older, 0.5.0, 0.6.1, 1.0.0 and 2.0.0.

| version | sections | keys of an entry |
| --- | --- | --- |
| none, 0.4.0 | name -> entries | bitwidth, min, max, scale, offset, is_symmetric "True" |
| 0.5.0 | same | also dtype "int"/"float"; a float needs dtype and bitwidth only |
| 0.6.1 | same | same; quantizer_args beside the sections change no tensor |
| 1.0.0 | lists of entries | name, enc_type, dtype "INT"/"FLOAT", bw, is_sym, scale[], offset[] |
| 2.0.0 | one list, "encodings" | name, output_dtype "int8", y_scale, y_zero_point, axis |

In 1.0.0 and 2.0.0 a weight may have blocks (LPBQ).

A tensor with several entries, or with enc_type PER_CHANNEL, is encoded per channel. An integer
entry without any numbers is calibrated: the guide's full override file gives bitwidth and dtype
only. Keys that no version defines are ignored, as in the real converter; a misspelt key is
therefore reported as missing.
"""

from pathlib import Path
from typing import Any

from hexsim.errors import HexsimError, InvalidDataError
from hexsim.graph.domains import require
from hexsim.quantization.overrides.aimet_sections import listed_section, named_section
from hexsim.quantization.overrides.aimet_tensors import tensor_encodings
from hexsim.quantization.overrides.override import Overrides
from hexsim.texts.json_text import parse_json
from hexsim.texts.text import read_text, shortened

ACTIVATIONS, PARAMETERS = "activation_encodings", "param_encodings"
"""The two sections of every version but 2.0.0."""

VERSIONS = ("0.4.0", "0.5.0", "0.6.1", "1.0.0", "2.0.0")
"""Versions that are read; a file without version counts as the first."""


def read_aimet(path: str | Path) -> Overrides:
    """Read the encodings file at `path`.

    Raises HexsimError naming file, section, tensor and key (or line) of the first mistake.
    """
    where = f"overrides '{path}'"
    document = _document(Path(path), where)
    version = str(document.get("version", VERSIONS[0]))
    if version not in VERSIONS and _is_newer(version):
        raise HexsimError(
            f"{where}: version {shortened(version)} is not known; export the encodings with one of "
            f"{', '.join(VERSIONS)}"
        )
    if version == "2.0.0":
        return _checked(Overrides(unassigned=tensor_encodings(document, where)), where)
    read = listed_section if version == "1.0.0" else named_section
    sections = {}
    for section in (ACTIVATIONS, PARAMETERS):
        if section not in document:
            raise HexsimError(
                f"{where}: section '{section}' is missing; it may be empty but must be there"
            )
        sections[section] = read(document[section], f"{where}, {section}")
    return _checked(Overrides(sections[ACTIVATIONS], sections[PARAMETERS]), where)


def _checked(overrides: Overrides, where: str) -> Overrides:
    """Return `overrides`; HexsimError for the first whose numbers are none of an encoding."""
    unassigned = {name: each.override for name, each in overrides.unassigned.items()}
    for name, override in (
        *overrides.activations.items(),
        *overrides.parameters.items(),
        *unassigned.items(),
    ):
        try:
            require(override)
        except InvalidDataError as error:
            raise HexsimError(f"{where}, '{name}': {error}") from None
    return overrides


def _document(path: Path, where: str) -> dict[str, Any]:
    try:
        text = read_text(path, "overrides", "give the JSON file that AIMET exports")
        document = parse_json(text, where)
    except InvalidDataError as error:
        raise HexsimError(str(error)) from None
    if not isinstance(document, dict):
        raise HexsimError(f"{where} is no JSON object with the sections of an encodings file")
    return document


_DIGITS = 9
"""Most digits that a number of a version may have."""


def _is_newer(version: str) -> bool:
    """Return True if an unlisted version may have other entries than the listed ones."""
    parts = version.split(".")
    if not all(part.isdecimal() and len(part) <= _DIGITS for part in parts):
        return True
    return tuple(int(part) for part in parts) > (0, 6, 1)

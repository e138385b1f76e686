"""The schema of a prototxt: the fields that are read, from net_messages.toml beside this file.

A text contains names of fields and not their numbers and widths. So fields are numbered by their
positions here, integers are int32, and real numbers are doubles. Fields of `HARMLESS` are ignored;
any other unknown field is refused in a layer that is used.
"""

from collections.abc import Mapping
from pathlib import Path

from hexsim.frameworks.messages import message_classes
from hexsim.texts.trees import parse_toml

_PATH = Path(__file__).with_suffix(".toml")
_TABLES = parse_toml(_PATH.read_text("utf-8"), str(_PATH), as_written=True)

V1_TYPES: Mapping[str, str] = _TABLES["v1_types"]
HARMLESS = frozenset[str](_TABLES["harmless"])

_SIDES = "name:text bottom:text* top:text* include:Rule* exclude:Rule*"
_PARAMETERS: Mapping[str, str] = _TABLES["parameters"]
_FIELDS = " ".join(f"{title.lower()}_param:{title}" for title in _PARAMETERS)
_LAYERS = {
    "Layer": f"type:text {_SIDES} {_FIELDS}",
    "V1Layer": f"type:{'|'.join(V1_TYPES)} layer:V0Layer {_SIDES} {_FIELDS}",
}

Net = message_classes("caffe", {**_PARAMETERS, **_LAYERS, **_TABLES["messages"]})["Net"]

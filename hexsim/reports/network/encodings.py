"""The origin of every encoding and the outcome of every override, as JSON."""

from collections.abc import Iterator
from typing import Any

from hexsim.quantization.model import Model
from hexsim.reports.document import Record

_encoding = Record(
    "A tensor: a bias at the accumulator's scale has neither encoding nor data type, a tensor that "
    "stays float no encoding.",
    "name=0 section=1 origin=2 data_type=3 encoding=4",
)


def _tensors(model: Model) -> Iterator[tuple[Any, ...]]:
    for name, origin in model.origins.items():
        section = "parameter" if name in model.network.weights else "activation"
        yield name, section, origin, model.data_type(name), model.encoding(name)


encodings_facts = Record(
    "The encodings of a model, and the overrides of the user.",
    "network=name overrides findings",
    {"encodings": (_tensors, [_encoding])},
)

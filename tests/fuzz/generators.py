"""The generators of cases by their names; each judges a case that is told by its number alone."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from tests.fuzz import (
    archives,
    arrays,
    bombs,
    commands,
    containers,
    counts,
    interpreters,
    names,
    onnx_case,
    onnx_nodes,
    texts,
    toml_texts,
)
from tests.fuzz.process import Judge
from tests.fuzz.readers import READERS

GENERATORS: Mapping[str, Judge] = {
    "commands": commands.judged,
    "bombs": bombs.judged,
    "onnx": onnx_case.judged,
    "nodes": onnx_nodes.judged,
    "containers": containers.judged,
    "texts": texts.judged,
    "toml": toml_texts.judged,
    "archives": archives.judged,
    "arrays": arrays.judged,
    "names": names.judged,
    "counts": counts.judged,
    "interpreters": interpreters.judged,
    **{reader.name: partial(commands.judged, reader=reader.name) for reader in READERS},
}
"""What is said of a case: the sentences by which something was refused, or nothing."""

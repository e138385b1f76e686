"""The generators of cases by their names; each judges a case that is told by its number alone."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tests.fuzz import (
    archives, arrays, commands, containers, counts, interpreters, names, onnx_case, onnx_nodes,
    texts, toml_texts,
)
from tests.fuzz.process import Judge


def _numbered(judge):  # type: ignore
    return lambda number, folder: judge(number)


GENERATORS: Mapping[str, Judge] = {
    "commands": commands.judged,
    "onnx": _numbered(lambda number: onnx_case.judge(onnx_case.file_of(number))),
    "nodes": _numbered(onnx_nodes.judged),
    "containers": containers.judged,
    "texts": texts.judged,
    "toml": toml_texts.judged,
    "archives": archives.judged,
    "arrays": arrays.judged,
    "names": names.judged,
    "counts": counts.judged,
    "interpreters": interpreters.judged,
}

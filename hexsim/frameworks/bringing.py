"""Files of other frameworks by what they are: each goes to its own reader."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from hexsim.frameworks.file_kinds import framework_of
from hexsim.frameworks.foreign import Foreign


def read_foreign(
    path: Path,
    caffe_bin: str | Path | None = None,
    *,
    input_dims: Mapping[str, Sequence[int]] | None = None,
    output_names: Sequence[str] = (),
) -> Foreign | None:
    """Bring the file at `path` into an ONNX model; None if it is of no framework known here.

    `caffe_bin` holds the weights of a prototxt. `input_dims` replaces shapes of inputs (axes as
    the file has them), and the network ends at `output_names`, if there are any.
    Raises HexsimError for what cannot be read.
    """
    if framework_of(path) == "caffe":
        from hexsim.frameworks.caffe import read_caffe

        weights = None if caffe_bin is None else Path(caffe_bin)
        return read_caffe(path, weights, input_dims=input_dims, output_names=output_names)
    return None


def is_prototxt(path: str | Path) -> bool:
    """True if the file at `path` describes a network of Caffe."""
    return framework_of(Path(path)) == "caffe"


def weight_files(path: Path) -> tuple[Path, ...]:
    """Files that are read with the one at `path`, if nobody names others."""
    if not is_prototxt(path):
        return ()
    from hexsim.frameworks.caffe.reader import beside

    return (beside(path),)

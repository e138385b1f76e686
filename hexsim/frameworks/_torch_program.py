"""A separate program: exports the program of torch.export in argv[1] to ONNX in argv[2].

The contents of the file were checked before (hexsim.frameworks.pytorch). In addition,
PyTorch is told to unpickle tensors only: by an environment variable, by a parameter where it has
one, and in every call of torch.load.
"""

import functools
import inspect
import os
import sys


def main(source: str, target: str) -> None:
    """Export `source` to `target`."""
    os.environ["TORCH_FORCE_WEIGHTS_ONLY_LOAD"] = "1"
    os.environ.pop("TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD", None)
    import torch

    unpickle = torch.load

    @functools.wraps(unpickle)
    def tensors_only(*arguments: object, **keywords: object) -> object:
        return unpickle(*arguments, **{**keywords, "weights_only": True})

    torch.load = tensors_only
    load = torch.export.load
    is_asked = "weights_only" in inspect.signature(load).parameters
    program = load(source, weights_only=True) if is_asked else load(source)
    exported = torch.onnx.export(program, dynamo=True, external_data=False)
    exported.save(target, external_data=False)


if __name__ == "__main__":
    main(*sys.argv[1:])

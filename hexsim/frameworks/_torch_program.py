"""A program of its own: exports the program of torch.export in argv[1] to ONNX in argv[2].

What the file holds was looked at before (hexsim.frameworks.torch_archives). PyTorch is asked,
besides, to unpickle tensors only: by its environment, by a parameter where it has one, and in each
of its calls.
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
    def tensors_only(*given: object, **named: object) -> object:
        return unpickle(*given, **{**named, "weights_only": True})

    torch.load = tensors_only
    load = torch.export.load
    is_asked = "weights_only" in inspect.signature(load).parameters
    program = load(source, weights_only=True) if is_asked else load(source)
    exported = torch.onnx.export(program, dynamo=True, external_data=False)
    exported.save(target, external_data=False)


if __name__ == "__main__":
    main(*sys.argv[1:])

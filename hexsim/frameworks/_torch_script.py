"""A separate program: exports the TorchScript of argv[1] with inputs argv[2] to argv[3].

The inputs are JSON: shapes by name.
"""

import json
import sys


def main(source: str, inputs: str, target: str) -> None:
    """Export `source` with `inputs` to `target`."""
    import torch

    shapes = json.loads(inputs)
    torch.onnx.export(
        torch.jit.load(source, map_location="cpu").eval(),
        tuple(torch.zeros(shape) for shape in shapes.values()),
        target,
        input_names=list(shapes),
        opset_version=17,
        dynamo=False,
    )


if __name__ == "__main__":
    main(*sys.argv[1:])

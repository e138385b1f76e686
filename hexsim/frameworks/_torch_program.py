"""A program of its own: exports the program of torch.export in argv[1] to ONNX in argv[2]."""

import sys


def main(source: str, target: str) -> None:
    """Export `source` to `target`."""
    import torch

    exported = torch.onnx.export(torch.export.load(source), dynamo=True, external_data=False)
    exported.save(target, external_data=False)


if __name__ == "__main__":
    main(*sys.argv[1:])

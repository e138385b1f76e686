"""Reads the architecture of a decoder from whichever file describes it."""

from pathlib import Path

from hexsim.llm.architecture import Architecture, read_architecture


def read_decoder(path: str | Path) -> Architecture:
    """Read a `config.json`, the one in a folder, or an ONNX export (`.onnx`).

    Raises HexsimError naming the file and the key or node that is missing or does not fit.
    """
    if Path(path).suffix.lower() != ".onnx":
        return read_architecture(path)
    from hexsim.llm.onnx_decoder import read_onnx_decoder  # onnx takes long to import

    return read_onnx_decoder(Path(path))

"""A network in an ONNX file becomes bytes, runs on the simulated DSP, and tells its time.

python examples/quickstart.py [MODEL.onnx]
"""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import hexsim
from hexsim import models


def main(file: Path) -> None:
    """Quantise the network, run it once, and print what it cost."""
    model = hexsim.load(file)
    (shape, _), *_ = model.inputs.values()
    random = np.random.default_rng(0)
    photos = [random.random(shape, np.float32) for _ in range(4)]

    quantised = hexsim.quantize(model, photos)
    result = hexsim.simulate(quantised, chip="sd855", runtime="dsp", inputs=photos[0])

    (scores,) = (result.outputs or {}).values()
    print(f"class {scores.argmax()} in {result.total_ms:.2f} ms")
    for layer in result.slowest(5):
        print(f"  {layer.name:24} {layer.us:7.1f} us  {layer.bound}")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(Path(sys.argv[1]))
    else:
        with TemporaryDirectory() as folder:
            built_in = Path(folder) / "squeezenet1_1.onnx"
            models.export("squeezenet1_1", built_in)
            main(built_in)

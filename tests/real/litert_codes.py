"""What the TFLite interpreter computes: run by a Python that has ai-edge-litert, not by pytest.

python litert_codes.py default|reference IMAGES.npy ANSWERS.npz MODEL...

IMAGES are u8 of shape (n, height, width, channels). ANSWERS hold, under the stem of each MODEL's
name, the codes of its first output stacked over the images.
"""

import sys
from pathlib import Path

import numpy as np
from ai_edge_litert.interpreter import Interpreter, OpResolverType

kernels, images, answers, *models = sys.argv[1:]
kinds = {"default": OpResolverType.AUTO, "reference": OpResolverType.BUILTIN_REF}
stacked = {}
for model in models:
    interpreter = Interpreter(model, experimental_op_resolver_type=kinds[kernels])
    interpreter.allocate_tensors()
    (entry,), (end,) = interpreter.get_input_details(), interpreter.get_output_details()
    codes = []
    for image in np.load(images):
        interpreter.set_tensor(entry["index"], image[None])
        interpreter.invoke()
        codes.append(interpreter.get_tensor(end["index"]))
    stacked[Path(model).stem] = np.concatenate(codes)
np.savez(answers, **stacked)

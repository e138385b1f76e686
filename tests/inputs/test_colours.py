"""Bytes of a camera, and back: what is encoded is what the conversion layer decodes."""

import numpy as np
import pytest

from hexsim.inputs.colours import encoded
from hexsim.layers.images import CONVERTED, encoded_shape
from tests.onnx_io.write.emitters.pictures import bgr


@pytest.mark.parametrize("encoding", CONVERTED)
def test_there_and_back(encoding) -> None:
    blocks = np.random.default_rng(2).integers(0, 256, (2, 3, 3), np.uint8)
    rgb = blocks.repeat(2, axis=0).repeat(2, axis=1)  # 2x2 pixels of one colour
    stored = encoded(rgb, encoding)
    assert stored.dtype == np.float32
    assert (1, *stored.shape) == encoded_shape(encoding, (1, 4, 6, 3))
    back = bgr(encoding, stored[np.newaxis])[0]
    # Rounding Y, V and U to whole numbers moves a colour by up to (1.164 + 2.018) / 2.
    assert np.abs(back - rgb[..., ::-1]).max() <= (1.6 if encoding == "nv21" else 0)


def test_grey_has_no_chroma() -> None:
    stored = encoded(np.full((2, 2, 3), 128, np.uint8), "nv21")
    assert stored.ravel().tolist() == [126, 126, 126, 126, 128, 128]

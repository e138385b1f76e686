"""Seeded pictures in every encoding, and what they are in blue, green, red: plain numpy."""

import numpy as np

CHANNELS = {"rgb": 3, "rgba": 4, "argb32": 4}


def picture(encoding, height, width, seed=0, batch=1):
    """Float32 bytes in stored order."""
    shape = (batch, height, width, CHANNELS.get(encoding, 0))
    if encoding == "nv21":
        shape = (batch, height * 3 // 2, width, 1)
    return np.random.default_rng(seed).integers(0, 256, shape).astype(np.float32)


def bgr(encoding, pixels):
    """The picture in blue, green, red, float64, not rounded."""
    if encoding in ("rgb", "rgba"):
        return pixels[..., :3][..., ::-1]
    if encoding == "argb32":  # a little-endian word 0xAARRGGBB
        words = np.ascontiguousarray(pixels.astype(np.uint8)).view("<u4")[..., 0]
        return np.stack([words & 255, words >> 8 & 255, words >> 16 & 255], -1).astype(np.float32)
    height = pixels.shape[1] * 2 // 3
    y = 1.164 * (pixels[:, :height, :, 0].astype(float) - 16)
    chroma = pixels[:, height:].reshape(len(pixels), height // 2, -1, 2).astype(float) - 128
    v, u = np.moveaxis(chroma.repeat(2, axis=1).repeat(2, axis=2), -1, 0)
    colours = (y + 2.018 * u, y - 0.813 * v - 0.391 * u, y + 1.596 * v)
    return np.stack(colours, -1).clip(0, 255).astype(np.float32)

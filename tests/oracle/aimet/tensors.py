"""The tensors that both quantisers are given. Needs numpy only, so that any Python can draw them.

`RandomState` because its streams are frozen: they are the same in every release of numpy.
"""

import math

import numpy as np

COUNTS = (50, 500, 5000)
SCALES = (0.01, 0.3, 100.0)

BITS = {
    "default": (4, 8, 16),
    "symmetric": (4, 8, 16),
    "strict symmetric": (8,),
    "enhanced": (4, 8),
    "enhanced symmetric": (4, 8),
}
"""Modes that are compared, and the bit widths of each."""


def tensors() -> dict[str, np.ndarray]:
    """Five distributions of three sizes at three scales, and the corner cases, float32."""
    drawn: dict[str, np.ndarray] = {
        "zeros": np.zeros(8, np.float32),
        "positive": np.linspace(5, 10, 64, dtype=np.float32),
        "negative": np.linspace(-20, -6, 64, dtype=np.float32),
        "official": np.array([-1.8, -1.0, 0.0, 0.5], np.float32),
        "narrow": np.array([-0.002, 0.0, 0.003], np.float32),
    }
    for seed, count in enumerate(COUNTS):
        state = np.random.RandomState(seed)
        for scale in SCALES:
            shapes = {
                "normal": state.standard_normal(count),
                "rectified": np.maximum(state.standard_normal(count), 0),
                "laplace": state.laplace(size=count) - 0.5 * math.copysign(1, scale - 1),
                "uniform": state.uniform(-1, 1, count) + state.uniform(-1, 1),
                "student": state.standard_t(3, count),
            }
            for name, values in shapes.items():
                drawn[f"{name} {count} {scale:g}"] = (scale * values).astype(np.float32)
    return drawn

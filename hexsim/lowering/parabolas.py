"""Parabolas nearest to a function, piece by piece of 0 .. 1, by the largest error (minimax).

The tables of Hexagon NN for logarithms and powers of two hold such parabolas.
"""

from collections.abc import Callable

import numpy as np

from hexsim.lowering.lowered_call import Real

PIECES = 16
_EXCHANGES = 8
"""Rounds of Remez's exchange, of which smooth functions need three."""
_POINTS = 1 << 12
"""Points of a piece among which the largest errors are looked for."""


def minimax_parabolas(function: Callable[[Real], Real]) -> Real:
    """Return `c`, shape (3, 16): the function at (piece + u) / 16 is about c0 + c1 * u + c2 * u^2.

    The third derivative must have one sign, so that the error is largest at both ends of a piece
    and at two places between them.
    """
    return np.stack([_parabola(function, piece) for piece in range(PIECES)], axis=1)


def _parabola(function: Callable[[Real], Real], piece: int) -> Real:
    u = np.arange(_POINTS + 1) / _POINTS
    values = function((piece + u) / PIECES)
    powers = np.stack([np.ones_like(u), u, u * u], axis=1)
    signs = np.array([1.0, -1.0, 1.0, -1.0])
    places = np.array([0, _POINTS // 4, 3 * _POINTS // 4, _POINTS])
    half = _POINTS // 2
    for _ in range(_EXCHANGES):
        system = np.column_stack([powers[places], signs])
        solution = np.linalg.solve(system, values[places])
        errors = (values - powers @ solution[:3]) * np.sign(solution[3])
        inner = np.argmin(errors[:half]), half + np.argmax(errors[half:])
        places = np.array([0, *inner, _POINTS])
    parabola: Real = solution[:3]
    return parabola

"""Winograd's algorithm in integers: which sums of inputs and of weights are multiplied.

F(4x4, 3x3) of Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks" (2015). In one
dimension, 4 outputs of a kernel of 3 taps g read 6 inputs d, and take 6 products instead of 12:

    SCALE * outputs = OUTPUT_MAP (WEIGHT_MAP g * INPUT_MAP d)         * element by element

In two dimensions the maps apply along both, 36 products take the place of 144, and the scale is
SCALE * SCALE. The published weight map has fractions; here each of its rows is multiplied by what
makes it integer, and the columns of the output map by what is then missing to SCALE.

A product belongs to a point at which the polynomials that d and g stand for are evaluated: 0, 1 and
-1, 2 and -2, infinity. Points of opposite sign share an even and an odd half, of which one is the
sum and the other the difference. The maps are written with the halves in the places of the pair;
`winograd.transform` does the sums and differences.
"""

from hexsim.int8.machine_code.inner_loops.square_maps import Map

KERNEL = 3
"""Taps in each dimension."""
OUTPUTS = 4
"""Outputs of a tile in each dimension."""
POINTS = OUTPUTS + KERNEL - 1
"""Inputs of a tile, and products, in each dimension."""
SQUARES = POINTS * POINTS
"""Products for a tile."""

INPUT_MAP: Map = (
    (4, 0, -5, 0, 1, 0),
    (0, 0, -4, 0, 1, 0),
    (0, -4, 0, 1, 0, 0),
    (0, 0, -1, 0, 1, 0),
    (0, -2, 0, 2, 0, 0),
    (0, 4, 0, -5, 0, 1),
)
"""Then rows 1 and 2, and 3 and 4, are replaced by their sum and difference."""
WEIGHT_MAP: Map = ((1, 0, 0), (1, 0, 1), (0, 1, 0), (1, 0, 4), (0, 2, 0), (0, 0, 1))
"""Rows 1 and 2, and 3 and 4, are then replaced likewise."""
OUTPUT_MAP: Map = (
    (6, -4, 0, 1, 0, 0),
    (0, 0, -4, 0, 2, 0),
    (0, -4, 0, 4, 0, 0),
    (0, 0, -4, 0, 8, 24),
)
"""Applied to products of which 1 and 2, and 3 and 4, have been replaced likewise."""

SCALE = 24
SHIFT = 6
"""SCALE^2 = 576 is 9 * 2^6."""
INVERSE = pow(SCALE**2 >> SHIFT, -1, 1 << 32)
"""Times 9, it is 1 modulo 2^32."""
LIMIT = 1 << (31 - SHIFT)
"""A sum smaller than this in size is what 576 times it, modulo 2^32, times INVERSE, modulo 2^32,
shifted right by SHIFT gives: the second is 64 times the sum and fits int32."""

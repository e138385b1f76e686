"""The maps of `winograd.maps` on tiles in memory; arguments are those of `square_maps`."""

from hexsim.int8.machine_code.inner_loops import square_maps
from hexsim.int8.winograd.maps import INPUT_MAP, INVERSE, OUTPUT_MAP, SHIFT, WEIGHT_MAP

CHANNELS = square_maps.CHANNELS
"""Input channels that are transformed together."""

transform_codes = square_maps.of_codes(INPUT_MAP)
"""Inputs of a tile, POINTS by POINTS, to SQUARES vectors of int16. They fit: the coefficients of a
point are at most 10 in sum, and 10 * 10 * 255 < 2^15."""
transform_weights = square_maps.of_weights(WEIGHT_MAP)
"""Weights, KERNEL by KERNEL, to SQUARES vectors of int16. They fit: the coefficients of a point are
at most 7 in sum, and 7 * 7 * 255 < 2^15."""
sums_of_products = square_maps.of_products(OUTPUT_MAP, INVERSE, SHIFT)
"""Products of a tile, POINTS by POINTS, to sums, OUTPUTS by OUTPUTS."""

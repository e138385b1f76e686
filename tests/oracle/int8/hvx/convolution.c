// Dense convolution, four pixels by a slice of 32 output channels at a time.
//
// Unsigned weights take the form of V60: weights as vectors, four channels of a pixel as a scalar,
// and the sum of the activations times the weights' zero point subtracted at the end. Signed
// weights take splat activations instead.
// Sections: pixels [sheet][row][column][32], weights [slice][ky][kx][sheet][8][32 outputs][4],
// preload, multipliers and shifts [slice][32]. Result: [slice][row][column][32].
#include "hvx.h"

struct shape {
  int sheets, rows, columns;         // of the padded input; whole vectors
  int kernel[2], stride[2], step[2]; // (rows, columns); step: dilation
  int out_rows, out_columns, slices; // columns: a multiple of 4
  int weight_zero, is_signed, low, high;
};

static int pixel_sums[1 << 16] __attribute__((aligned(128)));

// Sum over all channels, for every pixel of the input.
static void sum_channels(const unsigned char *pixels, const struct shape *s) {
  const int count = s->rows * s->columns;
  for (int i = 0; i < count; i += 4) {
    V sum = Q6_V_vzero();
    for (int sheet = 0; sheet < s->sheets; sheet++) {
      V four = *(const V *)(pixels + (sheet * count + i) * 32);
      sum = Q6_Vuw_vrmpyacc_VuwVubRub(sum, four, 0x01010101);
    }
    for (int bytes = 4; bytes < 32; bytes *= 2)
      sum = Q6_Vw_vadd_VwVw(sum, Q6_V_vror_VR(sum, bytes));
    int words[WORDS] __attribute__((aligned(128)));
    *(V *)words = sum;
    for (int p = 0; p < 4; p++) pixel_sums[i + p] = words[8 * p];
  }
}

static int window_sum(const struct shape *s, int row, int column) {
  int sum = 0;
  for (int ky = 0; ky < s->kernel[0]; ky++)
    for (int kx = 0; kx < s->kernel[1]; kx++)
      sum += pixel_sums[(row + ky * s->step[0]) * s->columns + column + kx * s->step[1]];
  return sum;
}

// The dots of one tile: input (row, column) is the first tap of its first pixel.
static void tile(V acc[4], const struct shape *s, const unsigned char *pixels, const V *weights,
                 int row, int column) {
  for (int ky = 0; ky < s->kernel[0]; ky++)
    for (int kx = 0; kx < s->kernel[1]; kx++)
      for (int sheet = 0; sheet < s->sheets; sheet++) {
        const int y = sheet * s->rows + row + ky * s->step[0], x = column + kx * s->step[1];
        const int *first = (const int *)(pixels + (y * s->columns + x) * 32);
        for (int k = 0; k < 8; k++, weights++)
          for (int p = 0; p < 4; p++) {
            const int four_channels = first[p * s->stride[1] * 8 + k];
            acc[p] = s->is_signed
                         ? Q6_Vw_vrmpyacc_VwVubVb(acc[p], Q6_V_vsplat_R(four_channels), *weights)
                         : Q6_Vuw_vrmpyacc_VuwVubRub(acc[p], *weights, four_channels);
          }
      }
}

static int kernel(const struct record *r) {
  const struct shape *s = (const struct shape *)r->argument;
  const unsigned char *pixels = section(r, 0);
  const V *weights = section(r, 1), *preload = section(r, 2);
  const V *multiplier = section(r, 3), *shift = section(r, 4);
  V *out = (V *)result;
  if (s->rows * s->columns > (int)(sizeof pixel_sums / sizeof *pixel_sums)) rt_exit(95);
  if (!s->is_signed) sum_channels(pixels, s);
  for (int slice = 0; slice < s->slices; slice++) {
    struct tail t = {multiplier[slice], shift[slice], bytes_of(s->low), bytes_of(s->high)};
    const V *own = weights + slice * s->kernel[0] * s->kernel[1] * s->sheets * 8;
    for (int oy = 0; oy < s->out_rows; oy++)
      for (int ox = 0; ox < s->out_columns; ox += 4) {
        const int row = oy * s->stride[0], column = ox * s->stride[1];
        V acc[4] = {preload[slice], preload[slice], preload[slice], preload[slice]};
        tile(acc, s, pixels, own, row, column);
        if (!s->is_signed)
          for (int p = 0; p < 4; p++) {
            const int sum = window_sum(s, row, column + p * s->stride[1]);
            acc[p] = Q6_Vw_vsub_VwVw(acc[p], Q6_V_vsplat_R(s->weight_zero * sum));
          }
        *out++ = requantised(acc, &t);
      }
  }
  return (unsigned char *)out - result;
}

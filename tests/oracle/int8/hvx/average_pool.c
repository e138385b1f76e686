// Average pooling with any window: words are summed pixel by pixel, every pixel has its own
// constants. Padding is the code of real zero.
// Sections: pixels [sheet][row][column][32]; preload, multiplier and shift of each pixel.
// Result: [sheet][row][column][32].
#include "hvx.h"

struct shape {
  int sheets, rows, columns; // of the padded input
  int kernel[2], stride[2], step[2];
  int out_rows, out_columns, low, high;
};

static int kernel(const struct record *r) {
  const struct shape *s = (const struct shape *)r->argument;
  const unsigned char *pixels = section(r, 0);
  const int *preload = section(r, 1), *multiplier = section(r, 2), *shift = section(r, 3);
  unsigned char *out = result;
  for (int sheet = 0; sheet < s->sheets; sheet++)
    for (int oy = 0; oy < s->out_rows; oy++)
      for (int ox = 0; ox < s->out_columns; ox++, out += 32) {
        const int at = oy * s->out_columns + ox;
        V sum = Q6_V_vsplat_R(preload[at]);
        for (int ky = 0; ky < s->kernel[0]; ky++)
          for (int kx = 0; kx < s->kernel[1]; kx++) {
            const int y = sheet * s->rows + oy * s->stride[0] + ky * s->step[0];
            const int x = ox * s->stride[1] + kx * s->step[1];
            sum = Q6_Vw_vadd_VwVw(sum, words_of(pixels + (y * s->columns + x) * 32));
          }
        struct tail t = {Q6_V_vsplat_R(multiplier[at]), Q6_V_vsplat_R(shift[at]),
                         bytes_of(s->low), bytes_of(s->high)};
        V four[4] = {sum, sum, sum, sum};
        V codes = requantised(four, &t);
        for (int i = 0; i < 32; i++) out[i] = ((unsigned char *)&codes)[i];
      }
  return out - result;
}

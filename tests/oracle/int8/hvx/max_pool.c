// Max pooling 2x2 and 3x3, stride 1 or 2, four pixels by a sheet of 32 channels at a time: first
// the rows of the window, then its columns. Padding is code 0, which never wins.
// Section: pixels [sheet][row][column][32]. Result: [sheet][row][column][32].
#include "hvx.h"

struct shape {
  int sheets, rows, columns; // of the padded input; columns a multiple of 4
  int window, stride, out_rows, out_columns;
};

static inline V largest(V a, V b) { return Q6_Vub_vmax_VubVub(a, b); }

static inline V of_rows(const unsigned char *first, const struct shape *s) {
  V best = *(const V *)first;
  for (int ky = 1; ky < s->window; ky++)
    best = largest(best, *(const V *)(first + ky * s->columns * 32));
  return best;
}

static int kernel(const struct record *r) {
  const struct shape *s = (const struct shape *)r->argument;
  const unsigned char *pixels = section(r, 0);
  V *out = (V *)result;
  for (int sheet = 0; sheet < s->sheets; sheet++)
    for (int oy = 0; oy < s->out_rows; oy++)
      for (int ox = 0; ox < s->out_columns; ox += 4) {
        const int y = sheet * s->rows + oy * s->stride;
        const unsigned char *x = pixels + (y * s->columns + ox * s->stride) * 32;
        V a = of_rows(x, s), b = of_rows(x + VECTOR, s);
        V first = a, second, third;
        if (s->stride == 1) {
          second = Q6_V_valign_VVR(b, a, 32);
          third = Q6_V_valign_VVR(b, a, 64);
        } else { // even pixels, odd pixels, even pixels from the second on
          W apart = Q6_W_vdeal_VVR(b, a, -32);
          first = Q6_V_lo_W(apart);
          second = Q6_V_hi_W(apart);
          third = Q6_V_valign_VVR(of_rows(x + 2 * VECTOR, s), first, 32);
        }
        V best = largest(first, second);
        *out++ = s->window == 3 ? largest(best, third) : best;
      }
  return (unsigned char *)out - result;
}

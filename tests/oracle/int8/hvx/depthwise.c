// Depthwise 3x3, stride 1 or 2, four pixels by a sheet of 32 channels at a time.
//
// Two byte shuffles turn four pixels of 32 channels into 32 words of four pixels; one dot with the
// word (w0, w1, w2, 0) is a filter row. Words two pixels further are put together by shifts. The
// zero point of unsigned weights is a dot with a scalar, subtracted at the end.
// Sections: pixels [sheet][row][column][32], weights [sheet][3][32 channels][4], preload,
// multipliers and shifts [sheet][32]. Result: [sheet][row][column][32].
#include "hvx.h"

struct shape {
  int sheets, rows, columns; // of the padded input; columns a multiple of 4
  int stride, out_rows, out_columns;
  int weight_zero, is_signed, low, high;
};

static inline V by_channel(V four_pixels) {
  return Q6_Vb_vshuff_Vb(Q6_Vb_vshuff_Vb(four_pixels));
}

// Pixels 2 and 3 of one word, 0 and 1 of the next.
static inline V between(V word, V next) {
  return Q6_V_vor_VV(Q6_Vuw_vlsr_VuwR(word, 16), Q6_Vw_vasl_VwR(next, 16));
}

// Three taps from pixel 0 of the word (moved: from pixel 1).
static inline void filter_row(V *acc, V *zero, V word, V taps, int moved, const struct shape *s) {
  const int zeros = (s->weight_zero * 0x010101) << (moved ? 8 : 0);
  if (moved) taps = Q6_Vw_vasl_VwR(taps, 8);
  if (s->is_signed) {
    *acc = Q6_Vw_vrmpyacc_VwVubVb(*acc, word, taps);
  } else {
    *acc = Q6_Vuw_vrmpyacc_VuwVubVub(*acc, word, taps);
    *zero = Q6_Vuw_vrmpyacc_VuwVubRub(*zero, word, zeros);
  }
}

static int kernel(const struct record *r) {
  const struct shape *s = (const struct shape *)r->argument;
  const unsigned char *pixels = section(r, 0);
  const V *weights = section(r, 1), *preload = section(r, 2);
  const V *multiplier = section(r, 3), *shift = section(r, 4);
  V *out = (V *)result;
  for (int sheet = 0; sheet < s->sheets; sheet++) {
    struct tail t = {multiplier[sheet], shift[sheet], bytes_of(s->low), bytes_of(s->high)};
    for (int oy = 0; oy < s->out_rows; oy++)
      for (int ox = 0; ox < s->out_columns; ox += 4) {
        V acc[4], zero[4];
        for (int p = 0; p < 4; p++) acc[p] = preload[sheet], zero[p] = Q6_V_vzero();
        for (int ky = 0; ky < 3; ky++) {
          const int y = sheet * s->rows + oy * s->stride + ky;
          const V *x = (const V *)(pixels + (y * s->columns + ox * s->stride) * 32);
          V taps = weights[sheet * 3 + ky], a = by_channel(x[0]), b = by_channel(x[1]);
          if (s->stride == 1) {
            for (int moved = 0; moved < 2; moved++) {
              filter_row(acc + moved, zero + moved, a, taps, moved, s);
              filter_row(acc + 2 + moved, zero + 2 + moved, between(a, b), taps, moved, s);
            }
          } else {
            V c = by_channel(x[2]);
            V words[4] = {a, between(a, b), b, between(b, c)};
            for (int p = 0; p < 4; p++) filter_row(acc + p, zero + p, words[p], taps, 0, s);
          }
        }
        for (int p = 0; p < 4; p++) acc[p] = Q6_Vw_vsub_VwVw(acc[p], zero[p]);
        *out++ = requantised(acc, &t);
      }
  }
  return (unsigned char *)out - result;
}

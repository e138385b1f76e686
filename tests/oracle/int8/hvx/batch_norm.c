// A signed 16-bit factor and a shift per channel, four pixels by a sheet of 32 channels at a time.
// Sections: pixels [sheet][pixel][32], factors in the upper halves of words, preload, multipliers
// and shifts, all [sheet][32]. Result: [sheet][pixel][32].
#include "hvx.h"

struct shape {
  int sheets, pixels, zero, low, high; // pixels a multiple of 4
};

static int kernel(const struct record *r) {
  const struct shape *s = (const struct shape *)r->argument;
  const unsigned char *pixel = section(r, 0);
  const V *factor = section(r, 1), *preload = section(r, 2);
  const V *multiplier = section(r, 3), *shift = section(r, 4);
  V *out = (V *)result, zero = Q6_V_vsplat_R(s->zero);
  for (int sheet = 0; sheet < s->sheets; sheet++) {
    struct tail t = {multiplier[sheet], shift[sheet], bytes_of(s->low), bytes_of(s->high)};
    for (int i = 0; i < s->pixels; i += 4) {
      V acc[4];
      for (int p = 0; p < 4; p++, pixel += 32) {
        V distance = Q6_Vw_vsub_VwVw(words_of(pixel), zero);
        acc[p] = Q6_Vw_vadd_VwVw(preload[sheet], Q6_Vw_vmpyio_VwVh(distance, factor[sheet]));
      }
      *out++ = requantised(acc, &t);
    }
  }
  return (unsigned char *)out - result;
}

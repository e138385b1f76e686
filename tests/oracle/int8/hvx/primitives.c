// Single steps of the arithmetic, one vector of lanes at a time.
// Sections: the operands, then (where it accumulates) the accumulators. Arguments: step, vectors.
#include "hvx.h"

enum step {
  SCALE, SHIFT_LEFT, REQUANTISE, DOT_UB_RUB, DOT_UB_UB, DOT_UB_B, MULTIPLY_HALVES
};

static int kernel(const struct record *r) {
  const int vectors = r->argument[1];
  const V *a = section(r, 0), *b = section(r, 1), *c = section(r, 2);
  V *out = (V *)result;
  switch ((enum step)r->argument[0]) {
  case SCALE: // words a times words b
    for (int i = 0; i < vectors; i++) out[i] = scale(a[i], b[i]);
    return vectors * VECTOR;
  case SHIFT_LEFT: // words a by words b
    for (int i = 0; i < vectors; i++) out[i] = shift_left_saturating(a[i], b[i]);
    return vectors * VECTOR;
  case REQUANTISE: // words a, multipliers b, shifts c: the whole tail, one code per word
    for (int i = 0; i < vectors; i++) {
      struct tail t = {b[i], c[i], bytes_of(r->argument[2]), bytes_of(r->argument[3])};
      V four[4] = {a[i], a[i], a[i], a[i]};
      out[i] = requantised(four, &t);
    }
    return vectors * VECTOR;
  case DOT_UB_RUB: // bytes a by the first word of b, onto words c
    for (int i = 0; i < vectors; i++)
      out[i] = Q6_Vuw_vrmpyacc_VuwVubRub(c[i], a[i], *(const int *)(b + i));
    return vectors * VECTOR;
  case DOT_UB_UB:
    for (int i = 0; i < vectors; i++) out[i] = Q6_Vuw_vrmpyacc_VuwVubVub(c[i], a[i], b[i]);
    return vectors * VECTOR;
  case DOT_UB_B:
    for (int i = 0; i < vectors; i++) out[i] = Q6_Vw_vrmpyacc_VwVubVb(c[i], a[i], b[i]);
    return vectors * VECTOR;
  case MULTIPLY_HALVES: // halfwords a by halfwords b onto c: even products, then odd ones
    for (int i = 0; i < vectors; i++) {
      W sums = Q6_Ww_vmpyacc_WwVhVh(Q6_W_vcombine_VV(c[i], c[i]), a[i], b[i]);
      out[2 * i] = Q6_V_lo_W(sums);
      out[2 * i + 1] = Q6_V_hi_W(sums);
    }
    return 2 * vectors * VECTOR;
  }
  rt_exit(94);
}

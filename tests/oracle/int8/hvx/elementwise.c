// Sum of operands at a common scale, or their product, with one requantise; 128 codes at a time.
// A sum of one operand is a rescale.
// Sections: the operands, each `vectors` long. Result: as long.
#include "hvx.h"

enum { MOST = 4 };

struct shape {
  int vectors, operands, is_product;
  int preload, multiplier, shift, low, high;
  int zero[MOST], factor[MOST];
};

static inline V halves(int value) { return Q6_V_vsplat_R((value & 0xffff) * 0x10001); }

// Distances from zero: even bytes as halfwords, then odd ones.
static inline W distances(V codes, int zero) {
  W wide = Q6_Wuh_vzxt_Vub(codes);
  V z = halves(zero);
  return Q6_W_vcombine_VV(Q6_Vh_vsub_VhVh(Q6_V_hi_W(wide), z),
                          Q6_Vh_vsub_VhVh(Q6_V_lo_W(wide), z));
}

static inline W add(W sums, V distance, int factor) {
  return Q6_Ww_vmpyacc_WwVhVh(sums, distance, halves(factor));
}

// The third factor of a product: low 32 bits, even and odd halfwords in turn.
static inline W times(W words, V distance) {
  return Q6_W_vcombine_VV(Q6_Vw_vmpyio_VwVh(Q6_V_hi_W(words), distance),
                          Q6_Vw_vmpyio_VwVh(Q6_V_lo_W(words), Q6_Vw_vasl_VwR(distance, 16)));
}

static int kernel(const struct record *r) {
  const struct shape *s = (const struct shape *)r->argument;
  V *out = (V *)result, preload = Q6_V_vsplat_R(s->preload);
  struct tail t = {Q6_V_vsplat_R(s->multiplier), Q6_V_vsplat_R(s->shift), bytes_of(s->low),
                   bytes_of(s->high)};
  for (int i = 0; i < s->vectors; i++) {
    W even = Q6_W_vcombine_VV(preload, preload), odd = even, d[MOST];
    for (int k = 0; k < s->operands; k++)
      d[k] = distances(((const V *)section(r, k))[i], s->zero[k]);
    if (s->is_product) {
      even = Q6_Ww_vmpy_VhVh(Q6_V_lo_W(d[0]), Q6_V_lo_W(d[1]));
      odd = Q6_Ww_vmpy_VhVh(Q6_V_hi_W(d[0]), Q6_V_hi_W(d[1]));
      for (int k = 2; k < s->operands; k++) {
        even = times(even, Q6_V_lo_W(d[k]));
        odd = times(odd, Q6_V_hi_W(d[k]));
      }
      W start = Q6_W_vcombine_VV(preload, preload);
      even = Q6_Ww_vadd_WwWw(even, start);
      odd = Q6_Ww_vadd_WwWw(odd, start);
    } else {
      for (int k = 0; k < s->operands; k++) {
        even = add(even, Q6_V_lo_W(d[k]), s->factor[k]);
        odd = add(odd, Q6_V_hi_W(d[k]), s->factor[k]);
      }
    }
    V of_even = Q6_Vh_vsat_VwVw(scaled(Q6_V_hi_W(even), &t), scaled(Q6_V_lo_W(even), &t));
    V of_odd = Q6_Vh_vsat_VwVw(scaled(Q6_V_hi_W(odd), &t), scaled(Q6_V_lo_W(odd), &t));
    out[i] = clamped(Q6_Vub_vsat_VhVh(of_odd, of_even), &t);
  }
  return s->vectors * VECTOR;
}

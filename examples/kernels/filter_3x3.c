// A 3x3 filter of bytes with one weight for each of its nine places, along three rows of an image.
#include "kernels.h"

void filter_3x3(const HVX_Vector *rows[3], const int weights[9], HVX_Vector *out, int vectors) {
  HVX_Vector left[3] = {rows[0][0], rows[1][0], rows[2][0]};
  for (int i = 0; i < vectors; ++i) {
    HVX_VectorPair sum = Q6_W_vcombine_VV(Q6_V_vzero(), Q6_V_vzero());
#pragma clang loop unroll(full)
    for (int row = 0; row < 3; ++row) {
      HVX_Vector right = rows[row][i + 1];
      HVX_Vector middle = Q6_V_valign_VVI(right, left[row], 1);
      sum = Q6_Wh_vmpyacc_WhVubRb(sum, left[row], weights[3 * row]);
      sum = Q6_Wh_vmpyacc_WhVubRb(sum, middle, weights[3 * row + 1]);
      sum = Q6_Wh_vmpyacc_WhVubRb(sum, Q6_V_valign_VVI(right, left[row], 2), weights[3 * row + 2]);
      left[row] = right;
    }
    HVX_Vector even = Q6_V_lo_W(sum), odd = Q6_V_hi_W(sum);
    out[i] = Q6_Vub_vasr_VhVhR_rnd_sat(odd, even, 4);
  }
}

// Transposes blocks of 4 x 4 words, 32 rows of which lie in each vector.
#include "kernels.h"

void transpose(const HVX_Vector *in, HVX_Vector *out, int blocks) {
  for (int i = 0; i < blocks; ++i, in += 4, out += 4) {
    HVX_VectorPair first = Q6_W_vshuff_VVR(in[1], in[0], -4);
    HVX_VectorPair second = Q6_W_vshuff_VVR(in[3], in[2], -4);
    HVX_VectorPair even = Q6_W_vshuff_VVR(Q6_V_lo_W(second), Q6_V_lo_W(first), -8);
    HVX_VectorPair odd = Q6_W_vshuff_VVR(Q6_V_hi_W(second), Q6_V_hi_W(first), -8);
    out[0] = Q6_V_lo_W(even);
    out[1] = Q6_V_hi_W(even);
    out[2] = Q6_V_lo_W(odd);
    out[3] = Q6_V_hi_W(odd);
  }
}

// A function of a byte, such as its exponential, from a table of 256 bytes: eight look-ups of 32.
#include "kernels.h"

void exp_table(const HVX_Vector *in, const HVX_Vector table[2], HVX_Vector *out, int vectors) {
  HVX_Vector low = Q6_Vb_vshuff_Vb(table[0]), high = Q6_Vb_vshuff_Vb(table[1]);
  for (int i = 0; i < vectors; ++i) {
    HVX_Vector x = in[i];
    HVX_Vector y = Q6_Vb_vlut32_VbVbR(x, low, 0);
    y = Q6_Vb_vlut32or_VbVbVbR(y, x, low, 1);
    y = Q6_Vb_vlut32or_VbVbVbR(y, x, low, 2);
    y = Q6_Vb_vlut32or_VbVbVbR(y, x, low, 3);
    y = Q6_Vb_vlut32or_VbVbVbR(y, x, high, 4);
    y = Q6_Vb_vlut32or_VbVbVbR(y, x, high, 5);
    y = Q6_Vb_vlut32or_VbVbVbR(y, x, high, 6);
    out[i] = Q6_Vb_vlut32or_VbVbVbR(y, x, high, 7);
  }
}

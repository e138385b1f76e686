// Adds up bytes: in words along the vectors, then across one vector.
#include "kernels.h"

int reduce(const HVX_Vector *bytes, HVX_Vector *scratch, int vectors) {
  HVX_Vector sum = Q6_V_vzero();
  for (int i = 0; i < vectors; ++i)
    sum = Q6_Vuw_vrmpyacc_VuwVubRub(sum, bytes[i], 0x01010101);
  for (int step = 64; step >= 4; step /= 2)
    sum = Q6_Vw_vadd_VwVw(sum, Q6_V_vror_VR(sum, step));
  *scratch = sum;
  return *(int *)scratch;
}

// The dot product of unsigned and signed bytes, 32 sums side by side.
#include "kernels.h"

void dot(const HVX_Vector *a, const HVX_Vector *b, HVX_Vector *sums, int vectors) {
  HVX_Vector sum = Q6_V_vzero();
  for (int i = 0; i < vectors; ++i)
    sum = Q6_Vw_vrmpyacc_VwVubVb(sum, a[i], b[i]);
  *sums = sum;
}

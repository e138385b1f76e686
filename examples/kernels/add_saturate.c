// Adds unsigned bytes; sums above 255 become 255.
#include "kernels.h"

void add_saturate(const HVX_Vector *a, const HVX_Vector *b, HVX_Vector *sum, int vectors) {
  for (int i = 0; i < vectors; ++i)
    sum[i] = Q6_Vub_vadd_VubVub_sat(a[i], b[i]);
}

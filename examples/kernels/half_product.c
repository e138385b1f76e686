// Products of half floats, from V68 on; before it, of halfwords with a fraction of 15 bits.
// -DBY_TWO computes two at a time: both products before either is stored.
#include "kernels.h"

static inline HVX_Vector times(HVX_Vector a, HVX_Vector b) {
#if __HVX_ARCH__ >= 68
  return Q6_Vhf_equals_Vqf16(Q6_Vqf16_vmpy_VhfVhf(a, b));
#else
  return Q6_Vh_vmpy_VhVh_s1_rnd_sat(a, b);
#endif
}

void half_product(const HVX_Vector *a, const HVX_Vector *b, HVX_Vector *product, int vectors) {
#ifdef BY_TWO
  for (int i = 0; i < vectors; i += 2) {
    HVX_Vector first = times(a[i], b[i]), second = times(a[i + 1], b[i + 1]);
    product[i] = first;
    product[i + 1] = second;
  }
#else
  for (int i = 0; i < vectors; ++i)
    product[i] = times(a[i], b[i]);
#endif
}

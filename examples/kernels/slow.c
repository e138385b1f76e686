// Bad on purpose: every step of a sum waits for the one before it, and passes through memory.
#include "kernels.h"

void slow(const HVX_Vector *in, volatile HVX_Vector *sum, int vectors) {
  for (int i = 0; i < vectors; ++i)
    *sum = Q6_V_vror_VR(Q6_Vw_vmpyie_VwVuh(*sum, in[i]), 4);
}

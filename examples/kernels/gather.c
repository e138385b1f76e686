// Gathers halfwords of a table in VTCM by their distances from its beginning.
#include "kernels.h"

void gather(const HVX_Vector *distances, int table, int bytes, HVX_Vector *in_vtcm,
            HVX_Vector *out, int vectors) {
  for (int i = 0; i < vectors; ++i) {
    Q6_vgather_ARMVh(in_vtcm, table, bytes - 1, distances[i]);
    out[i] = *(volatile HVX_Vector *)in_vtcm;
  }
}

// What the measured loops of hvx_kernels.csv compute: a vector of each operand, one result.
#include <hexagon_protos.h>
#include <hexagon_types.h>

#define LOOP(name, Result, operation)                                                       \
  void name(const HVX_Vector *restrict a, const HVX_Vector *restrict b, Result *restrict c, \
            int vectors) {                                                                  \
    for (int i = 0; i < vectors; ++i)                                                       \
      c[i] = operation(a[i], b[i]);                                                         \
  }

LOOP(vrmpy, HVX_Vector, Q6_Vuw_vrmpy_VubVub)
LOOP(vmpy, HVX_VectorPair, Q6_Wh_vmpy_VubVb)
LOOP(vadd, HVX_VectorPair, Q6_Wh_vadd_VubVub)

// Copies vectors: one load and one store for each.
#include "kernels.h"

void copy(const HVX_Vector *from, HVX_Vector *to, int vectors) {
  for (int i = 0; i < vectors; ++i)
    to[i] = from[i];
}

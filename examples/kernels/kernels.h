// What the kernels of this folder share: a vector type and the intrinsics of HVX.
#include <hexagon_protos.h>
#include <hexagon_types.h>

#if __HVX_ARCH__ < 65
typedef long HVX_Vector __attribute__((__vector_size__(128)));
typedef long HVX_VectorPair __attribute__((__vector_size__(256)));
#endif

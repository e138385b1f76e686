// Freestanding run-time for HVX test programs under qemu-hexagon (linux-user).
// No libc. Every test program defines `int main(void)`.
#ifndef RUNTIME_H
#define RUNTIME_H
#include <stdint.h>
#include <stddef.h>
#include <hexagon_types.h>
#include <hexagon_protos.h>

// clang-19's hexagon_types.h only defines HVX_Vector for __HVX_ARCH__ >= 65,
// while hvx_hexagon_protos.h has macros from v60 on: supply the types.
#if __HVX_ARCH__ < 65
typedef long HVX_Vector __attribute__((__vector_size__(128), aligned(128)));
typedef long HVX_VectorPair __attribute__((__vector_size__(256), aligned(128)));
typedef long HVX_VectorPred __attribute__((__vector_size__(128), aligned(128)));
#endif
typedef long HVX_UVec __attribute__((__vector_size__(128), aligned(1)));

static inline long rt_sys3(long n, long a, long b, long c) {
  register long r0 __asm__("r0") = a;
  register long r1 __asm__("r1") = b;
  register long r2 __asm__("r2") = c;
  register long r6 __asm__("r6") = n;
  __asm__ volatile("trap0(#1)" : "+r"(r0) : "r"(r1), "r"(r2), "r"(r6) : "memory");
  return r0;
}
static inline void rt_exit(int c) { rt_sys3(94, c, 0, 0); __builtin_unreachable(); }
static inline void rt_write(const void *p, long n) {
  const char *q = (const char *)p;
  while (n > 0) { long k = rt_sys3(64, 1, (long)q, n); if (k <= 0) rt_exit(90); q += k; n -= k; }
}
static inline long rt_read(void *p, long n) {          // bytes read (short only at EOF)
  char *q = (char *)p; long got = 0;
  while (got < n) { long k = rt_sys3(63, 0, (long)q, n - got); if (k < 0) rt_exit(91); if (!k) break; q += k; got += k; }
  return got;
}
int main(void);
__asm__(".text\n.globl _start\n_start:\n"
        "  { r29 = and(r29, #-128) }\n  { call main }\n  { r6 = #94 }\n  { trap0(#1) }\n");
#endif

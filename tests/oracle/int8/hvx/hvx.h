// What the judged kernels share: how cases come in and go out, and the tail that turns
// accumulators into codes (docs/arithmetic.md, "Requantise").
//
// A case is 128 bytes of integers (struct record) and a blob of sections, each 128-byte aligned.
// Every program runs case after case until its input ends, and writes what `kernel` made.
#ifndef HVX_H
#define HVX_H
#include "runtime.h"

typedef HVX_Vector V;
typedef HVX_VectorPair W;

enum { VECTOR = 128, WORDS = 32 };

struct record {
  int bytes;        // of the blob
  int section[7];   // offsets in the blob
  int argument[24]; // of the kernel
};

static unsigned char blob[1 << 22] __attribute__((aligned(128)));
static unsigned char result[1 << 20] __attribute__((aligned(128)));

// Fills `result`, returns its bytes. `section` i of the case begins at blob + r->section[i].
static int kernel(const struct record *r);

static inline const void *section(const struct record *r, int i) { return blob + r->section[i]; }

int main(void) {
  static struct record r;
  while (rt_read(&r, sizeof r) == sizeof r) {
    if (r.bytes > (int)sizeof blob || rt_read(blob, r.bytes) != r.bytes) rt_exit(92);
    int bytes = kernel(&r);
    if (bytes > (int)sizeof result) rt_exit(93);
    rt_write(result, bytes);
  }
  return 0;
}

// x << shift per lane, limited to int32: HVX has no such instruction for words.
static inline V shift_left_saturating(V x, V shift) {
  V shifted = Q6_Vw_vasl_VwVw(x, shift);
  V limit = Q6_V_vxor_VV(Q6_Vw_vasr_VwR(x, 31), Q6_V_vsplat_R(0x7fffffff));
  return Q6_V_vmux_QVV(Q6_Q_vcmp_eq_VwVw(Q6_Vw_vasr_VwVw(shifted, shift), x), shifted, limit);
}

// (x * multiplier + 2^30) >> 31, limited to int32.
static inline V scale(V x, V multiplier) {
  V low = Q6_Vw_vmpye_VwVuh(x, multiplier);
  return Q6_Vw_vmpyoacc_VwVwVh_s1_rnd_sat_shift(low, x, multiplier);
}

struct tail {
  V multiplier, shift; // per word
  V low, high;         // per byte
};

static inline V bytes_of(int code) { return Q6_V_vsplat_R(code * 0x01010101); }

static inline V scaled(V accumulator, const struct tail *t) {
  return scale(shift_left_saturating(accumulator, t->shift), t->multiplier);
}

static inline V clamped(V codes, const struct tail *t) {
  return Q6_Vub_vmax_VubVub(Q6_Vub_vmin_VubVub(codes, t->high), t->low);
}

// 32 channels of a pixel, at any address, as words.
static inline V words_of(const unsigned char *pixel) {
  V codes = *(const HVX_UVec *)pixel;
  V halves = Q6_V_lo_W(Q6_Wuh_vunpack_Vub(codes));
  return Q6_V_lo_W(Q6_Wuw_vunpack_Vuh(halves));
}

// Four vectors of words become the codes of four pixels, 32 channels each.
static inline V requantised(const V accumulator[4], const struct tail *t) {
  V first = Q6_Vh_vpack_VwVw_sat(scaled(accumulator[1], t), scaled(accumulator[0], t));
  V second = Q6_Vh_vpack_VwVw_sat(scaled(accumulator[3], t), scaled(accumulator[2], t));
  return clamped(Q6_Vub_vpack_VhVh_sat(second, first), t);
}
#endif

// Loops of quantised-network kernels in HVX intrinsics, 128-byte mode. clang's schedules of their
// inner loops are the upper bound for ours (reference_loops.py); nothing here is executed.
#include "runtime.h"
typedef HVX_Vector V;
typedef HVX_VectorPair W;
#define KERNEL __attribute__((noinline)) void
#ifndef UNROLL
#define UNROLL 1
#endif
#define PRAGMA(x) _Pragma(#x)
#define UNROLLED(n) PRAGMA(clang loop unroll_count(n))

static inline V requantise(V acc, V mult) {
  return Q6_Vw_vmpyoacc_VwVwVh_s1_rnd_sat_shift(Q6_Vw_vmpye_VwVuh(acc, mult), acc, mult);
}
static inline V requantise4(V a, V b, V c, V d, V mult) {
  V low = Q6_Vh_vpack_VwVw_sat(requantise(b, mult), requantise(a, mult));
  V high = Q6_Vh_vpack_VwVw_sat(requantise(d, mult), requantise(c, mult));
  return Q6_Vub_vpack_VhVh_sat(high, low);
}

// 4 pixels x 32 channels, weights as vectors, activations as scalars
KERNEL conv_scalar(const uint8_t *x, const V *w, V bias, V *out, int pitch, int depth, int mult) {
  V a = bias, b = bias, c = bias, d = bias;
  const uint64_t *p0 = (const uint64_t *)x, *p1 = p0 + pitch, *p2 = p1 + pitch, *p3 = p2 + pitch;
  UNROLLED(UNROLL)
  for (int k = 0; k < depth / 8; k++) {
    uint64_t x0 = *p0++, x1 = *p1++, x2 = *p2++, x3 = *p3++;
    V w0 = *w++, w1 = *w++;
    a = Q6_Vuw_vrmpyacc_VuwVubRub(a, w0, (int)x0);
    b = Q6_Vuw_vrmpyacc_VuwVubRub(b, w0, (int)x1);
    c = Q6_Vuw_vrmpyacc_VuwVubRub(c, w0, (int)x2);
    d = Q6_Vuw_vrmpyacc_VuwVubRub(d, w0, (int)x3);
    a = Q6_Vuw_vrmpyacc_VuwVubRub(a, w1, (int)(x0 >> 32));
    b = Q6_Vuw_vrmpyacc_VuwVubRub(b, w1, (int)(x1 >> 32));
    c = Q6_Vuw_vrmpyacc_VuwVubRub(c, w1, (int)(x2 >> 32));
    d = Q6_Vuw_vrmpyacc_VuwVubRub(d, w1, (int)(x3 >> 32));
  }
  *out = requantise4(a, b, c, d, Q6_V_vsplat_R(mult));
}
// the same with signed weights: activations splatted, vector x vector
KERNEL conv_vector(const int32_t *x, const V *w, V bias, V *out, int pitch, int depth, int mult) {
  V a = bias, b = bias, c = bias, d = bias;
  const int32_t *p0 = x, *p1 = p0 + pitch, *p2 = p1 + pitch, *p3 = p2 + pitch;
  UNROLLED(UNROLL)
  for (int k = 0; k < depth / 4; k++) {
    V weights = *w++;
    a = Q6_Vw_vrmpyacc_VwVubVb(a, Q6_V_vsplat_R(*p0++), weights);
    b = Q6_Vw_vrmpyacc_VwVubVb(b, Q6_V_vsplat_R(*p1++), weights);
    c = Q6_Vw_vrmpyacc_VwVubVb(c, Q6_V_vsplat_R(*p2++), weights);
    d = Q6_Vw_vrmpyacc_VwVubVb(d, Q6_V_vsplat_R(*p3++), weights);
  }
  *out = requantise4(a, b, c, d, Q6_V_vsplat_R(mult));
}
// depthwise 3x3 stride 1: 4 pixels x 32 channels per vector
static inline V by_channel(V x) { return Q6_Vb_vshuff_Vb(Q6_Vb_vshuff_Vb(x)); }
KERNEL depthwise(const V *r0, const V *r1, const V *r2, const V *w, V bias, V *out, int n, int m) {
  V c0 = by_channel(*r0++), c1 = by_channel(*r1++), c2 = by_channel(*r2++);
  V mult = Q6_V_vsplat_R(m);
  for (int i = 0; i < n; i++) {
    V n0 = by_channel(*r0++), n1 = by_channel(*r1++), n2 = by_channel(*r2++);
    V a = bias, b = bias, c = bias, d = bias;
#define ROW(r, now, next)                        \
  a = Q6_Vw_vrmpyacc_VwVubVb(a, now, w[r * 6]);      \
  b = Q6_Vw_vrmpyacc_VwVubVb(b, now, w[r * 6 + 1]);  \
  c = Q6_Vw_vrmpyacc_VwVubVb(c, now, w[r * 6 + 2]);  \
  c = Q6_Vw_vrmpyacc_VwVubVb(c, next, w[r * 6 + 3]); \
  d = Q6_Vw_vrmpyacc_VwVubVb(d, now, w[r * 6 + 4]);  \
  d = Q6_Vw_vrmpyacc_VwVubVb(d, next, w[r * 6 + 5]);
    ROW(0, c0, n0) ROW(1, c1, n1) ROW(2, c2, n2)
    *out++ = requantise4(a, b, c, d, mult);
    c0 = n0; c1 = n1; c2 = n2;
  }
}
KERNEL max_pool_2x2(const V *r0, const V *r1, V *out, int n) {
  UNROLLED(UNROLL)
  for (int i = 0; i < n; i++) {
    V a = Q6_Vub_vmax_VubVub(*r0++, *r1++), b = Q6_Vub_vmax_VubVub(*r0++, *r1++);
    W halves = Q6_W_vdeal_VVR(b, a, -32);
    *out++ = Q6_Vub_vmax_VubVub(Q6_V_lo_W(halves), Q6_V_hi_W(halves));
  }
}
KERNEL add_short(const V *x, const V *y, V *out, int n, int scales, int offset, int shift) {
  V bias = Q6_V_vsplat_R(offset);
  UNROLLED(UNROLL)
  for (int i = 0; i < n; i++) {
    V vx = *x++, vy = *y++;
    W h = Q6_Wh_vmpa_WubRb(Q6_W_vcombine_VV(vy, vx), scales);
    V even = Q6_Vh_vadd_VhVh_sat(Q6_V_lo_W(h), bias), odd = Q6_Vh_vadd_VhVh_sat(Q6_V_hi_W(h), bias);
    *out++ = Q6_Vub_vasr_VhVhR_rnd_sat(odd, even, shift);
  }
}
KERNEL add_wide(const V *x, const V *y, V *out, int n, int mx, int my, int offset, int shift) {
  V bias = Q6_V_vsplat_R(offset);
  UNROLLED(UNROLL)
  for (int i = 0; i < n; i++) {
    W a = Q6_Wuh_vzxt_Vub(*x++), b = Q6_Wuh_vzxt_Vub(*y++);
    W e = Q6_Wuw_vmpyacc_WuwVuhRuh(Q6_Wuw_vmpy_VuhRuh(Q6_V_lo_W(a), mx), Q6_V_lo_W(b), my);
    W o = Q6_Wuw_vmpyacc_WuwVuhRuh(Q6_Wuw_vmpy_VuhRuh(Q6_V_hi_W(a), mx), Q6_V_hi_W(b), my);
    V he = Q6_Vh_vasr_VwVwR_sat(Q6_Vw_vadd_VwVw(Q6_V_hi_W(e), bias),
                                Q6_Vw_vadd_VwVw(Q6_V_lo_W(e), bias), shift);
    V ho = Q6_Vh_vasr_VwVwR_sat(Q6_Vw_vadd_VwVw(Q6_V_hi_W(o), bias),
                                Q6_Vw_vadd_VwVw(Q6_V_lo_W(o), bias), shift);
    *out++ = Q6_Vub_vsat_VhVh(ho, he);
  }
}
KERNEL relu(const V *x, V *out, int n, int zero) {
  V z = Q6_V_vsplat_R(zero);
  UNROLLED(UNROLL)
  for (int i = 0; i < n; i++) *out++ = Q6_Vub_vmax_VubVub(*x++, z);
}
KERNEL requantize_array(const V *x, V *out, int n, int m) {
  V mult = Q6_V_vsplat_R(m);
  UNROLLED(UNROLL)
  for (int i = 0; i < n; i++) {
    V a = *x++, b = *x++, c = *x++, d = *x++;
    *out++ = requantise4(a, b, c, d, mult);
  }
}
KERNEL global_sum(const V *x, V *out, int n) {
  V sum = Q6_V_vzero();
  UNROLLED(UNROLL)
  for (int i = 0; i < n; i++) sum = Q6_Vuw_vrmpyacc_VuwVubRub(sum, by_channel(*x++), 0x01010101);
  *out = sum;
}
KERNEL copy(const V *x, V *out, int n) {
  UNROLLED(UNROLL)
  for (int i = 0; i < n; i++) out[i] = x[i];
}

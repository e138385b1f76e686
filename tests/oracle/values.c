// Quantised kernels and single instructions on HVX, run in qemu-hexagon: the judge of values.
// Input: 16 int32 parameters, then three blocks whose sizes are parameters 1-3. Output: parameter 4
// bytes. Only instructions that a V60 has are used.
#include "runtime.h"
typedef HVX_Vector V;
typedef HVX_VectorPair W;
#define ALIGNED __attribute__((aligned(128)))

static int32_t P[16];
static uint8_t A[1 << 18] ALIGNED, B[1 << 17] ALIGNED, OUT[1 << 17] ALIGNED;
static int32_t C[1 << 12] ALIGNED;  // preload and multiplier per channel

// Left shift that saturates (the codes after the packs are those of an exact saturation), then
// (acc * multiplier + 2^30) >> 31.
static V scaled(V acc, V multiplier, int shift) {
  V high = Q6_V_vsplat_R(0x7fffffff >> shift), low = Q6_V_vsplat_R((int)0x80000000 >> shift);
  acc = Q6_Vw_vasl_VwR(Q6_Vw_vmax_VwVw(Q6_Vw_vmin_VwVw(acc, high), low), shift);
  V even = Q6_Vw_vmpye_VwVuh(acc, multiplier);
  return Q6_Vw_vmpyoacc_VwVwVh_s1_rnd_sat_shift(even, acc, multiplier);
}
static V clamped(V codes) {
  V low = Q6_V_vsplat_R(P[13] * 0x01010101), high = Q6_V_vsplat_R(P[14] * 0x01010101);
  return Q6_Vub_vmin_VubVub(Q6_Vub_vmax_VubVub(codes, low), high);
}
static V codes4(V a, V b, V c, V d, V m, int shift) {
  V low = Q6_Vh_vpack_VwVw_sat(scaled(b, m, shift), scaled(a, m, shift));
  V high = Q6_Vh_vpack_VwVw_sat(scaled(d, m, shift), scaled(c, m, shift));
  return clamped(Q6_Vub_vpack_VhVh_sat(high, low));
}

static void requantise(int groups, int shift) {
  const V *x = (const V *)A;
  for (int i = 0; i < groups; i++, x += 4)
    ((V *)OUT)[i] = codes4(x[0], x[1], x[2], x[3], ((const V *)C)[1], shift);
}
// u8 x u8, 32 output channels: x [rows][width][depth], w [fh][fw][depth / 4][32][4]
static void conv(int width, int depth, int fh, int fw, int stride, int oh, int ow, int zero, int shift) {
  V preload = ((const V *)C)[0], multiplier = ((const V *)C)[1];
  for (int y = 0; y < oh; y++)
    for (int x0 = 0; x0 < ow; x0 += 4) {
      V acc[4] = {preload, preload, preload, preload};
      for (int p = 0; p < 4; p++) {
        const V *w = (const V *)B;
        V sum = Q6_V_vzero();
        for (int ky = 0; ky < fh; ky++) {
          const int32_t *x = (const int32_t *)(A + ((y * stride + ky) * width + (x0 + p) * stride) * depth);
          for (int k = 0; k < fw * depth / 4; k++) {
            acc[p] = Q6_Vuw_vrmpyacc_VuwVubRub(acc[p], *w++, x[k]);
            sum = Q6_Vuw_vrmpyacc_VuwVubRub(sum, Q6_V_vsplat_R(zero * 0x01010101), x[k]);
          }
        }
        acc[p] = Q6_Vw_vsub_VwVw(acc[p], sum);
      }
      *(V *)(OUT + (y * ow + x0) * 32) = codes4(acc[0], acc[1], acc[2], acc[3], multiplier, shift);
    }
}
// u8 x s8, 32 channels, stride 1: x [rows][width][32], w [3][6][32][4]
static V by_channel(V x) { return Q6_Vb_vshuff_Vb(Q6_Vb_vshuff_Vb(x)); }
static void depthwise(int width, int oh, int ow, int shift) {
  V preload = ((const V *)C)[0], multiplier = ((const V *)C)[1];
  for (int y = 0; y < oh; y++)
    for (int x0 = 0; x0 < ow; x0 += 4) {
      V a = preload, b = preload, c = preload, d = preload;
      for (int r = 0; r < 3; r++) {
        const V *row = (const V *)(A + ((y + r) * width + x0) * 32), *w = (const V *)B + 6 * r;
        V now = by_channel(row[0]), next = by_channel(row[1]);
        a = Q6_Vw_vrmpyacc_VwVubVb(a, now, w[0]);
        b = Q6_Vw_vrmpyacc_VwVubVb(b, now, w[1]);
        c = Q6_Vw_vrmpyacc_VwVubVb(Q6_Vw_vrmpyacc_VwVubVb(c, now, w[2]), next, w[3]);
        d = Q6_Vw_vrmpyacc_VwVubVb(Q6_Vw_vrmpyacc_VwVubVb(d, now, w[4]), next, w[5]);
      }
      *(V *)(OUT + (y * ow + x0) * 32) = codes4(a, b, c, d, multiplier, shift);
    }
}
// 2x2 stride 2: x [2 oh][2 ow][32]
static void max_pool(int oh, int ow) {
  for (int y = 0; y < oh; y++)
    for (int x0 = 0; x0 < ow; x0 += 4) {
      const V *top = (const V *)(A + (2 * y * 2 * ow + 2 * x0) * 32);
      const V *low = (const V *)(A + ((2 * y + 1) * 2 * ow + 2 * x0) * 32);
      W parted = Q6_W_vdeal_VVR(Q6_Vub_vmax_VubVub(top[1], low[1]), Q6_Vub_vmax_VubVub(top[0], low[0]), -32);
      *(V *)(OUT + (y * ow + x0) * 32) = Q6_Vub_vmax_VubVub(Q6_V_lo_W(parted), Q6_V_hi_W(parted));
    }
}
// preload + kx (x - zx) + ky (y - zy), 16-bit factors
static void add(int vectors, int kx, int ky, int zx, int zy, int shift) {
  V fx = Q6_V_vsplat_R((kx & 0xffff) * 0x10001), fy = Q6_V_vsplat_R((ky & 0xffff) * 0x10001);
  V ox = Q6_V_vsplat_R(zx * 0x01010101), oy = Q6_V_vsplat_R(zy * 0x01010101);
  V preload = ((const V *)C)[0], m = ((const V *)C)[1];
  for (int i = 0; i < vectors; i++) {
    W x = Q6_Wh_vsub_VubVub(((const V *)A)[i], ox), y = Q6_Wh_vsub_VubVub(((const V *)B)[i], oy);
    W e = Q6_Ww_vmpyacc_WwVhVh(Q6_Ww_vmpy_VhVh(Q6_V_lo_W(x), fx), Q6_V_lo_W(y), fy);
    W o = Q6_Ww_vmpyacc_WwVhVh(Q6_Ww_vmpy_VhVh(Q6_V_hi_W(x), fx), Q6_V_hi_W(y), fy);
#define WORD(half) scaled(Q6_Vw_vadd_VwVw(half, preload), m, shift)
    V even = Q6_Vh_vsat_VwVw(WORD(Q6_V_hi_W(e)), WORD(Q6_V_lo_W(e)));
    V odd = Q6_Vh_vsat_VwVw(WORD(Q6_V_hi_W(o)), WORD(Q6_V_lo_W(o)));
    ((V *)OUT)[i] = clamped(Q6_Vub_vsat_VhVh(odd, even));
  }
}
static V primitive(int which, V a, V b, int r) {
  switch (which) {
  case 0: return Q6_Vw_vrmpyacc_VwVubVb(a, b, b);
  case 1: return Q6_Vuw_vrmpyacc_VuwVubRub(a, b, r);
  case 2: return Q6_Vw_vrmpyacc_VwVubRb(a, b, r);
  case 3: return Q6_Vw_vmpyoacc_VwVwVh_s1_rnd_sat_shift(Q6_Vw_vmpye_VwVuh(a, b), a, b);
  case 4: return Q6_Vh_vpack_VwVw_sat(a, b);
  case 5: return Q6_Vub_vpack_VhVh_sat(a, b);
  case 6: return Q6_Vb_vshuff_Vb(a);
  case 7: return Q6_V_valign_VVR(a, b, r & 127);
  case 8: return Q6_Vh_vmpy_VhVh_s1_rnd_sat(a, b);
  case 9: return Q6_Vub_vasr_VhVhR_rnd_sat(a, b, r);
  case 10: return Q6_V_lo_W(Q6_W_vdeal_VVR(a, b, -32));
  default: return Q6_V_hi_W(Q6_Wh_vsub_VubVub(a, b));
  }
}
int main(void) {
  rt_read(P, 64);
  rt_read(A, P[1]);
  rt_read(B, P[2]);
  rt_read(C, P[3]);
  switch (P[0]) {
  case 0: requantise(P[5], P[12]); break;
  case 1: conv(P[5], P[6], P[7] >> 8, P[7] & 255, P[8], P[9], P[10], P[11], P[12]); break;
  case 2: depthwise(P[5], P[6], P[7], P[12]); break;
  case 3: max_pool(P[5], P[6]); break;
  case 4: add(P[5], P[6], P[7], P[8], P[9], P[12]); break;
  default:
    for (int i = 0; i < P[6]; i++)
      ((V *)OUT)[i] = primitive(P[5], ((const V *)A)[i], ((const V *)B)[i], C[0]);
  }
  rt_write(OUT, P[4]);
  return 0;
}

// Loops of attention in half floats, as nntrainer measured them: each multiply-add is rounded once.
#include <hexagon_protos.h>
#include <hexagon_types.h>

#define EIGHT(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7)

// sum + a * b: products and sum have twice the width, of which halves are made.
static inline HVX_Vector multiply_add(HVX_Vector sum, HVX_Vector a, HVX_Vector b) {
  HVX_VectorPair product = Q6_Wqf32_vmpy_VhfVhf(a, b);
  HVX_VectorPair wide = Q6_Wqf32_vmpy_VhfVhf(sum, Q6_Vh_vsplat_R(0x3c00));
  return Q6_Vhf_equals_Wqf32(Q6_W_vcombine_VV(
      Q6_Vqf32_vadd_Vqf32Vqf32(Q6_V_hi_W(product), Q6_V_hi_W(wide)),
      Q6_Vqf32_vadd_Vqf32Vqf32(Q6_V_lo_W(product), Q6_V_lo_W(wide))));
}

#define ZERO(i) HVX_Vector s##i = Q6_V_vzero(), t##i = Q6_V_vzero();
#define ONE_QUERY(i) s##i = multiply_add(s##i, q[d + i], keys[d + i]);
#define TWO_QUERIES(i) ONE_QUERY(i) t##i = multiply_add(t##i, p[d + i], keys[d + i]);
#define JOIN(i) all = Q6_V_vor_VV(all, Q6_V_vor_VV(s##i, t##i));

#define SCORES(name, STEP)                                                             \
  HVX_Vector name(const HVX_Vector *restrict keys, const HVX_Vector *restrict q,       \
                  const HVX_Vector *restrict p, int depth) {                           \
    HVX_Vector all = Q6_V_vzero();                                                     \
    EIGHT(ZERO)                                                                        \
    for (int d = 0; d < depth; d += 8) {                                               \
      EIGHT(STEP)                                                                      \
    }                                                                                  \
    EIGHT(JOIN)                                                                        \
    return all;                                                                        \
  }

SCORES(scores1, ONE_QUERY)
SCORES(scores2, TWO_QUERIES)

// Four rows of weights share each value; the weights come one by one.
HVX_Vector pv4(const HVX_Vector *restrict values, const unsigned short *restrict weights) {
  HVX_Vector s0 = Q6_V_vzero(), s1 = s0, s2 = s0, s3 = s0;
#pragma unroll 2
  for (int i = 0; i < 1024; ++i) {
    HVX_Vector value = values[i % 64];
    s0 = multiply_add(s0, Q6_Vh_vsplat_R(weights[i]), value);
    s1 = multiply_add(s1, Q6_Vh_vsplat_R(weights[1024 + i]), value);
    s2 = multiply_add(s2, Q6_Vh_vsplat_R(weights[2048 + i]), value);
    s3 = multiply_add(s3, Q6_Vh_vsplat_R(weights[3072 + i]), value);
  }
  return Q6_V_vor_VV(Q6_V_vor_VV(s0, s1), Q6_V_vor_VV(s2, s3));
}

// The same multiply-add in floats, whose rounding to half floats is computed.
static inline HVX_Vector rounded_add(HVX_Vector sum, HVX_Vector a, HVX_Vector b) {
  HVX_Vector product = Q6_Vsf_vmpy_VsfVsf(a, b), all = Q6_Vsf_vadd_VsfVsf(sum, product);
  HVX_Vector part = Q6_Vsf_vsub_VsfVsf(all, sum);
  HVX_Vector lost = Q6_Vsf_vadd_VsfVsf(Q6_Vsf_vsub_VsfVsf(sum, Q6_Vsf_vsub_VsfVsf(all, part)),
                                       Q6_Vsf_vsub_VsfVsf(product, part));
  HVX_Vector toward_zero = Q6_Vw_vasr_VwR(Q6_V_vxor_VV(lost, all), 31);
  HVX_Vector odd = Q6_V_vor_VV(Q6_Vw_vadd_VwVw(all, toward_zero), Q6_V_vsplat_R(1));
  HVX_Vector exact = Q6_V_vmux_QVV(Q6_Q_vcmp_eq_VwVw(lost, Q6_V_vzero()), all, odd);
  HVX_Vector exponent = Q6_Vw_vmax_VwVw(Q6_V_vand_VV(exact, Q6_V_vsplat_R(0x7f800000)),
                                        Q6_V_vsplat_R(0x38800000));
  HVX_Vector grid = Q6_Vw_vadd_VwVw(exponent, Q6_V_vsplat_R(0x06c00000));
  HVX_Vector result = Q6_Vsf_vsub_VsfVsf(Q6_Vsf_vadd_VsfVsf(exact, grid), grid);
  return Q6_V_vor_VV(result, Q6_V_vand_VV(exact, Q6_V_vsplat_R(0x80000000)));
}

// The sums are an array, as they are there, which the compiler keeps on the stack.
HVX_Vector fma16_sf(const HVX_Vector *restrict keys, const int *restrict q) {
  HVX_Vector sums[8], all = Q6_V_vzero();
  for (int i = 0; i < 8; ++i)
    sums[i] = Q6_V_vzero();
#pragma unroll 4
  for (int d = 0; d < 64; ++d)
    sums[d % 8] = rounded_add(sums[d % 8], Q6_V_vsplat_R(q[d]), keys[d]);
  for (int i = 0; i < 8; ++i)
    all = Q6_V_vor_VV(all, sums[i]);
  return all;
}

// One small graph for each exact rule, so that the laws have something to bite on.
#include "rlc/testing/rewrite_laws.h"

namespace rlc {

const std::vector<RuleFixture>& RuleFixtures() {
  static const auto& fixtures = *new std::vector<RuleFixture>{
      {"cancel-concat-parts",
       R"(graph (float[2,3] x, float[2,4] z) => (float[2,3] y, float[2,4] u, float[2,2] v, float[2,3] t) {
          c = Concat<axis=1>(x, z)  a, b = Split<axis=-1>(c, %s int64[2] = {3,4})  y = Relu(a)  u = Neg(b)
          v = Slice(c, %b4 int64[1] = {4}, %ke int64[1] = {-1}, %k int64[1] = {1})
          d = Slice(x, %o int64[1] = {0}, %i int64[1] = {1}, %k)
          e = Slice(x, %i, %m int64[1] = {9}, %k)  f = Concat<axis=1>(d, e)  t = Exp(f) })"},
      {"cancel-inverses", R"(graph (float[2,3] x) => (float[2,3] y) {
          a = Neg(x)  b = Neg(a)  y = Relu(b) })"},
      {"cancel-unsqueeze-squeeze", R"(graph (float[2,3] x) => (float[2,3] y) {
          a = Unsqueeze(x, %axes int64[1] = {1})  b = Squeeze(a, %axes)  y = Relu(b) })"},
      {"drop-unread-outputs", R"(graph (float[1,1,4,4] x) => (float[1,1,3,3] y) {
          y, i = MaxPool<kernel_shape=[2,2]>(x) })"},
      {"eliminate-common-subexpressions", R"(graph (float[2,3] x) => (float[2,3] y) {
          a = Exp(x)  b = Exp(x)  c = Neg(a)  d = Neg(b)  y = Mul(c, d) })"},
      {"fold-constants", R"(graph (float[2,3] x) => (float[2,3] y) {
          a = Add(%ka float[3], %b float[3])  y = Mul(x, a) })"},
      {"fold-constants", R"(graph (float[2,3] x) => (float[3] y, float[2,3] z) {
          y = Add(%a float[3], %b float[3])  z = Relu(x) })"},
      {"fold-reshape-target", R"(graph (float[N,3,4] x) => (float[N,12] y) {
          s = Shape(x)  n = Gather(s, %zero int64[] = {0})  b = Unsqueeze(n, %axes int64[1] = {0})
          t = Concat<axis=0>(b, %rest int64[1] = {-1})  y = Reshape(x, t) })"},
      {"fold-reshape-target", R"(graph (float[N,M,4] x) => (float[K,2] y) {
          a = MatMul(x, %w float[4,6])  b = Add(%o float[6], a)  s = Shape(x)  n = Gather(s, %one int64[] = {1})
          c = Unsqueeze(n, %axes int64[1] = {0})  t = Concat<axis=0>(%zero int64[1] = {0}, c, %rest int64[2] = {2,3})
          d = Reshape(b, t)  m = Mul(n, %six int64[] = {6})  e = Unsqueeze(m, %axes)
          f = Concat<axis=0>(%three int64[1] = {3}, e)  g = Reshape(d, f)
          y = Reshape(g, %last int64[2] = {-1,2}) })"},
      {"fold-shapes", R"(graph (float[2,3,4] x) => (int64[1] y) {
          s = Shape(x)  g = Gather(s, %i int64[1] = {1})  y = Mul(g, g) })"},
      {"fuse-arithmetic-into-layer", R"(graph (float[1,3,6,6] x) => (float[1,4,4,4] y) {
          a = Conv(x, %w float[4,3,3,3], %kb float[4])  b = Mul(a, %s float[4,1,1])  c = Sub(%t float[1,4,1,1], b)
          d = Div(c, %var float[])  y = Add(d, %o float[]) })"},
      {"fuse-arithmetic-into-layer", R"(graph (float[3,4] x) => (float[3,5] y) {
          a = MatMul(x, %w float[4,5])  b = Sub(a, %t float[5])  y = Mul(b, %s float[1,5]) })"},
      {"fuse-bn-into-layer", R"(graph (float[1,3,6,6] x) => (float[1,4,4,4] y) {
          a = Conv(x, %w float[4,3,3,3])
          y = BatchNormalization(a, %scale float[4], %bias float[4], %mean float[4], %var float[4]) })"},
      {"fuse-bn-into-layer", R"(graph (float[1,4,5,5] x) => (float[1,6,7,7] y) {
          a = ConvTranspose<group=2>(x, %w float[4,3,3,3], %b float[6])
          y = BatchNormalization(a, %scale float[6], %bias float[6], %mean float[6], %var float[6]) })"},
      {"fuse-bn-into-layer", R"(graph (float[3,4] x) => (float[3,5] y) {
          a = Gemm<transB=1, alpha=0.5, beta=2.0>(x, %w float[5,4], %b float[5])
          y = BatchNormalization(a, %scale float[5], %bias float[5], %mean float[5], %var float[5]) })"},
      {"fuse-bn-into-layer", R"(graph (float[3,4] x) => (float[3,5] y) {
          a = MatMul(x, %w float[4,5])
          y = BatchNormalization(a, %scale float[5], %bias float[5], %mean float[5], %var float[5]) })"},
      {"fuse-hard-sigmoid", R"(graph (float[1,4,8,8] x) => (float[1,4,8,8] y) {
          a = Add(x, %three float[] = {3})  c = Clip(a, %zero float[] = {0}, %six float[] = {6})
          m = Mul(x, c)  y = Div(m, %six) })"},
      {"fuse-hard-sigmoid", R"(graph (float[1,4,8,8] x) => (float[1,4,8,8] y) {
          a = Add(%three float[] = {3}, x)  c = Clip(a, %zero float[] = {0}, %six float[] = {6})
          s = Mul(%sixth float[] = {0.16666667}, x)  y = Mul(c, s) })"},
      {"fuse-layer-norm", R"(graph (float[2,3,4] x) => (float[2,3,4] y) {
          m = ReduceMean<axes=[-1]>(x)  d = Sub(x, m)  p = Mul(d, d)  v = ReduceMean<axes=[2]>(p)
          e = Add(%eps float[] = {0.01}, v)  s = Sqrt(e)  q = Div(d, s)  g = Mul(q, %gain float[4])
          y = Add(%bias float[4], g) })"},
      {"fuse-matmul-add-into-gemm", R"(graph (float[3,4] x, float[3,5] c) => (float[3,5] y) {
          a = MatMul(x, %w float[4,5])  b = Exp(c)  y = Add(b, a) })"},
      {"fuse-pad-into-conv", R"(graph (float[1,2,5,5] x) => (float[1,3,6,7] y) {
          a = Pad(x, %p int64[8] = {0,0,1,0,0,0,1,2})
          y = Conv<pads=[0,1,1,1]>(a, %w float[3,2,3,3]) })"},
      {"fuse-pad-into-pool", R"(graph (float[1,2,5,5] x) => (float[1,2,6,6] y) {
          a = Pad(x, %p int64[8] = {0,0,1,1,0,0,1,1})  y = AveragePool<kernel_shape=[2,2]>(a) })"},
      {"fuse-scale-into-next-layer", R"(graph (float[1,4,6,6] x) => (float[1,4,4,4] y, float[1,2,6,6] z) {
          r = Relu(x)  a = BatchNormalization(r, %scale float[4], %bias float[4], %mean float[4], %var float[4])
          y = Conv<group=2>(a, %w float[4,2,3,3])  m = Mul(x, %s float[4,1,1])  t = Add(%o float[1,4,1,1], m)
          z = Conv<pads=[1,1,1,1]>(t, %v float[2,4,3,3], %kb float[2]) })"},
      {"fuse-scale-into-next-layer", R"(graph (float[3,4] x) => (float[3,5] y) {
          r = Relu(x)  a = BatchNormalization(r, %scale float[4], %bias float[4], %mean float[4], %var float[4])
          y = MatMul(a, %w float[4,5]) })"},
      {"inline-constant-if", R"(graph (float[2] x) => (float[2] y) {
          a = Neg(x)
          b = If<then_branch=graph () => (float[2] t) { t = Mul(a, x) }, else_branch=graph () => (float[2] e) { e = Exp(a) }>(%c bool[] = {1})
          y = Relu(b) })"},
      {"make-range-scalar", R"(graph (int64[1] n) => (int64[M] y) {
          y = Range(%a int64[1] = {0}, n, %c int64[] = {2}) })"},
      {"merge-casts", R"(graph (float16[2,3] x) => (float16[2,3] y) {
          a = Cast<to=1>(x)  b = Cast<to=10>(a)  y = Neg(b) })"},
      {"merge-clips", R"(graph (float[2,3] x) => (float[2,3] y) {
          a = Relu(x)  y = Clip(a, %l float[] = {-1}, %h float[] = {0.5}) })"},
      {"merge-concats", R"(graph (float[2,3] x, float[2,4] z) => (float[2,10] y) {
          a = Concat<axis=1>(x, z)  y = Concat<axis=-1>(a, x) })"},
      {"merge-conv-pairs", R"(graph (float[1,4,6,6] x) => (float[1,3,2,2] y) {
          a = Conv(x, %v float[4,4,1,1], %kb float[4])
          y = Conv<strides=[2,2]>(a, %w float[3,4,3,3], %b float[3]) })"},
      {"merge-conv-pairs", R"(graph (float[1,6,5] x) => (float[1,2,5] y) {
          a = Conv(x, %v float[4,6,1])  y = Conv<pads=[1,1]>(a, %w float[2,4,3]) })"},
      {"merge-equal-initializers", R"(graph (float[2,3] x) => (float[2,3] y) {
          a = Add(x, %ka float[3] = {1,2,3})  y = Mul(a, %b float[3] = {1,2,3}) })"},
      {"merge-flattens", R"(graph (float[2,3,4] x) => (float[6,4] y) {
          float[3,2,4] a = Reshape(x, %s int64[3] = {3,2,4})  y = Flatten<axis=2>(a) })"},
      {"merge-gathers", R"(graph (float[2,6,4] x) => (float[2,2,4] y, float[2,4] z, float[2,3,4] u) {
          r = Relu(x)  a = Gather<axis=1>(r, %i int64[6] = {5,3,1,0,-4,4})
          y = Slice(a, %s int64[1] = {4}, %e int64[1] = {9}, %one int64[1] = {1})
          u = Slice(a, %o int64[1] = {0}, %f int64[1] = {3}, %one)
          q = Slice(r, %g int64[1] = {-3}, %h int64[1] = {-2}, %one)  z = Squeeze(q, %one) })"},
      {"merge-gathers", R"(graph (float[2,6,4] x) => (float[2,4] y) {
          a = Gather<axis=-2>(x, %i int64[3] = {5,3,1})  y = Gather<axis=1>(a, %s int64[] = {-1}) })"},
      {"merge-reshapes", R"(graph (float[2,3,4] x) => (float[2,12] y) {
          a = Reshape(x, %s int64[2] = {6,4})  y = Reshape(a, %t int64[2] = {2,12}) })"},
      {"merge-slices", R"(graph (float[2,12] x) => (float[2,2] y) {
          a = Slice(x, %s int64[1] = {1}, %e int64[1] = {11}, %ka int64[1] = {1}, %p int64[1] = {2})
          y = Slice(a, %s, %f int64[1] = {4}, %ka, %p) })"},
      {"merge-squeezes", R"(graph (float[2,3] x) => (float[1,2,1,3] y) {
          a = Unsqueeze(x, %ka int64[1] = {1})  y = Unsqueeze(a, %b int64[1] = {0}) })"},
      {"merge-transposes", R"(graph (float[2,3,4] x) => (float[3,4,2] y) {
          a = Transpose<perm=[1,0,2]>(x)  y = Transpose<perm=[0,2,1]>(a) })"},
      {"move-constants-into-bodies", R"(graph (float[2,3] x) => (float[2,3] y) {
          %w float[3]  %v float[3]  a = Neg(x)  m = ReduceMax<keepdims=0>(x)  c = Greater(m, %zero float[])
          b = If<then_branch=graph () => (float[2,3] t) { s = Add(w, v)  t = Mul(a, s) }, else_branch=graph () => (float[2,3] e) { e = Sub(a, v) }>(c)
          u = Add(b, w)  y = Mul(u, v) })"},
      {"remove-dead-code", R"(graph (float[2,3] x) => (float[2,3] y) {
          a = Exp(x)  b = Mul(a, %unused float[3])  y = Relu(x) })"},
      {"remove-identity", R"(graph (float[2,3] x) => (float[2,3] y, float[2,3] z) {
          a = Identity(x)  b = Dropout(a)  c = Cast<to=1>(b)  d = Exp(c)  e = Concat<axis=0>(d)  y = Identity(e)
          z = Identity(x) })"},
      {"remove-neutral-arithmetic", R"(graph (float[2,3] x) => (float[2,3] y) {
          a = Add(%o float[] = {0}, x)  b = Mul(a, %i float[1,3] = {1,1,1})  c = Clip(b)  d = Pow(c, %e float[] = {1})
          y = Exp(d) })"},
      {"remove-neutral-layout", R"(graph (float[2,3] x) => (float[2,3] y) {
          a = Transpose<perm=[0,1]>(x)  b = Reshape(a, %s int64[2] = {0,-1})  c = Expand(b, %o int64[2] = {1,3})
          d = Slice(c, %z int64[1] = {0}, %big int64[1] = {9223372036854775807})  e = Pad(d, %p int64[4] = {0,0,0,0})
          f = Tile(e, %t int64[2] = {1,1})  g = Flatten(f)  y = Exp(g) })"},
      {"replace-constant-nodes", R"(graph (float[2,3] x) => (float[2,3] y) {
          c = Constant<value=float[3] = {1,2,3}>()  y = Add(x, c) })"},
      {"replace-mean-by-global-pool", R"(graph (float[2,3,4,5] x) => (float[2,3,1,1] y) {
          y = ReduceMean<axes=[-1,2]>(x) })"},
      {"replace-shuffle-by-gather", R"(graph (float[N,6,4,5] x) => (float[N,6,4,5] y) {
          a = Reshape(x, %s int64[5] = {0,2,3,4,5})  b = Transpose<perm=[0,2,1,3,4]>(a)
          y = Reshape(b, %t int64[4] = {-1,6,4,5}) })"},
      {"replace-min-max-by-clip", R"(graph (float[2,3] x) => (float[2,3] y) {
          a = Max(x, %l float[] = {0})  y = Min(%h float[] = {0.5}, a) })"},
      {"sink-transposes", R"(graph (float[2,3,4,5] x, float[2,3,4,1] z) => (float[2,4,3,5] y) {
          a = Transpose<perm=[0,2,3,1]>(x)  b = Transpose<perm=[0,2,3,1]>(z)  c = Sub(b, a)  d = Relu(c)
          e = Mul(%s float[3], d)  f = Clip(e, %l float[] = {-1}, %h float[] = {0.5})
          g = Add(f, %t float[5,1])  q = Add(g, %one float[1,1])
          y = Transpose<perm=[0,1,3,2]>(q) })"},
      {"sink-transposes", R"(graph (float[2,3,4] x) => (float[2,3,4] y) {
          a = Transpose<perm=[0,2,1]>(x)  b = Add(a, %s float[3])  c = Sigmoid(b)
          y = Transpose<perm=[0,2,1]>(c) })"},
  };
  return fixtures;
}

}  // namespace rlc

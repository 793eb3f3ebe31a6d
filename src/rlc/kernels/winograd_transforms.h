// The matrices of Winograd's convolution F(m x m, 3 x 3), computed from its interpolation points:
//
//   Y = A^T [ (G g G^T) . (B^T d B) ] A      d: (m + 2) x (m + 2) inputs, g: 3 x 3 weights, Y: m x m outputs
//
// A 1-D convolution of m outputs is the product of two polynomials (transposed), of degree m + 1: it is known by its
// values at m + 1 points p_j and its leading coefficient (the "point at infinity", the last row of each matrix).
// (Toom, Cook; Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks", 2015.)
//
//   A^T[i][j] = p_j^i                                       the last column: 1 in the last row
//   G[j][k]   = p_j^k / prod over l != j of (p_j - p_l)     the last row: 0 0 1
//   B^T[j]    = coefficients of prod over l != j of (x - p_l), lowest first; the last row: of prod over all l
#ifndef RLC_KERNELS_WINOGRAD_TRANSFORMS_H_
#define RLC_KERNELS_WINOGRAD_TRANSFORMS_H_

#include <algorithm>
#include <array>
#include <cstddef>

namespace rlc {

template <size_t kOutputs>
struct WinogradMatrices {
  static constexpr size_t kOut = kOutputs, kIn = kOutputs + 2;
  std::array<std::array<double, kIn>, kIn> bt{};
  std::array<std::array<double, 3>, kIn> g{};
  std::array<std::array<double, kIn>, kOut> at{};
};

template <size_t kPoints>
constexpr WinogradMatrices<kPoints - 1> MakeWinogradMatrices(const std::array<double, kPoints>& points) {
  using Matrices = WinogradMatrices<kPoints - 1>;
  Matrices m;
  for (size_t j = 0; j <= kPoints; ++j) {  // j == kPoints: infinity
    m.bt[j][0] = 1;
    double divisor = 1;
    for (size_t l = 0; l < kPoints; ++l) {
      if (l == j) continue;
      for (size_t i = kPoints; i > 0; --i) m.bt[j][i] = m.bt[j][i - 1] - points[l] * m.bt[j][i];
      m.bt[j][0] *= -points[l];
      if (j < kPoints) divisor *= points[j] - points[l];
    }
    if (j == kPoints) continue;
    double power = 1;
    for (size_t i = 0; i < std::max<size_t>(3, Matrices::kOut); ++i, power *= points[j]) {
      if (i < Matrices::kOut) m.at[i][j] = power;
      if (i < 3) m.g[j][i] = power / divisor;
    }
  }
  m.at[Matrices::kOut - 1][kPoints] = 1;
  m.g[kPoints][2] = 1;
  return m;
}

// F(2x2, 3x3): all entries are 0, 1, -1 or 1/2, sums in float are exact for small integers.
inline constexpr std::array<double, 3> kWinogradPoints2x2 = {0, 1, -1};

// F(4x4, 3x3): 0, +-a, +-b. Pairs of opposite points share half of the work of a transform; which a and b: the choice
// with the smallest error among short fractions (docs/design/winograd.md). All entries of B^T and A^T are exact floats.
inline constexpr double kWinogradA = 0.625, kWinogradB = 1.5;
inline constexpr std::array<double, 5> kWinogradPoints4x4 = {0, kWinogradA, -kWinogradA, kWinogradB, -kWinogradB};

inline constexpr WinogradMatrices<2> kWinograd2x2 = MakeWinogradMatrices(kWinogradPoints2x2);
inline constexpr WinogradMatrices<4> kWinograd4x4 = MakeWinogradMatrices(kWinogradPoints4x4);

// B^T d B of F(2x2, 3x3) for one channel: d and the result 4 x 4, row by row.
template <typename T>
constexpr std::array<T, 16> WinogradInput2x2(const std::array<T, 16>& d) {
  std::array<T, 16> half{}, result{};
  for (size_t j = 0; j < 4; ++j) {
    half[j] = d[8 + j] - d[j];
    half[4 + j] = d[8 + j] + d[4 + j];
    half[8 + j] = d[8 + j] - d[4 + j];
    half[12 + j] = d[12 + j] - d[4 + j];
  }
  for (size_t i = 0; i < 16; i += 4) {
    result[i] = half[i + 2] - half[i];
    result[i + 1] = half[i + 2] + half[i + 1];
    result[i + 2] = half[i + 2] - half[i + 1];
    result[i + 3] = half[i + 3] - half[i + 1];
  }
  return result;
}

}  // namespace rlc

#endif  // RLC_KERNELS_WINOGRAD_TRANSFORMS_H_

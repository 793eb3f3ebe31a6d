#include "rlc/kernels/winograd_conv.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "hwy/targets.h"
#include "rlc/base/rng.h"
#include "rlc/kernels/winograd_plan.h"
#include "rlc/kernels/winograd_transforms.h"

namespace rlc {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// ---- The matrices

// Y of one tile, 1-D, through the matrices, against the sum that it stands for.
template <size_t kOut>
double WorstOfMatrices(const WinogradMatrices<kOut>& m) {
  Rng rng(1);
  double d[kOut + 2], g[3], worst = 0;
  for (double& value : d) value = rng.Normal();
  for (double& value : g) value = rng.Normal();
  for (size_t i = 0; i < kOut; ++i) {
    double y = 0;
    for (size_t p = 0; p < kOut + 2; ++p) {
      double u = 0, v = 0;
      for (size_t k = 0; k < 3; ++k) u += m.g[p][k] * g[k];
      for (size_t k = 0; k < kOut + 2; ++k) v += m.bt[p][k] * d[k];
      y += m.at[i][p] * u * v;
    }
    worst = std::max(worst, std::abs(y - (d[i] * g[0] + d[i + 1] * g[1] + d[i + 2] * g[2])));
  }
  return worst;
}

TEST(WinogradTransforms, AreConvolutions) {
  EXPECT_LT(WorstOfMatrices(kWinograd2x2), 1e-14);
  EXPECT_LT(WorstOfMatrices(kWinograd4x4), 1e-13);
}

TEST(WinogradTransforms, EntriesOfInputAndOutputAreExactFloats) {
  const auto expect_exact = [](const auto& table) {
    for (const auto& row : table) {
      for (const double value : row) EXPECT_EQ(value, static_cast<double>(static_cast<float>(value)));
    }
  };
  expect_exact(kWinograd4x4.bt);
  expect_exact(kWinograd4x4.at);
}

TEST(WinogradTransforms, Input2x2IsTheTable) {
  std::array<int, 16> d{};
  for (int i = 0; i < 16; ++i) d[static_cast<size_t>(i)] = i * i - 7 * i;
  const std::array<int, 16> v = WinogradInput2x2(d);
  for (size_t i = 0; i < 4; ++i) {
    for (size_t j = 0; j < 4; ++j) {
      double sum = 0;
      for (size_t k = 0; k < 4; ++k) {
        for (size_t l = 0; l < 4; ++l) sum += kWinograd2x2.bt[i][k] * d[4 * k + l] * kWinograd2x2.bt[j][l];
      }
      EXPECT_EQ(v[4 * i + j], sum);
    }
  }
}

// ---- Memory with unreadable pages on both sides. The payload touches the page behind it or the one before it; what is
// left of its own pages is filled with NaN, and must stay so.

class Guarded {
 public:
  enum class At { kBegin, kEnd };
  Guarded(size_t floats, At at) : floats_(floats) {
    const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE)), bytes = floats * sizeof(float);
    inner_ = (bytes + page - 1) / page * page;
    mapped_ = inner_ + 2 * page;
    base_ = static_cast<char*>(mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    EXPECT_NE(base_, MAP_FAILED);
    EXPECT_EQ(mprotect(base_, page, PROT_NONE), 0);
    EXPECT_EQ(mprotect(base_ + page + inner_, page, PROT_NONE), 0);
    first_ = reinterpret_cast<float*>(base_ + page);
    offset_ = at == At::kBegin ? 0 : (inner_ - bytes) / 64 * 64 / sizeof(float);
    std::fill(first_, first_ + inner_ / sizeof(float), kNan);
  }
  ~Guarded() { munmap(base_, mapped_); }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;

  float* data() { return first_ + offset_; }
  bool OutsideIsUntouched() const {
    for (size_t i = 0; i < inner_ / sizeof(float); ++i) {
      if ((i < offset_ || i >= offset_ + floats_) && !std::isnan(first_[i])) return false;
    }
    return true;
  }

 private:
  size_t floats_, inner_ = 0, mapped_ = 0, offset_ = 0;
  char* base_ = nullptr;
  float* first_ = nullptr;
};

// ---- The reference

double Activate(const Activation& f, double x) {
  const double alpha = static_cast<double>(f.alpha), beta = static_cast<double>(f.beta);
  switch (f.kind) {
    case Activation::Kind::kClip:
      return std::min(std::max(x, alpha), beta);
    case Activation::Kind::kLeakyRelu:
      return x < 0 ? alpha * x : x;
    case Activation::Kind::kHardSigmoid:
      return std::clamp(alpha * x + beta, 0.0, 1.0);
    case Activation::Kind::kHardSwish:
      return x * std::clamp(alpha * x + beta, 0.0, 1.0);
    default:
      return x;
  }
}

size_t Blocks(int channels, int block) { return static_cast<size_t>((channels + block - 1) / block); }

// Where channel c, row h, column w of image n lies in a tensor of `channels` channels in blocks.
size_t At(const WinogradShape& s, int channels, int height, int width, int n, int c, int h, int w) {
  const size_t plane = static_cast<size_t>(n) * Blocks(channels, s.block) + static_cast<size_t>(c / s.block);
  const size_t pixel = (plane * static_cast<size_t>(height) + static_cast<size_t>(h)) * static_cast<size_t>(width) +
                       static_cast<size_t>(w);
  return pixel * static_cast<size_t>(s.block) + static_cast<size_t>(c % s.block);
}

// The sum of one output, by definition.
double Direct(const WinogradShape& s, const float* x, const std::vector<float>& weights, int n, int k, int row,
              int col) {
  double sum = 0;
  for (int i = 0; i < 3; ++i) {
    const int h = row + i - s.pad_top;
    for (int j = 0; j < 3; ++j) {
      const int w = col + j - s.pad_left;
      if (h < 0 || h >= s.height || w < 0 || w >= s.width) continue;
      const float* g = weights.data() + static_cast<size_t>(k) * static_cast<size_t>(s.in_channels) * 9 + 3 * i + j;
      const size_t plane = static_cast<size_t>(s.height) * static_cast<size_t>(s.width) * static_cast<size_t>(s.block);
      const float* pixel = x + At(s, s.in_channels, s.height, s.width, n, 0, h, w);
      for (int c = 0; c < s.in_channels; c += s.block, pixel += plane) {
        const int count = std::min(s.block, s.in_channels - c);
        for (int lane = 0; lane < count; ++lane, g += 9)
          sum += static_cast<double>(*g) * static_cast<double>(pixel[lane]);
      }
    }
  }
  return sum;
}

// The statistical error bound of docs/design/winograd.md for weights and inputs of variance 1: 8 standard deviations.
template <size_t kOut>
double Tolerance(const WinogradMatrices<kOut>& m, int channels) {
  double worst = 0;
  for (size_t i = 0; i < kOut; ++i) {
    double sum = 0;
    for (size_t p = 0; p < kOut + 2; ++p) {
      double g = 0, b = 0;
      for (const double value : m.g[p]) g += value * value;
      for (const double value : m.bt[p]) b += value * value;
      sum += m.at[i][p] * m.at[i][p] * g * b;
    }
    worst = std::max(worst, sum);
  }
  const double unit = static_cast<double>(std::numeric_limits<float>::epsilon()) / 2;
  return 8 * unit * worst * std::sqrt(channels * (channels / 3.0 + 8.0));
}

double Tolerance(WinogradTile tile, int channels) {
  return tile == WinogradTile::kF2x2 ? Tolerance(kWinograd2x2, channels) : Tolerance(kWinograd4x4, channels);
}

// ---- One comparison

Parallel Threads(int threads) {
  return Parallel(threads, [](size_t count, const Parallel::Task& task) {
    std::vector<std::thread> workers;
    for (size_t i = 0; i < count; ++i) workers.emplace_back([&task, i] { task(i); });
    for (std::thread& worker : workers) worker.join();
  });
}

struct Case {
  WinogradShape shape;
  WinogradTile tile = WinogradTile::kF4x4;
  Epilogue epilogue = {};
  bool bias = true;
  bool alias = false;     // the residual is y
  bool integers = false;  // inputs for which F(2x2) is exact; then no error is allowed
  int threads = 1;
  Guarded::At at = Guarded::At::kEnd;
  int samples = 0;  // compare only that many outputs
};

// Runs the case. Returns the largest error as a part of what is allowed; memory outside is checked here.
double WorstError(const Case& test, uint64_t seed) {
  const WinogradShape& s = test.shape;
  Rng rng(seed);
  const auto draw = [&](double scale) {
    return static_cast<float>(test.integers ? scale * static_cast<double>(rng.UniformRange(-3, 3)) : rng.Normal());
  };
  std::vector<float> weights(static_cast<size_t>(s.out_channels) * static_cast<size_t>(s.in_channels) * 9);
  for (float& value : weights) value = draw(4);
  std::vector<float> bias(test.bias ? static_cast<size_t>(s.out_channels) : 0);
  for (float& value : bias) value = draw(1);

  const size_t block = static_cast<size_t>(s.block), batch = static_cast<size_t>(s.batch);
  const size_t in_pixels = static_cast<size_t>(s.height) * static_cast<size_t>(s.width);
  const size_t out_pixels = static_cast<size_t>(s.out_height()) * static_cast<size_t>(s.out_width());
  Guarded x(batch * Blocks(s.in_channels, s.block) * in_pixels * block, test.at);
  for (int n = 0; n < s.batch; ++n) {
    for (int c = 0; c < static_cast<int>(Blocks(s.in_channels, s.block) * block); ++c) {
      float* plane = x.data() + At(s, s.in_channels, s.height, s.width, n, c, 0, 0);
      for (size_t i = 0; i < in_pixels; ++i) plane[i * block] = c < s.in_channels ? draw(1) : 0.0F;
    }
  }
  const size_t y_size = batch * Blocks(s.out_channels, s.block) * out_pixels * block;
  Guarded y(y_size, test.at);
  std::vector<float> residual(y_size, 0.0F);
  std::unique_ptr<Guarded> residual_memory;
  const float* residual_pointer = nullptr;
  if (test.epilogue.residual) {
    for (float& value : residual) value = draw(1);
    if (!test.alias) residual_memory = std::make_unique<Guarded>(y_size, test.at);
    float* to = test.alias ? y.data() : residual_memory->data();
    std::copy(residual.begin(), residual.end(), to);
    residual_pointer = to;
  }

  const WinogradConv conv(s, test.tile, test.epilogue, weights, bias);
  Guarded scratch(conv.scratch_bytes(test.threads) / sizeof(float), Guarded::At::kEnd);
  conv.Run(x.data(), residual_pointer, y.data(), scratch.data(),
           test.threads == 1 ? Parallel() : Threads(test.threads));
  EXPECT_TRUE(x.OutsideIsUntouched() && y.OutsideIsUntouched() && scratch.OutsideIsUntouched());

  double worst = 0;
  const double unit = static_cast<double>(std::numeric_limits<float>::epsilon());
  const auto compare = [&](int n, int k, int row, int col) {
    const size_t at = At(s, s.out_channels, s.out_height(), s.out_width(), n, k, row, col);
    double sum = static_cast<double>(residual[at]);
    if (k < s.out_channels) {
      sum += Direct(s, x.data(), weights, n, k, row, col);
      if (test.bias) sum += static_cast<double>(bias[static_cast<size_t>(k)]);
    }
    const double wanted = Activate(test.epilogue.activation, sum);
    const double error = std::abs(static_cast<double>(y.data()[at]) - wanted);
    // The factor 1.5 is the steepest slope of the activations tested.
    const double allowed =
        test.integers ? 0.0 : 1.5 * Tolerance(test.tile, s.in_channels) + 4 * unit * (std::abs(sum) + 1);
    if (error > allowed || std::isnan(error)) {
      worst = std::numeric_limits<double>::infinity();
    } else if (error > 0) {
      worst = std::max(worst, error / allowed);
    }
  };
  if (test.samples > 0) {
    for (int i = 0; i < test.samples; ++i) {
      const auto pick = [&](int count) { return static_cast<int>(rng.UniformInt(static_cast<uint64_t>(count))); };
      const int n = pick(s.batch), k = pick(s.out_channels), row = pick(s.out_height());
      compare(n, k, row, pick(s.out_width()));
    }
    return worst;
  }
  for (int n = 0; n < s.batch; ++n) {
    for (int k = 0; k < static_cast<int>(Blocks(s.out_channels, s.block) * block); ++k) {
      for (int row = 0; row < s.out_height(); ++row) {
        for (int col = 0; col < s.out_width(); ++col) compare(n, k, row, col);
      }
    }
  }
  return worst;
}

std::string Print(const Case& test) {
  const WinogradShape& s = test.shape;
  return fmt::format("batch {} channels {} -> {} image {}x{} pads {} {} {} {} block {} tile {} threads {}", s.batch,
                     s.in_channels, s.out_channels, s.height, s.width, s.pad_top, s.pad_left, s.pad_bottom, s.pad_right,
                     s.block, test.tile == WinogradTile::kF2x2 ? 2 : 4, test.threads);
}

void ExpectRight(const Case& test, uint64_t seed = 7) { EXPECT_LE(WorstError(test, seed), 1.0) << Print(test); }

// Output sizes with random pads of 0 to 2 on each side.
WinogradShape RandomPads(Rng& rng, int out_height, int out_width, int block) {
  WinogradShape s;
  s.block = block;
  const auto pads = [&rng](int out, int& before, int& after) {
    do {
      before = static_cast<int>(rng.UniformRange(0, 2));
      after = static_cast<int>(rng.UniformRange(0, 2));
    } while (out + 2 - before - after < 1);
    return out + 2 - before - after;
  };
  s.height = pads(out_height, s.pad_top, s.pad_bottom);
  s.width = pads(out_width, s.pad_left, s.pad_right);
  return s;
}

int RandomChannels(Rng& rng) {
  return static_cast<int>(rng.Bernoulli(0.3) ? int64_t{1} << rng.UniformRange(0, 6) : rng.UniformRange(1, 70));
}

// ---- Every target that this machine has, both tiles, both blocks

struct Variant {
  int64_t target;
  int block;
  WinogradTile tile;
};

class WinogradOnTarget : public testing::TestWithParam<Variant> {
 protected:
  void SetUp() override { hwy::SetSupportedTargetsForTest(GetParam().target); }
  void TearDown() override { hwy::SetSupportedTargetsForTest(0); }
};

std::vector<Variant> Variants() {
  std::vector<Variant> variants;
  for (const int64_t target : hwy::SupportedAndGeneratedTargets()) {
    for (const int block : {8, 16}) {
      for (const WinogradTile tile : {WinogradTile::kF2x2, WinogradTile::kF4x4})
        variants.push_back({target, block, tile});
    }
  }
  return variants;
}

INSTANTIATE_TEST_SUITE_P(Targets, WinogradOnTarget, testing::ValuesIn(Variants()), [](const auto& variant) {
  return fmt::format("{}_block{}_F{}", hwy::TargetName(variant.param.target), variant.param.block,
                     variant.param.tile == WinogradTile::kF2x2 ? 2 : 4);
});

TEST_P(WinogradOnTarget, SizesAroundTileEdges) {
  Rng rng(11);
  for (int out = 1; out <= 13; ++out) {
    for (const bool tall : {false, true}) {
      const int other = static_cast<int>(rng.UniformRange(1, 13));
      Case test = {RandomPads(rng, tall ? out : other, tall ? other : out, GetParam().block), GetParam().tile};
      test.shape.batch = static_cast<int>(rng.UniformRange(1, 3));
      test.shape.in_channels = RandomChannels(rng);
      test.shape.out_channels = RandomChannels(rng);
      test.bias = rng.Bernoulli(0.8);
      test.at = rng.Bernoulli(0.5) ? Guarded::At::kBegin : Guarded::At::kEnd;
      test.threads = static_cast<int>(rng.UniformRange(1, 3));
      ExpectRight(test, rng.Next());
    }
  }
}

TEST_P(WinogradOnTarget, Epilogues) {
  using Kind = Activation::Kind;
  Rng rng(12);
  const float infinity = std::numeric_limits<float>::infinity();
  for (const Activation activation :
       {Activation{}, Activation::Relu(), Activation{Kind::kClip, -1.0F, 6.0F},
        Activation{Kind::kClip, -infinity, 0.5F}, Activation{Kind::kLeakyRelu, 0.1F, 0.0F},
        Activation{Kind::kHardSigmoid, 0.2F, 0.5F}, Activation{Kind::kHardSwish, 1.0F / 6, 0.5F}}) {
    for (const int residual : {0, 1, 2}) {
      Case test = {RandomPads(rng, 9, 6, GetParam().block), GetParam().tile};
      test.shape.batch = 2;
      test.shape.in_channels = 9;
      test.shape.out_channels = 21;
      test.epilogue = {.residual = residual > 0, .activation = activation};
      test.alias = residual == 2;
      ExpectRight(test, rng.Next());
    }
  }
}

// ---- The rest

TEST(WinogradConv, SmallIntegersAreExactWithF2x2) {
  Rng rng(13);
  for (const Variant& variant : Variants()) {
    if (variant.tile != WinogradTile::kF2x2) continue;
    hwy::SetSupportedTargetsForTest(variant.target);
    for (int i = 0; i < 5; ++i) {
      Case test = {RandomPads(rng, 5 + i, 12 - i, variant.block), variant.tile};
      test.shape.in_channels = RandomChannels(rng);
      test.shape.out_channels = RandomChannels(rng);
      test.integers = true;
      test.epilogue = {.residual = i % 2 == 1, .activation = Activation::Relu()};
      ExpectRight(test, rng.Next());
    }
  }
  hwy::SetSupportedTargetsForTest(0);
}

// Large enough for several blocks of tiles, chunks of output channels and parts of threads.
TEST(WinogradConv, LargeLayers) {
  for (const WinogradTile tile : {WinogradTile::kF2x2, WinogradTile::kF4x4}) {
    for (const int threads : {1, 2, 6}) {
      Case test = {{.batch = 2, .in_channels = 70, .out_channels = 100, .height = 45, .width = 61}, tile};
      test.shape.pad_left = test.shape.pad_bottom = 1;
      test.threads = threads;
      test.samples = 3000;
      ExpectRight(test);
      test.shape = {.in_channels = 256, .out_channels = 240, .height = 7, .width = 7, .pad_top = 1, .pad_left = 1};
      ExpectRight(test);
    }
  }
}

TEST(WinogradConv, MayRunTwiceAtOnce) {
  const WinogradShape s = {.in_channels = 16, .out_channels = 16, .height = 20, .width = 20};
  std::vector<float> weights(16 * 16 * 9);
  Rng rng(3);
  for (float& value : weights) value = static_cast<float>(rng.Normal());
  const WinogradConv conv(s, WinogradTile::kF4x4, {}, weights, {});
  Guarded x(16 * 20 * 20, Guarded::At::kBegin);
  for (size_t i = 0; i < 16 * 20 * 20; ++i) x.data()[i] = static_cast<float>(rng.Normal());
  Guarded y0(16 * 18 * 18, Guarded::At::kBegin), y1(16 * 18 * 18, Guarded::At::kBegin);
  Threads(2).For(2, [&](size_t i) {
    Guarded scratch(conv.scratch_bytes(1) / sizeof(float), Guarded::At::kEnd);
    conv.Run(x.data(), nullptr, i == 0 ? y0.data() : y1.data(), scratch.data());
  });
  EXPECT_EQ(std::memcmp(y0.data(), y1.data(), 16 * 18 * 18 * sizeof(float)), 0);
}

TEST(WinogradConv, SaysWhatItCannotDo) {
  const WinogradShape good = {.in_channels = 3, .out_channels = 5, .height = 3, .width = 3};
  EXPECT_EQ(WhyNoWinograd(good, {}), nullptr);
  EXPECT_EQ(WhyNoWinograd(good, {.activation = Activation::Relu()}), nullptr);
  for (const auto kind :
       {Activation::Kind::kSigmoid, Activation::Kind::kSilu, Activation::Kind::kGelu, Activation::Kind::kTanh}) {
    EXPECT_STREQ(WhyNoWinograd(good, {.activation = {kind}}), "the kernel does not have the activation");
  }
  const auto refuses = [&good](auto change) {
    WinogradShape bad = good;
    change(bad);
    return WhyNoWinograd(bad, {}) != nullptr;
  };
  EXPECT_TRUE(refuses([](WinogradShape& s) { s.batch = 0; }));
  EXPECT_TRUE(refuses([](WinogradShape& s) { s.in_channels = 0; }));
  EXPECT_TRUE(refuses([](WinogradShape& s) { s.out_channels = -1; }));
  EXPECT_TRUE(refuses([](WinogradShape& s) { s.height = 2; }));
  EXPECT_TRUE(refuses([](WinogradShape& s) { s.width = 0; }));
  EXPECT_TRUE(refuses([](WinogradShape& s) { s.pad_left = -1; }));
  EXPECT_TRUE(refuses([](WinogradShape& s) { s.pad_top = std::numeric_limits<int>::max(); }));
  EXPECT_TRUE(refuses([](WinogradShape& s) { s.block = 4; }));
  EXPECT_TRUE(refuses([](WinogradShape& s) { s.batch = s.height = s.width = 1 << 20; }));
}

TEST(WinogradConvDeathTest, ChecksItsPreconditions) {
  const WinogradShape s = {.in_channels = 1, .out_channels = 1, .height = 3, .width = 3};
  const std::vector<float> weights(9);
  EXPECT_DEATH(WinogradConv(s, WinogradTile::kF2x2, {}, std::vector<float>(8), {}), "8 against 9");
  EXPECT_DEATH(WinogradConv(s, WinogradTile::kF2x2, {}, weights, weights), "9 against 1");
  EXPECT_DEATH(WinogradConv({}, WinogradTile::kF2x2, {}, weights, {}), "the shape is empty");
  const WinogradConv conv(s, WinogradTile::kF2x2, {}, weights, {});
  Guarded x(9 * 16, Guarded::At::kBegin), y(16, Guarded::At::kBegin);
  Guarded scratch(conv.scratch_bytes(1) / sizeof(float), Guarded::At::kBegin);
  EXPECT_DEATH(conv.Run(x.data(), y.data(), y.data(), scratch.data()), "residual");
  EXPECT_DEATH(conv.Run(x.data() + 1, nullptr, y.data(), scratch.data()), "aligned");
}

TEST(WinogradPlan, DividesNoFurtherThanThereIsWork) {
  for (const size_t tiles : {1, 4, 49, 784, 50000}) {
    for (const size_t channels : {8, 64, 512}) {
      for (const size_t units : {1, 3, 16}) {
        for (const size_t threads : {1, 2, 7, 64}) {
          const WinogradSizes sizes = {.tiles = tiles,
                                       .positions = 36,
                                       .channels = channels,
                                       .units = units,
                                       .unit_channels = 32,
                                       .lanes = 16,
                                       .rows = 14};
          const WinogradPlan plan = MakeWinogradPlan(sizes, threads, size_t{1} << 20);
          EXPECT_LE(plan.tile_parts * plan.unit_parts, threads);
          EXPECT_LE(plan.tile_parts, tiles);
          EXPECT_LE(plan.unit_parts, units);
          EXPECT_GE(plan.block_tiles, 1U);
          EXPECT_LE(plan.block_tiles, tiles);
          EXPECT_EQ(plan.v_stride(sizes) % 32, 16U);
          EXPECT_EQ(plan.m_stride(sizes) % 32, 16U);
        }
      }
    }
  }
}

}  // namespace
}  // namespace rlc

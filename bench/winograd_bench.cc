// Our Winograd convolutions beside oneDNN's direct and Winograd ones, on one thread:
//
//   winograd_bench [--avx2] [--rounds N] [--stages] [IN,OUT,SIZE ...]
//
// Layers: 3x3, stride 1, pads 1, bias and Relu, batch 1; without arguments those of ResNet, VGG-11 and SqueezeNet. All
// take and give the channel blocks that they like best. In each round every implementation runs once unmeasured (after
// the others have used the caches) and then for about 3 ms; figures are medians over the rounds, as GFLOP/s of the
// direct convolution, ratios with 95 % bootstrap intervals over paired rounds. --avx2 hides AVX-512 from both.
// --stages: where our time goes, from calls of each stage on blocks as the convolution makes them.

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hwy/aligned_allocator.h"
#include "hwy/targets.h"
#include "oneapi/dnnl/dnnl.hpp"
#include "rlc/base/rng.h"
#include "rlc/base/statistics.h"
#include "rlc/kernels/winograd_conv.h"
#include "rlc/kernels/winograd_kernels.h"
#include "rlc/kernels/winograd_plan.h"

namespace rlc {
namespace {

struct Layer {
  int in, out, size;
  double Flops() const { return 18.0 * in * out * size * size; }
};

constexpr Layer kLayers[] = {
    {64, 64, 56},   {128, 128, 28}, {256, 256, 14}, {512, 512, 7},  // ResNet-18 and 50
    {64, 128, 112}, {128, 256, 56}, {256, 256, 56},                 // VGG-11
    {256, 512, 28}, {512, 512, 28}, {512, 512, 14},                 //
    {64, 256, 27},  {48, 192, 13},                                  // SqueezeNet
};

using Floats = hwy::AlignedFreeUniquePtr<float[]>;

Floats RandomFloats(Rng& rng, size_t count) {
  Floats floats = hwy::AllocateAligned<float>(count);
  for (size_t i = 0; i < count; ++i) floats[i] = static_cast<float>(rng.Normal());
  return floats;
}

double Seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

// ---- The implementations: each holds its operands and runs the layer once for each call.

struct Implementation {
  std::string name;
  std::function<void()> run;
  std::function<std::vector<float>()> result;  // plain NCHW
  std::vector<double> times;
};

// Channels in blocks to plain and back.
std::vector<float> Plain(const float* blocked, int channels, int size, int block) {
  const size_t pixels = static_cast<size_t>(size) * static_cast<size_t>(size), b = static_cast<size_t>(block);
  std::vector<float> plain(static_cast<size_t>(channels) * pixels);
  for (size_t c = 0; c < static_cast<size_t>(channels); ++c) {
    for (size_t i = 0; i < pixels; ++i) plain[c * pixels + i] = blocked[(c / b * pixels + i) * b + c % b];
  }
  return plain;
}

struct Operands {
  std::vector<float> x, weights, bias;
};

Implementation Own(const Layer& layer, const Operands& operands, WinogradTile tile, int block) {
  const WinogradShape shape = {.in_channels = layer.in,
                               .out_channels = layer.out,
                               .height = layer.size,
                               .width = layer.size,
                               .pad_top = 1,
                               .pad_left = 1,
                               .pad_bottom = 1,
                               .pad_right = 1,
                               .block = block};
  const Epilogue epilogue = {.activation = Activation::Relu()};
  const auto conv = std::make_shared<WinogradConv>(shape, tile, epilogue, operands.weights, operands.bias);
  const auto blocks = [block](int channels) { return static_cast<size_t>((channels + block - 1) / block * block); };
  const size_t pixels = static_cast<size_t>(layer.size) * static_cast<size_t>(layer.size);
  const size_t b = static_cast<size_t>(block);
  const auto allocate = [](size_t count) {
    auto floats = std::make_shared<Floats>(hwy::AllocateAligned<float>(count));
    std::fill(floats->get(), floats->get() + count, 0.0F);
    return floats;
  };
  const auto x = allocate(blocks(layer.in) * pixels), y = allocate(blocks(layer.out) * pixels);
  const auto scratch = allocate(conv->scratch_bytes(1) / sizeof(float));
  for (size_t c = 0; c < static_cast<size_t>(layer.in); ++c) {
    for (size_t i = 0; i < pixels; ++i) (*x)[(c / b * pixels + i) * b + c % b] = operands.x[c * pixels + i];
  }
  return {tile == WinogradTile::kF2x2 ? "own F2" : "own F4",
          [=] { conv->Run(x->get(), nullptr, y->get(), scratch->get()); },
          [=] { return Plain(y->get(), layer.out, layer.size, block); },
          {}};
}

// Nothing if oneDNN has no such algorithm for the layer here.
std::optional<Implementation> OneDnn(const Layer& layer, const Operands& operands, dnnl::algorithm algorithm) {
  using Memory = dnnl::memory;
  const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  const auto stream = std::make_shared<dnnl::stream>(engine);
  const Memory::dims x_dims = {1, layer.in, layer.size, layer.size}, y_dims = {1, layer.out, layer.size, layer.size};
  const Memory::dims w_dims = {layer.out, layer.in, 3, 3};
  const auto type = Memory::data_type::f32;
  const auto any = [type](const Memory::dims& dims) { return Memory::desc(dims, type, Memory::format_tag::any); };
  const Memory::desc bias_desc({layer.out}, type, Memory::format_tag::x);
  dnnl::post_ops relu;
  relu.append_eltwise(1.0F, dnnl::algorithm::eltwise_relu, 0.0F, 0.0F);
  dnnl::primitive_attr attributes;
  attributes.set_post_ops(relu);
  const dnnl::convolution_forward::desc description(dnnl::prop_kind::forward_inference, algorithm, any(x_dims),
                                                    any(w_dims), bias_desc, any(y_dims), {1, 1}, {1, 1}, {1, 1});
  dnnl::convolution_forward::primitive_desc chosen;
  try {
    chosen = dnnl::convolution_forward::primitive_desc(description, attributes, engine);
  } catch (const dnnl::error&) {
    return std::nullopt;
  }
  const auto reorder = [&](const std::vector<float>& from, const Memory::dims& dims, Memory::format_tag tag,
                           const Memory::desc& wanted) {
    Memory plain({dims, type, tag}, engine, const_cast<float*>(from.data()));
    Memory memory(wanted, engine);
    dnnl::reorder(plain, memory).execute(*stream, plain, memory);
    stream->wait();
    return memory;
  };
  const Memory x = reorder(operands.x, x_dims, Memory::format_tag::nchw, chosen.src_desc());
  const Memory weights = reorder(operands.weights, w_dims, Memory::format_tag::oihw, chosen.weights_desc());
  const Memory bias = reorder(operands.bias, {layer.out}, Memory::format_tag::x, chosen.bias_desc());
  const Memory y(chosen.dst_desc(), engine);
  const auto primitive = std::make_shared<dnnl::convolution_forward>(chosen);
  const auto result = [=] {
    std::vector<float> to(static_cast<size_t>(layer.out) * static_cast<size_t>(layer.size * layer.size));
    Memory plain({y_dims, type, Memory::format_tag::nchw}, engine, to.data());
    Memory from = y;
    dnnl::reorder(from, plain).execute(*stream, from, plain);
    stream->wait();
    return to;
  };
  const bool direct = algorithm == dnnl::algorithm::convolution_direct;
  return Implementation{
      direct ? "oneDNN direct" : "oneDNN Winograd",
      [=] {
        primitive->execute(*stream,
                           {{DNNL_ARG_SRC, x}, {DNNL_ARG_WEIGHTS, weights}, {DNNL_ARG_BIAS, bias}, {DNNL_ARG_DST, y}});
        stream->wait();
      },
      result,
      {}};
}

// ---- Measurement

void Measure(std::vector<Implementation>& implementations, int rounds) {
  std::vector<int> repeats;
  for (Implementation& it : implementations) {
    it.run();
    const double start = Seconds();
    it.run();
    repeats.push_back(std::max(1, static_cast<int>(0.003 / (Seconds() - start))));
  }
  for (int round = 0; round < rounds; ++round) {
    for (size_t i = 0; i < implementations.size(); ++i) {
      const size_t at = (i + static_cast<size_t>(round)) % implementations.size();
      Implementation& it = implementations[at];
      it.run();
      const double start = Seconds();
      for (int repeat = 0; repeat < repeats[at]; ++repeat) it.run();
      it.times.push_back((Seconds() - start) / repeats[at]);
    }
  }
}

double RelativeError(const std::vector<float>& wanted, const std::vector<float>& found) {
  return RelativeRms(wanted, found);
}

// Seconds of each stage over the whole layer.
void PrintStages(const Layer& layer, WinogradTile tile, int block) {
  const WinogradKernels kernels = ChooseWinogradKernels(tile, block, Activation::Kind::kClip);
  const size_t out = tile == WinogradTile::kF2x2 ? 2 : 4, b = static_cast<size_t>(block);
  const size_t side = (static_cast<size_t>(layer.size) + out - 1) / out, positions = (out + 2) * (out + 2);
  const size_t unit = std::max(2 * kernels.lanes, b);
  const size_t in = (static_cast<size_t>(layer.in) + b - 1) / b * b;
  const WinogradSizes sizes = {.tiles = side * side,
                               .positions = positions,
                               .channels = in,
                               .units = (static_cast<size_t>(layer.out) + unit - 1) / unit,
                               .unit_channels = unit,
                               .lanes = kernels.lanes,
                               .rows = kernels.rows};
  const WinogradPlan plan = MakeWinogradPlan(sizes, 1, L2CacheBytes());
  Rng rng(5);
  const size_t width = static_cast<size_t>(layer.size) + 8;  // padded: all tiles whole
  const Floats x = RandomFloats(rng, in * width * width), y = RandomFloats(rng, sizes.units * unit * width * width);
  const Floats u = RandomFloats(rng, positions * in * sizes.units * unit), bias = RandomFloats(rng, sizes.units * unit);
  const Floats v = RandomFloats(rng, positions * plan.v_stride(sizes)),
               m = RandomFloats(rng, positions * plan.m_stride(sizes));
  std::vector<WinogradSpot> spots;
  for (size_t t = 0; t < sizes.tiles; ++t) {
    const ptrdiff_t at = static_cast<ptrdiff_t>((t / side * width + t % side) * out * b);
    const int8_t whole = static_cast<int8_t>(out), taps = static_cast<int8_t>(out + 2);
    spots.push_back({at, at, 0, taps, 0, taps, whole, whole});
  }
  double best[3] = {1e9, 1e9, 1e9};
  for (int repeat = 0; repeat < 20; ++repeat) {
    double seconds[3] = {};
    const auto timed = [&seconds](int stage, auto&& call) {
      const double start = Seconds();
      call();
      seconds[stage] += Seconds() - start;
    };
    for (size_t begin = 0; begin < sizes.tiles; begin += plan.block_tiles) {
      const size_t count = std::min(plan.block_tiles, sizes.tiles - begin);
      const WinogradTileBlock tiles = {spots.data() + begin, count, (count + kernels.rows - 1) / kernels.rows};
      const ptrdiff_t plane = static_cast<ptrdiff_t>(width * width * b), row = static_cast<ptrdiff_t>(width * b);
      timed(0, [&] { kernels.input(tiles, {x.get(), in / b, plane, row, v.get(), plan.v_stride(sizes)}); });
      for (size_t i = 0; i < sizes.units; ++i) {
        timed(1, [&] {
          kernels.product(tiles, {v.get(), u.get() + i * unit * in * positions, m.get(), plan.v_stride(sizes),
                                  plan.m_stride(sizes), in, in, unit / (2 * kernels.lanes), false});
        });
        timed(2, [&] {
          kernels.output(tiles, {m.get(), plan.m_stride(sizes), bias.get(), nullptr, y.get() + i * unit * width * width,
                                 unit / b, plane, row, 0.0F, 1e30F});
        });
      }
    }
    for (int stage = 0; stage < 3; ++stage) best[stage] = std::min(best[stage], seconds[stage]);
  }
  const double products = 2.0 * static_cast<double>(positions * sizes.tiles * in * sizes.units * unit);
  fmt::print(
      "    F{}: {} tiles in blocks of {}; input {:.3f} ms, product {:.3f} ms ({:.0f} GFLOP/s), "
      "output {:.3f} ms\n",
      out, sizes.tiles, plan.block_tiles, best[0] * 1e3, best[1] * 1e3, products / best[1] * 1e-9, best[2] * 1e3);
}

int Main(std::vector<Layer> layers, int rounds, bool avx2, bool stages) {
  if (avx2) hwy::DisableTargets(HWY_AVX3 | HWY_AVX3_DL);
  const int block = ChooseWinogradKernels(WinogradTile::kF2x2, 8, Activation::Kind::kNone).lanes >= 16 ? 16 : 8;
  if (layers.empty()) layers.assign(std::begin(kLayers), std::end(kLayers));
  std::vector<double> over_direct, over_winograd;
  fmt::print("GFLOP/s of the direct convolution; blocks of {} channels\n", block);
  fmt::print("{:>16} {:>8} {:>8} {:>8} {:>8}   best of own over direct   over Winograd\n", "layer", "own F2", "own F4",
             "direct", "Winograd");
  for (const Layer& layer : layers) {
    Rng rng(17);
    const auto draw = [&rng](size_t count) {
      std::vector<float> values(count);
      for (float& value : values) value = static_cast<float>(rng.Normal());
      return values;
    };
    const size_t in = static_cast<size_t>(layer.in), out = static_cast<size_t>(layer.out);
    const Operands operands = {draw(in * static_cast<size_t>(layer.size * layer.size)), draw(in * out * 9), draw(out)};
    std::vector<Implementation> all = {Own(layer, operands, WinogradTile::kF2x2, block),
                                       Own(layer, operands, WinogradTile::kF4x4, block)};
    for (const auto algorithm : {dnnl::algorithm::convolution_direct, dnnl::algorithm::convolution_winograd}) {
      if (auto it = OneDnn(layer, operands, algorithm)) all.push_back(std::move(*it));
    }
    Measure(all, rounds);
    std::string line = fmt::format("{:>16}", fmt::format("{}->{} {}x{}", layer.in, layer.out, layer.size, layer.size));
    for (const Implementation& it : all) line += fmt::format(" {:>8.1f}", layer.Flops() / Median(it.times) * 1e-9);
    if (all.size() < 4) line += "        -";
    const std::vector<double>& own = Median(all[0].times) < Median(all[1].times) ? all[0].times : all[1].times;
    const auto ratio = [&](const Implementation& other, std::vector<double>& ratios) {
      const Estimate estimate = RatioOfMedians(other.times, own, {.paired = true});
      ratios.push_back(estimate.value);
      line += fmt::format("   {:.2f} [{:.2f}, {:.2f}]", estimate.value, estimate.low, estimate.high);
    };
    ratio(all[2], over_direct);
    if (all.size() == 4) ratio(all[3], over_winograd);
    fmt::print("{}\n", line);
    const std::vector<float> wanted = all[2].result();
    for (const Implementation& it : all) {
      if (const double error = RelativeError(wanted, it.result()); !(error < 1e-4)) {
        fmt::print("    {} is wrong: relative error {}\n", it.name, error);
      }
    }
    if (stages) {
      PrintStages(layer, WinogradTile::kF2x2, block);
      PrintStages(layer, WinogradTile::kF4x4, block);
    }
    std::fflush(stdout);
  }
  fmt::print("geometric means: {:.3f} x direct", GeometricMean(over_direct));
  if (!over_winograd.empty()) fmt::print(", {:.3f} x Winograd", GeometricMean(over_winograd));
  fmt::print("\n");
  return 0;
}

}  // namespace
}  // namespace rlc

int main(int argc, char** argv) {
  // oneDNN's OpenMP reads this when it is loaded, so the program starts itself again.
  if (std::getenv("OMP_NUM_THREADS") == nullptr) {
    setenv("OMP_NUM_THREADS", "1", 1);
    execv("/proc/self/exe", argv);
  }
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  CPU_SET(1 % static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN)), &cpus);
  sched_setaffinity(0, sizeof(cpus), &cpus);
  bool avx2 = false, stages = false;
  int rounds = 31;
  std::vector<rlc::Layer> layers;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    rlc::Layer layer{};
    if (argument == "--avx2") {
      avx2 = true;
      setenv("DNNL_MAX_CPU_ISA", "AVX2", 1);
    } else if (argument == "--stages") {
      stages = true;
    } else if (argument == "--rounds" && i + 1 < argc) {
      rounds = std::max(3, std::atoi(argv[++i]));
    } else if (std::sscanf(argv[i], "%d,%d,%d", &layer.in, &layer.out, &layer.size) == 3) {
      layers.push_back(layer);
    } else {
      fmt::print(stderr, "usage: winograd_bench [--avx2] [--rounds N] [--stages] [IN,OUT,SIZE ...]\n");
      return 1;
    }
  }
  return rlc::Main(std::move(layers), rounds, avx2, stages);
}

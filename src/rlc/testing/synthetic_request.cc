#include "rlc/testing/synthetic_request.h"

#include "rlc/base/rng.h"

namespace rlc {
namespace {

enum class Kind { kConv, kExpand, kDepthwise, kProject, kGemm };

Kind KindOf(int layer, int layers) {
  if (layer == layers - 1) return Kind::kGemm;
  if (layer == 0) return Kind::kConv;
  constexpr Kind kBlock[] = {Kind::kExpand, Kind::kDepthwise, Kind::kProject};
  return kBlock[(layer - 1) % 3];
}

LayerEntry MakeLayer(int number, int layers, Kind kind) {
  LayerEntry layer;
  layer.number = number;
  layer.name = fmt::format("layer{}", number);
  layer.op = kind == Kind::kGemm ? "Gemm" : "Conv";
  layer.signature = fmt::format("synthetic {}", number);
  layer.has_bn = kind != Kind::kGemm;
  if (number + 1 < layers) layer.readers.push_back(number + 1);
  if (kind == Kind::kProject && number + 4 < layers) layer.readers.push_back(number + 4);  // over the residual sum
  return layer;
}

LayerTimes MakeTimes(Kind kind, Rng& rng) {
  const bool depthwise = kind == Kind::kDepthwise;
  LayerTimes times;
  times.float_ms = depthwise ? rng.UniformReal(0.03, 0.1) : rng.UniformReal(0.05, 0.35);
  times.int8_ms = times.float_ms * (depthwise ? rng.UniformReal(0.8, 1.3) : rng.UniformReal(0.3, 0.6));
  times.quantize_ms = rng.UniformReal(0.005, 0.03);
  times.dequantize_ms = rng.UniformReal(0.005, 0.03);
  return times;
}

void AddEntry(TrainRequest& request, CatalogueEntry entry, double drop) {
  request.catalogue.entries.push_back(std::move(entry));
  request.tables.entry_drop.push_back(drop);
}

void AddEntries(TrainRequest& request, int number, Kind kind, Rng& rng) {
  const double one = rng.UniformReal(), two = rng.UniformReal();
  CatalogueEntry entry;
  entry.layer = number;
  if (kind != Kind::kGemm) {
    entry.type = ActionType::kFuseConvBn;
    entry.name = fmt::format("fuse_conv_bn layer{}", number);
    AddEntry(request, entry, 0);
  }
  entry.type = ActionType::kQuantize;
  entry.name = fmt::format("quantize layer{} u8s7", number);
  // A long tail: most layers cost next to nothing, a few cost more than the whole limit.
  const double fourth = one * one * one * one;
  AddEntry(request, entry, fourth * fourth * (kind == Kind::kDepthwise ? 0.03 : 0.02));
  if (kind != Kind::kExpand) return;
  entry.type = ActionType::kPrune;
  entry.sparsity = 0.5;
  entry.name = fmt::format("prune layer{} 0.50", number);
  for (int shrunk = number; shrunk < number + 3 && shrunk < static_cast<int>(request.catalogue.layers.size());
       ++shrunk) {
    entry.shrinks.push_back({shrunk, 0.5});
  }
  AddEntry(request, entry, 0.002 + two * two * 0.03);
}

}  // namespace

TrainRequest SyntheticRequest(int layers, uint64_t seed) {
  TrainRequest request;
  Rng rng(seed);
  for (int layer = 0; layer < layers; ++layer) {
    request.catalogue.layers.push_back(MakeLayer(layer, layers, KindOf(layer, layers)));
    request.tables.layers.push_back(MakeTimes(KindOf(layer, layers), rng));
    request.tables.exact_ms += request.tables.layers.back().float_ms;
  }
  for (int layer = 0; layer < layers; ++layer) AddEntries(request, layer, KindOf(layer, layers), rng);
  request.tables.baseline_ms = 1.02 * request.tables.exact_ms;
  request.tables.drop_known = true;
  request.features.nodes = 3.0 * layers;
  request.features.inputs = request.features.outputs = 1;
  request.features.parameters = 50'000.0 * layers;
  request.features.bytes = 200'000.0 * layers;
  request.features.depth = 3.0 * layers;
  request.features.ops[0] = request.features.ops[2] = layers - 1.0;  // Conv, BatchNormalization
  request.features.ops[6] = 1;                                       // Gemm
  request.env.max_steps = 2 * layers;
  request.env.target_drop = 0.01;
  return request;
}

}  // namespace rlc

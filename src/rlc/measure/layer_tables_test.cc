#include "rlc/measure/layer_tables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "rlc/measure/inputs.h"
#include "rlc/measure/layer_models.h"
#include "rlc/measure/test_models.h"
#include "rlc/ort/session.h"

namespace rlc {
namespace {

using ::testing::HasSubstr;

LayerShape Conv(int64_t in, int64_t out, int64_t group = 1, int64_t size = 16) {
  LayerShape shape;
  shape.op = "Conv";
  shape.in_channels = in;
  shape.out_channels = out;
  shape.group = group;
  shape.kernel = {3, 3};
  shape.strides = {1, 1};
  shape.dilations = {1, 1};
  shape.pads = {1, 1, 1, 1};
  shape.input = {1, in, size, size};
  shape.output = {1, out, size, size};
  return shape;
}

LayerShape Dense(const std::string& op, int64_t in, int64_t out) {
  LayerShape shape;
  shape.op = op;
  shape.in_channels = in;
  shape.out_channels = out;
  shape.input = {1, in};
  shape.output = {1, out};
  return shape;
}

std::set<std::string> Ops(const Graph& graph) {
  std::set<std::string> ops;
  for (const NodeId id : graph.nodes()) ops.insert(graph.node(id).op);
  return ops;
}

// Loads and runs a model as the tables do.
void ExpectRuns(const Model& model, const std::string& what) {
  const std::string bytes = SerializeModel(model).value();
  SessionOptions options;
  options.level = OptLevel::kNone;
  const auto session = Session::FromBytes(bytes, what, options);
  ASSERT_TRUE(session) << session.error().message;
  const auto inputs = RandomInputs(session->inputs(), {}, 1);
  ASSERT_TRUE(inputs) << inputs.error().message;
  const auto outputs = session->Run(*inputs);
  EXPECT_TRUE(outputs) << what << ": " << (outputs ? "" : outputs.error().message);
}

TEST(LayerModels, RunWithoutLayoutChangesAtTheirBorders) {
  for (const LayerShape& shape :
       {Conv(16, 32), Conv(3, 8), Conv(16, 16, 16), Conv(12, 20), Dense("Gemm", 32, 10), Dense("MatMul", 32, 10)}) {
    const std::string what = LayerSignature(shape);
    for (const bool int8 : {false, true}) {
      const auto plain = int8 ? Int8LayerModel(shape, "x") : FloatLayerModel(shape, "x");
      ASSERT_TRUE(plain) << what << ": " << plain.error().message;
      ExpectRuns(*plain, what);
      const auto inside = InsideNetwork(*plain, "x");
      ASSERT_TRUE(inside) << what << ": " << inside.error().message;
      const auto ops = Ops(inside->graph);
      EXPECT_FALSE(ops.contains("Transpose") || ops.contains("ReorderOutput")) << what;
      // Relu is fused into everything but a float MatMul.
      EXPECT_EQ(inside->graph.nodes().size(), shape.op == "MatMul" && !int8 ? 2u : 1u)
          << what << (int8 ? " int8" : " float");
      ExpectRuns(*inside, what + (int8 ? " int8" : " float"));
    }
  }
}

TEST(LayerModels, BordersRun) {
  for (const std::vector<int64_t>& dims : {std::vector<int64_t>{1, 16, 8, 8}, {1, 3, 8, 8}, {1, 20, 8, 8}, {1, 64}}) {
    ExpectRuns(QuantizeModel(dims, "x").value(), "quantize");
    ExpectRuns(DequantizeModel(dims, "x").value(), "dequantize");
  }
}

TEST(LayerModels, RefuseWhatTheyDoNotKnow) {
  LayerShape unknown = Conv(8, 8);
  unknown.input.clear();
  EXPECT_EQ(FloatLayerModel(unknown, "x").error().kind, ErrorKind::kUnavailable);
  LayerShape transposed = Conv(8, 8);
  transposed.op = "ConvTranspose";
  EXPECT_THAT(Int8LayerModel(transposed, "x").error().message, HasSubstr("no integer kernel"));
  EXPECT_TRUE(FloatLayerModel(transposed, "x"));
}

TEST(MeasureLayers, FillsTheTablesOnceAndThenReadsThem) {
  const auto folder = TempDir::Create();
  auto store = TrialStore::Open(JoinPath(folder->path(), "t"));
  ASSERT_TRUE(store);
  const std::vector<LayerShape> layers = {Conv(16, 16, 1, 8), Conv(64, 64, 1, 32), Conv(16, 16, 1, 8),
                                          Dense("Gemm", 64, 10)};
  LayerTableOptions options;
  options.seconds_each = 0.02;
  const auto tables = MeasureLayers(layers, "machine", *store, options);
  ASSERT_TRUE(tables) << tables.error().message;
  for (const LayerShape& layer : layers) {
    for (const char* form : {"float", "int8"}) {
      const Estimate* ms = tables->Find(LayerSignature(layer), form);
      ASSERT_NE(ms, nullptr) << LayerSignature(layer) << " " << form;
      EXPECT_GT(ms->value, 0);
    }
    EXPECT_NE(tables->Find(BorderSignature(layer.input), "quantize"), nullptr);
    EXPECT_NE(tables->Find(BorderSignature(layer.output), "dequantize"), nullptr);
  }
  // 256 times the work.
  EXPECT_GT(tables->Find(LayerSignature(layers[1]), "float")->value,
            tables->Find(LayerSignature(layers[0]), "float")->value);
  EXPECT_EQ(tables->Find("no such layer", "float"), nullptr);

  int reports = 0;
  const auto again = MeasureLayers(layers, "machine", *store, options, [&](const Progress&) { ++reports; });
  ASSERT_TRUE(again);
  EXPECT_EQ(again->ms, tables->ms) << "everything comes from the store";
  EXPECT_GT(reports, 0);
}

TEST(MeasureLayers, LeavesOutWhatCannotBeMeasured) {
  const auto folder = TempDir::Create();
  auto store = TrialStore::Open(JoinPath(folder->path(), "t"));
  LayerShape unknown = Conv(8, 8);
  unknown.output.clear();
  LayerTableOptions options;
  options.seconds_each = 0.01;
  const auto tables = MeasureLayers(std::vector<LayerShape>{unknown}, "machine", *store, options);
  ASSERT_TRUE(tables) << tables.error().message;
  EXPECT_EQ(tables->Find(LayerSignature(unknown), "float"), nullptr);
}

}  // namespace
}  // namespace rlc

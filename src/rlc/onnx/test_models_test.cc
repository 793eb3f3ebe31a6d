#include "rlc/onnx/test_models.h"

#include <gtest/gtest.h>
#include <onnx/defs/parser.h>
#include <onnx/onnx_pb.h>

#include <utility>

#include "rlc/onnx/import.h"

namespace rlc {

onnx::ModelProto ProtoOf(const char* text) {
  onnx::ModelProto proto;
  onnx::OnnxParser parser(text);
  const auto status = parser.Parse(proto);
  EXPECT_TRUE(status.IsOK()) << status.ErrorMessage();
  return proto;
}

Model ModelOf(const char* text) {
  auto model = ParseModel(ProtoOf(text).SerializeAsString(), "test", "");
  EXPECT_TRUE(model.has_value()) << model.error().message;
  return model ? *std::move(model) : Model{};
}

}  // namespace rlc

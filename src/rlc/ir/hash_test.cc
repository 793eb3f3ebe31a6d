#include "rlc/ir/hash.h"

#include <gtest/gtest.h>

#include "rlc/ir/text.h"

namespace rlc {
namespace {

std::string Of(std::string_view text) {
  const auto model = ParseModelText(text);
  EXPECT_TRUE(model) << model.error().message;
  return model ? StructuralHash(*model) : "";
}

constexpr std::string_view kBase = R"(graph (float[2] x) => (y) {
    a = Add(x, %w float[2] = {1, 2})
    b = Clip<min=0.0, max=6.0>(x)
    y = Sub(a, b)
  })";

TEST(StructuralHash, IgnoresInnerNamesOrderAndDeadCode) {
  const std::string base = Of(kBase);
  EXPECT_EQ(base.size(), 32U);
  EXPECT_EQ(Of(R"(graph other (float[2] x) => (y) {
    %unread float[7]
    q = Clip<max=6.0, min=0.0>(x) @"named" layer 4
    float[2] p = Add(x, %v float[2] = {1, 2})
    dead = Neg(p)
    y = Sub(p, q)
  })"),
            base);
}

TEST(StructuralHash, SeesEverythingElse) {
  const std::string base = Of(kBase);
  const auto with = [](std::string from, std::string to) {
    std::string text(kBase);
    text.replace(text.find(from), from.size(), to);
    return Of(text);
  };
  EXPECT_NE(with("Sub(a, b)", "Sub(b, a)"), base);
  EXPECT_NE(with("Sub", "Mul"), base);
  EXPECT_NE(with("Sub", "ai.other::Sub"), base);
  EXPECT_NE(with("{1, 2}", "{1, 3}"), base);
  EXPECT_NE(with("6.0", "6.5"), base);
  EXPECT_NE(with("6.0", "6"), base);
  EXPECT_NE(with("float[2] x", "float[N] x"), base);
  EXPECT_NE(with("(y)", "(float[2] y)"), base);
  EXPECT_NE(with("(y)", "(y, y)"), base);
  EXPECT_NE(with("graph", "<opset 18> graph"), base);
  EXPECT_NE(with("graph", "<ir 9> graph"), base);
  EXPECT_NE(Of("graph (float[2] z) => (z) { }"), Of("graph (float[2] x) => (x) { }"));
}

TEST(StructuralHash, BodiesCountByWhatTheyCapture) {
  const auto branch = [](std::string_view captured, std::string_view local) {
    return Of(fmt::format(R"(graph (bool[] c, float[2] x) => (y) {{
        a = Neg(x)
        b = Abs(x)
        y = If<then_branch=graph () => ({1}) {{ {1} = Relu({0}) }}>(c)
      }})",
                          captured, local));
  };
  EXPECT_EQ(branch("a", "t"), branch("a", "other"));
  EXPECT_NE(branch("a", "t"), branch("b", "t"));
}

}  // namespace
}  // namespace rlc

#include "rlc/ir/evaluate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rlc/ir/text.h"

namespace rlc {
namespace {

using ::testing::HasSubstr;

// The first node of `graph () => () { NODE }` with its constants, in the given opset.
Expected<std::vector<Tensor>> Run(std::string_view node, int opset) {
  const auto graph = ParseGraphText(fmt::format("<opset {}> graph () => () {{ result = {} }}", opset, node));
  if (!graph) return Unexpected(graph.error());
  const Node& call = graph->node(graph->nodes()[0]);
  std::vector<const Tensor*> inputs;
  for (const ValueId input : call.inputs) inputs.push_back(graph->constant(input));
  return BuiltinEvaluator().Evaluate(*graph, call, inputs);
}

// "int64[2] = {1, 2}", or the kind of error with its message.
std::string Value(std::string_view node, int opset = 17) {
  const auto results = Run(node, opset);
  if (!results)
    return (results.error().kind == ErrorKind::kUnavailable ? "unavailable: " : "") + results.error().message;
  Graph graph;
  graph.AddInitializer("w", results->at(0));
  const std::string text = PrintGraph(graph, {std::nullopt, true});
  const size_t begin = text.find("%w ") + 3;
  return text.substr(begin, text.find("\n", begin) - begin);
}

TEST(Evaluate, ShapesAndSizes) {
  EXPECT_EQ(Value("Shape(%x float[2,3,4])"), "int64[3] = {2, 3, 4}");
  EXPECT_EQ(Value("Shape<start=1, end=-1>(%x float[2,3,4])"), "int64[1] = {3}");
  EXPECT_EQ(Value("Shape<start=2, end=1>(%x float[2,3,4])"), "int64[0] = {}");
  EXPECT_EQ(Value("Size(%x float[2,3,4])"), "int64[] = 24");
  EXPECT_EQ(Value("Identity(%x bool[2] = {true, false})"), "bool[2] = {true, false}");
}

TEST(Evaluate, Reshape) {
  EXPECT_EQ(Value("Reshape(%x int64[2,3] = {1,2,3,4,5,6}, %s int64[2] = {-1, 2})"), "int64[3,2] = {1, 2, 3, 4, 5, 6}");
  EXPECT_EQ(Value("Reshape(%x int32[2,1] = {1,2}, %s int64[3] = {0, -1, 1})"), "int32[2,1,1] = {1, 2}");
  EXPECT_EQ(Value("Reshape<allowzero=1>(%x int32[0,3] = {}, %s int64[2] = {3, 0})"), "int32[3,0] = {}");
  EXPECT_THAT(Value("Reshape(%x int32[2] = {1,2}, %s int64[1] = {3})"),
              HasSubstr("2 elements do not fit the shape [3]"));
  EXPECT_THAT(Value("Reshape(%x int32[2] = {1,2}, %s int64[2] = {-1, -1})"), HasSubstr("leaves two dimensions open"));
  EXPECT_THAT(Value("Reshape(%x int32[2] = {1,2}, %s int64[2] = {-1, 0})"), HasSubstr("copies a dimension"));
}

TEST(Evaluate, SqueezeAndUnsqueezeInBothForms) {
  EXPECT_EQ(Value("Squeeze<axes=[0]>(%x int64[1,2] = {1, 2})", 11), "int64[2] = {1, 2}");
  EXPECT_EQ(Value("Squeeze(%x int64[1,2,1] = {1, 2}, %a int64[1] = {-1})"), "int64[1,2] = {1, 2}");
  EXPECT_EQ(Value("Squeeze(%x int64[1,2,1] = {1, 2})"), "int64[2] = {1, 2}");
  EXPECT_THAT(Value("Squeeze(%x int64[2] = {1, 2}, %a int64[1] = {0})"), HasSubstr("has 2 elements"));
  EXPECT_EQ(Value("Unsqueeze<axes=[0, 2]>(%x int64[2] = {1, 2})", 11), "int64[1,2,1] = {1, 2}");
  EXPECT_EQ(Value("Unsqueeze(%x int64[2] = {1, 2}, %a int64[1] = {-1})"), "int64[2,1] = {1, 2}");
  EXPECT_THAT(Value("Unsqueeze(%x int64[2] = {1, 2}, %a int64[2] = {0, 0})"), HasSubstr("axis 0 is given twice"));
  EXPECT_THAT(Value("Unsqueeze(%x int64[2] = {1, 2}, %a int64[1] = {3})"), HasSubstr("axis 3 is out of range"));
}

TEST(Evaluate, TransposeConcatGather) {
  EXPECT_EQ(Value("Transpose(%x int64[2,3] = {1,2,3,4,5,6})"), "int64[3,2] = {1, 4, 2, 5, 3, 6}");
  EXPECT_EQ(Value("Transpose<perm=[1,0,2]>(%x int8[2,1,2] = {1,2,3,4})"), "int8[1,2,2] = {1, 2, 3, 4}");
  EXPECT_THAT(Value("Transpose<perm=[0]>(%x int8[2,1] = {1,2})"), HasSubstr("perm must name 2 axes"));
  EXPECT_EQ(Value("Concat<axis=-1>(%x int64[2,1] = {1,2}, %y int64[2,2] = {3,4,5,6})"),
            "int64[2,3] = {1, 3, 4, 2, 5, 6}");
  EXPECT_EQ(Value("Concat<axis=0>(%x int64[0] = {}, %y int64[1] = {3})"), "int64[1] = {3}");
  EXPECT_THAT(Value("Concat<axis=0>(%x int64[1] = {1}, %y int32[1] = {3})"), HasSubstr("input 1 does not fit"));
  EXPECT_EQ(Value("Gather(%x int64[3] = {5,6,7}, %i int64[] = -1)"), "int64[] = 7");
  EXPECT_EQ(Value("Gather<axis=1>(%x int64[2,3] = {1,2,3,4,5,6}, %i int32[1,2] = {2,0})"),
            "int64[2,1,2] = {3, 1, 6, 4}");
  EXPECT_EQ(Value("Gather(%x int64[1] = {5}, %i int64[] = 1)"), "Gather: index 1 is out of range for 1 elements");
}

TEST(Evaluate, SliceInBothFormsWithNumpysClamping) {
  EXPECT_EQ(Value("Slice<starts=[1], ends=[9223372036854775807]>(%x int64[3] = {1,2,3})", 9), "int64[2] = {2, 3}");
  EXPECT_EQ(Value("Slice(%x int64[4] = {1,2,3,4}, %s int64[1] = {-1}, %e int64[1] = {-9223372036854775808}, "
                  "%a int64[1] = {0}, %t int64[1] = {-2})"),
            "int64[2] = {4, 2}");
  EXPECT_EQ(Value("Slice(%x int64[2,3] = {1,2,3,4,5,6}, %s int32[1] = {0}, %e int32[1] = {2}, %a int32[1] = {-1})"),
            "int64[2,2] = {1, 2, 4, 5}");
  EXPECT_EQ(Value("Slice(%x int64[3] = {1,2,3}, %s int64[1] = {5}, %e int64[1] = {9})"), "int64[0] = {}");
  EXPECT_EQ(Value("Slice(%x int64[3] = {1,2,3}, %s int64[1] = {-9}, %e int64[1] = {-9}, _, %t int64[1] = {-1})"),
            "int64[1] = {1}");
  EXPECT_EQ(Value("Slice(%x int64[0,5] = {}, %s int64[1] = {1}, %e int64[1] = {4}, %a int64[1] = {1})"),
            "int64[0,3] = {}");
  EXPECT_THAT(Value("Slice(%x int64[3], %s int64[1] = {0}, %e int64[1] = {9}, _, %t int64[1] = {0})"),
              HasSubstr("a step is 0"));
}

TEST(Evaluate, ExpandTileConstantOfShapeRange) {
  EXPECT_EQ(Value("Expand(%x int64[2,1] = {1,2}, %s int64[2] = {1, 2})"), "int64[2,2] = {1, 1, 2, 2}");
  EXPECT_EQ(Value("Expand(%x int64[2] = {1,2}, %s int64[2] = {2, 1})"), "int64[2,2] = {1, 2, 1, 2}");
  EXPECT_THAT(Value("Expand(%x int64[2] = {1,2}, %s int64[1] = {3})"), HasSubstr("cannot be expanded to 3"));
  EXPECT_EQ(Value("Tile(%x int64[1,2] = {1,2}, %r int64[2] = {2, 2})"), "int64[2,4] = {1, 2, 1, 2, 1, 2, 1, 2}");
  EXPECT_EQ(Value("Tile(%x int64[2] = {1,2}, %r int64[1] = {0})"), "int64[0] = {}");
  EXPECT_EQ(Value("ConstantOfShape(%s int64[1] = {2})"), "float[2] = {0, 0}");
  EXPECT_EQ(Value("ConstantOfShape<value=int64[1] = {7}>(%s int64[0] = {})"), "int64[] = 7");
  EXPECT_EQ(Value("Range(%a int64[] = 5, %b int64[] = -2, %c int64[] = -3)"), "int64[3] = {5, 2, -1}");
  EXPECT_EQ(Value("Range(%a int64[] = -9223372036854775808, %b int64[] = 9223372036854775807, "
                  "%c int64[] = 9223372036854775807)"),
            "int64[3] = {-9223372036854775808, -1, 9223372036854775806}");
}

TEST(Evaluate, ArithmeticBroadcastsWrapsAndTruncates) {
  EXPECT_EQ(Value("Add(%a int64[2,1] = {1,2}, %b int64[2] = {10,20})"), "int64[2,2] = {11, 21, 12, 22}");
  EXPECT_EQ(Value("Sub(%a float[] = 1, %b float[1] = {0.75})"), "float[1] = {0.25}");
  EXPECT_EQ(Value("Div(%a int64[3] = {7,-7,7}, %b int64[3] = {2,2,-2})"), "int64[3] = {3, -3, -3}");
  EXPECT_EQ(Value("Div(%a int32[1] = {-2147483648}, %b int32[] = -1)"), "int32[1] = {-2147483648}");
  EXPECT_EQ(Value("Mul(%a int64[] = 9223372036854775807, %b int64[] = 2)"), "int64[] = -2");
  EXPECT_EQ(Value("Mul(%a uint16[] = 65535, %b uint16[] = 65535)"), "uint16[] = 1");
  EXPECT_EQ(Value("Mod(%a int64[4] = {5,-5,5,-5}, %b int64[4] = {3,3,-3,-3})"), "int64[4] = {2, 1, -1, -2}");
  EXPECT_EQ(Value("Mod<fmod=1>(%a int64[2] = {-5,5}, %b int64[] = 3)"), "int64[2] = {-2, 2}");
  EXPECT_EQ(Value("Mod<fmod=1>(%a float[] = -5.5, %b float[] = 3)"), "float[] = -2.5");
  EXPECT_EQ(Value("Div(%a float[] = 1, %b float[] = 0)"), "float[] = inf");
  EXPECT_EQ(Value("Div(%a int64[] = 1, %b int64[2] = {1, 0})"), "Div: an integer division by zero");
  EXPECT_THAT(Value("Add(%a int64[2], %b int64[3])"), HasSubstr("dimensions 2 and 3 cannot be broadcast"));
  EXPECT_THAT(Value("Add(%a int64[2], %b int32[2])"), HasSubstr("different types, int64 and int32"));
}

TEST(Evaluate, MinMaxUnary) {
  EXPECT_EQ(Value("Max(%a int64[2] = {1,5}, %b int64[] = 3, %c int64[] = 4)"), "int64[2] = {4, 5}");
  EXPECT_EQ(Value("Min(%a float[2] = {1,nan}, %b float[] = 0)"), "float[2] = {0, nan}");
  EXPECT_EQ(Value("Neg(%a int8[2] = {-128, 5})"), "int8[2] = {-128, -5}");
  EXPECT_EQ(Value("Abs(%a float[2] = {-0.5, 2})"), "float[2] = {0.5, 2}");
  EXPECT_EQ(Value("Abs(%a uint8[1] = {200})"), "uint8[1] = {200}");
  EXPECT_EQ(Value("Floor(%a float[2] = {-0.5, 2.5})"), "float[2] = {-1, 2}");
  EXPECT_EQ(Value("Ceil(%a double[] = 2.1)"), "double[] = 3");
  EXPECT_EQ(Value("Sqrt(%a float[] = 2)"), "float[] = 1.4142135");
}

TEST(Evaluate, ComparisonsAndLogic) {
  EXPECT_EQ(Value("Equal(%a int64[3] = {-1,0,1}, %b int64[] = -1)"), "bool[3] = {true, false, false}");
  EXPECT_EQ(Value("Equal(%a bool[2] = {true,false}, %b bool[] = true)"), "bool[2] = {true, false}");
  EXPECT_EQ(Value("GreaterOrEqual(%a float[2] = {1,nan}, %b float[] = 1)"), "bool[2] = {true, false}");
  EXPECT_EQ(Value("Less(%a int64[2] = {1,2}, %b int64[] = 2)"), "bool[2] = {true, false}");
  EXPECT_EQ(Value("And(%a bool[2] = {true,false}, %b bool[] = true)"), "bool[2] = {true, false}");
  EXPECT_EQ(Value("Xor(%a bool[2] = {true,false}, %b bool[] = true)"), "bool[2] = {false, true}");
  EXPECT_EQ(Value("Not(%a bool[2] = {true,false})"), "bool[2] = {false, true}");
  EXPECT_EQ(Value("Where(%c bool[2,1] = {true,false}, %a int64[2] = {1,2}, %b int64[] = 9)"),
            "int64[2,2] = {1, 2, 9, 9}");
}

TEST(Evaluate, CastsWhereOnnxSaysWhatComesOut) {
  EXPECT_EQ(Value("Cast<to=7>(%a float[3] = {-1.9, 1.9, 3})"), "int64[3] = {-1, 1, 3}");
  EXPECT_EQ(Value("Cast<to=1>(%a int64[1] = {16777217})"), "float[1] = {16777216}");
  EXPECT_EQ(Value("Cast<to=3>(%a int64[1] = {257})"), "int8[1] = {1}");
  EXPECT_EQ(Value("Cast<to=9>(%a float[2] = {0, nan})"), "bool[2] = {false, true}");
  EXPECT_EQ(Value("Cast<to=7>(%a bool[2] = {true, false})"), "int64[2] = {1, 0}");
  EXPECT_EQ(Value("Cast<to=10>(%a float[2] = {1e9, 0.1})"), "float16[2] = {inf, 0.0999755859375}");
  EXPECT_EQ(Value("CastLike(%a int64[1] = {3}, %b float[1] = {9})"), "float[1] = {3}");
  EXPECT_THAT(Value("Cast<to=7>(%a float[1] = {nan})"), HasSubstr("unavailable"));
  EXPECT_THAT(Value("Cast<to=6>(%a float[1] = {3e9})"), HasSubstr("unavailable"));
  EXPECT_THAT(Value("Cast<to=8>(%a float[1] = {3})"), HasSubstr("unavailable"));
}

TEST(Evaluate, ReducesIntegersInBothForms) {
  EXPECT_EQ(Value("ReduceProd<keepdims=0>(%a int64[3] = {2,3,4})"), "int64[] = 24");
  EXPECT_EQ(Value("ReduceSum(%a int64[2,2] = {1,2,3,4}, %x int64[1] = {-1})"), "int64[2,1] = {3, 7}");
  EXPECT_EQ(Value("ReduceSum<axes=[0], keepdims=0>(%a int64[2,2] = {1,2,3,4})", 11), "int64[2] = {4, 6}");
  EXPECT_EQ(Value("ReduceSum<noop_with_empty_axes=1>(%a int64[2] = {1,2})"), "int64[2] = {1, 2}");
  EXPECT_EQ(Value("ReduceMax(%a int32[2,2] = {1,2,3,4}, %x int64[1] = {0})", 18), "int32[1,2] = {3, 4}");
  EXPECT_EQ(Value("ReduceMin<axes=[1]>(%a int32[2,2] = {1,2,3,4})"), "int32[2,1] = {1, 3}");
  EXPECT_THAT(Value("ReduceSum(%a float[2] = {1,2})"), HasSubstr("unavailable"));
}

TEST(Evaluate, LeavesTheRestToOthers) {
  EXPECT_EQ(Value("Conv(%x float[1,1,3,3], %w float[1,1,1,1])"),
            "unavailable: Conv: not among what rlc evaluates by itself");
  EXPECT_THAT(Value("com.example::Add(%x float[1], %w float[1])"), HasSubstr("unavailable"));
  EXPECT_THAT(Value("Add(%x float16[1], %w float16[1])"), HasSubstr("unavailable"));
  EXPECT_THAT(Value("Add<axis=0, broadcast=1>(%x float[1], %w float[1])", 6), HasSubstr("unavailable"));
  EXPECT_THAT(Value("Gather(%x string[1] = {\"a\"}, %i int64[] = 0)"), HasSubstr("unavailable"));
  EXPECT_THAT(Value("ConstantOfShape(%s int64[2] = {100000, 100000})"), HasSubstr("unavailable"));
  EXPECT_THAT(Value("Tile(%x int64[2], %r int64[1] = {4611686018427387904})"), HasSubstr("unavailable"));
}

TEST(Evaluate, MissingInputsAreErrors) {
  EXPECT_EQ(Value("Add(%x float[1])"), "Add: input 1 is missing");
  EXPECT_EQ(Value("Reshape(%x float[1], _)"), "Reshape: input 1 is missing");
  EXPECT_EQ(Value("Gather(_, %i int64[1])"), "Gather: input 0 is missing");
}

}  // namespace
}  // namespace rlc

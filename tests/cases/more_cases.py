"""Siblings of the cases in make_cases.py: the same kinds of trap with other operators, types, opsets and places.

    python more_cases.py --out DIR [--only TEXT]

Written and judged like those (case.json, judge.py). `max_nodes` is what an ideal result has.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper

import make_cases as base
from make_cases import (
    EXACT,
    NUMPY,
    TYPES,
    Net,
    add,
    between,
    bn,
    bn_params,
    case,
    cast,
    cast_chain,
    conv,
    dq_weight,
    hostile,
    if_op,
    loop,
    one_op,
    pad_op,
    set_external,
    slice_op,
    small_net,
    write_model,
)

base.CASES.clear()

CLOSE = (1e-4, 1e-3)
FAR = 2**62


def chain(n: Net, shape, *steps, dtype="f32"):
    """x -> step -> step ... -> y; each step is a function of a tensor name."""
    t = n.x("x", shape, dtype)
    for step in steps:
        t = step(t)
    n.nodes[-1].output[0] = "y"
    n.y("y")


def neutral(name: str, step, shape=(2, 3), dtype="f32", nodes=2, family="neutral", opset=17, ir=8, **fields):
    """x -> Neg -> something that does nothing -> Abs -> y."""
    fields = {"max_nodes": nodes, "tolerance": EXACT} | fields
    add(
        name,
        family,
        "This does nothing.",
        lambda n: between(n, list(shape), dtype, lambda t: step(n, t)),
        opset,
        ir,
        **fields,
    )


def masked(name: str, step, opset=17, **fields):
    """The same for bool: x -> Not -> something -> Not -> y, where the pair may go as well."""
    fields = {"max_nodes": 1, "tolerance": EXACT} | fields

    def build(n):
        t = step(n, n.op("Not", n.x("x", [2, 3], "bool")))
        n.op("Not", t, to="y")
        n.y("y")

    add(name, "neutral", "This does nothing.", build, opset, **fields)


# --- slices --------------------------------------------------------------------------------------------------------

add(
    "slice_backwards_then_range",
    "slice",
    "A range of a reversed axis counts from its end.",
    lambda n: base.slice_chain(n, [2, 8], ([-1], [-FAR], [1], [-1]), ([1], [4], [1])),
    max_nodes=1,
    tolerance=EXACT,
)
add(
    "slice_backwards_twice",
    "slice",
    "Reversing twice is a copy.",
    lambda n: base.slice_chain(n, [5], ([-1], [-FAR], [0], [-1]), ([-1], [-FAR], [0], [-1])),
    max_nodes=1,
    tolerance=EXACT,
)
add(
    "slice_to_nothing",
    "slice",
    "An empty range of a range is empty.",
    lambda n: base.slice_chain(n, [4, 6], ([1], [3], [1]), ([2], [5], [1])),
    max_nodes=1,
    tolerance=EXACT,
)


@case("slice", "Before opset 10 the ranges are attributes.", opset=9, ir=4, max_nodes=1, tolerance=EXACT)
def slice_attributes(n):
    n.x("x", [4, 9])
    t = n.op("Slice", "x", starts=[1], ends=[8], axes=[1])
    n.op("Slice", t, starts=[-5, 0], ends=[-1, 2], axes=[1, 0], to="y")
    n.y("y", "f32", [2, 4])


@case("slice", "Indices may be 32 bits wide, and the data of any type.", max_nodes=1, tolerance=EXACT)
def slice_narrow_indices(n):
    def cut(t, start, end):
        return n.op("Slice", t, n.w([start], "i32"), n.w([end], "i32"), n.w([-1], "i32"))

    chain(n, [2, 7], lambda t: cut(t, 1, 6), lambda t: cut(t, 2, 99), dtype="u8")


@case("slice", "The first range has another reader; the second may read x.", max_nodes=3, tolerance=EXACT)
def slice_second_reader(n):
    n.x("x", [8])
    a = slice_op(n, "x", [1], [7], [0])
    n.op("Neg", a, to="z")
    slice_op(n, a, [1], [3], [0], to="y")
    n.y("y")
    n.y("z")


@case("slice", "Two ranges inside a branch.", max_nodes=3, tolerance=EXACT)
def slice_slice_in_branch(n):
    n.x("cond", [], "bool")
    n.x("x", [8])
    if_op(
        n,
        "cond",
        lambda b: slice_op(b, slice_op(b, "x", [1], [7], [0]), [1], [4], [0]),
        lambda b: slice_op(b, "x", [0], [3], [0]),
    )
    n.y("y", "f32", [3])
    n.feeds = [{"cond": np.array(v), "x": n.rand(8)} for v in (True, False)]


neutral("slice_everything", lambda n, t: slice_op(n, t, [0, 0], [FAR, 99], [1, 0]), family="slice")
neutral("slice_everything_dynamic", lambda n, t: slice_op(n, t, [0], [2**63 - 1], [0]), shape=("N", 3), family="slice")
neutral(
    "split_concat", lambda n, t: n.op("Concat", *n.op("Split", t, n.i64(1, 2), outs=2, axis=1), axis=1), family="slice"
)
neutral(
    "split_concat_attributes",
    lambda n, t: n.op("Concat", *n.op("Split", t, outs=2, axis=1, split=[2, 1]), axis=-1),
    opset=11,
    ir=6,
    family="slice",
)
add(
    "split_concat_swapped",
    "slice",
    "The parts come back in another order.",
    lambda n: chain(n, [2, 4], lambda t: n.op("Concat", *reversed(n.op("Split", t, outs=2, axis=1)), axis=1)),
    tolerance=EXACT,
)

# --- casts ---------------------------------------------------------------------------------------------------------

for _name, _must, _values, _types, _nodes in (
    ("cast_bool_int_bool", "The truth comes back.", [0, 1, 1], ("bool", "i64", "bool"), 1),
    ("cast_byte_float_byte", "Every byte is a float.", [0, 127, 255], ("u8", "f32", "u8"), 1),
    ("cast_short_float_short", "A half has 11 bits.", [0, 2049, -32768], ("i16", "f16", "i16"), None),
    ("cast_int_float_int", "A float has 24 bits.", [2**24 + 1, -(2**24) - 1, 5], ("i32", "f32", "i32"), None),
    ("cast_int_double_int", "A double has 53 bits.", [2**31 - 1, -(2**31), 5], ("i32", "f64", "i32"), 1),
    ("cast_long_double_long", "A double has not 64 bits.", [2**53 + 1, 5], ("i64", "f64", "i64"), None),
    ("cast_half_double_float", "Widening in steps is widening.", [0.1, 6e4], ("f16", "f64", "f32"), 1),
    ("cast_widen_three_times", "Widening in steps is widening.", [-128, 127], ("i8", "i16", "i32", "i64"), 1),
    ("cast_unsigned_signed", "The sign bit means another thing.", [2**32 - 1, 5], ("u32", "i32", "i64"), None),
    ("cast_signed_unsigned", "Negative numbers wrap.", [-1, 5], ("i8", "u8", "i32"), None),
    ("cast_double_float_half", "Rounding twice is not rounding once.", [1.00048828126, 0.1], ("f64", "f32", "f16"), None),
    ("cast_float_bool_float", "Only the truth is left.", [0.0, 0.5, -3], ("f32", "bool", "f32"), None),
    ("cast_float_int_float", "Fractions are cut.", [0.5, -1.5, 3], ("f32", "i64", "f32"), None),
):  # fmt: skip
    add(
        _name,
        "cast",
        _must,
        lambda n, values=_values, types=_types: cast_chain(n, values, *types),
        max_nodes=_nodes,
        tolerance=EXACT,
    )

neutral("cast_to_own_type", lambda n, t: cast(n, t, "i32"), dtype="i32", family="cast")


@case("cast", "The rounding happens in a Loop's body.", tolerance=EXACT)
def cast_through_half_in_loop(n):
    n.x("x", [3])

    def fill(b, it, c, names):
        half = cast(b, cast(b, names[0], "f16"), "f32")
        return [(b.op("Identity", c), "bool"), (b.op("Mul", half, b.f(1.001)), "f32")]

    loop(n, n.w(np.int64(3)), n.w(np.array(True)), ["x"], fill, ["y"])
    n.y("y", "f32", [3])


# --- reshapes ------------------------------------------------------------------------------------------------------

add(
    "reshape_flatten",
    "reshape",
    "Only the last layout counts.",
    lambda n: chain(n, [2, 3, 4], lambda t: n.op("Reshape", t, n.i64(4, 6)), lambda t: n.op("Flatten", t, axis=0)),
    max_nodes=1,
    tolerance=EXACT,
)
add(
    "flatten_reshape_dynamic",
    "reshape",
    "The batch is free and stays first.",
    lambda n: chain(n, ["N", 3, 4], lambda t: n.op("Flatten", t), lambda t: n.op("Reshape", t, n.i64(-1, 4, 3))),
    max_nodes=1,
    tolerance=EXACT,
)
add(
    "squeeze_reshape_unsqueeze",
    "reshape",
    "Three layouts are one.",
    lambda n: chain(
        n,
        [1, 6, 1],
        lambda t: n.op("Squeeze", t),
        lambda t: n.op("Reshape", t, n.i64(2, 3)),
        lambda t: n.op("Unsqueeze", t, n.i64(0, -1)),
    ),
    max_nodes=1,
    tolerance=EXACT,
)
add(
    "unsqueeze_twice_attributes",
    "reshape",
    "Axes of the second count the first's.",
    lambda n: chain(n, [2, 3], lambda t: n.op("Unsqueeze", t, axes=[0]), lambda t: n.op("Unsqueeze", t, axes=[0, 3])),
    opset=11,
    ir=6,
    max_nodes=1,
    tolerance=EXACT,
)
add(
    "squeeze_twice",
    "reshape",
    "Axes of the second do not count the first's.",
    lambda n: chain(
        n, [1, "N", 1, 1, 3], lambda t: n.op("Squeeze", t, n.i64(0)), lambda t: n.op("Squeeze", t, n.i64(1, -2))
    ),
    max_nodes=1,
    tolerance=EXACT,
)
neutral("unsqueeze_squeeze", lambda n, t: n.op("Squeeze", n.op("Unsqueeze", t, n.i64(1)), n.i64(1)), family="reshape")
neutral("reshape_to_own_shape", lambda n, t: n.op("Reshape", t, n.i64(2, -1)), family="reshape", dtype="i64")
neutral("reshape_all_zeros", lambda n, t: n.op("Reshape", t, n.i64(0, 0)), shape=("N", "M"), family="reshape")
neutral("flatten_of_matrix", lambda n, t: n.op("Flatten", t), shape=("N", 3), family="reshape")
neutral("squeeze_nothing", lambda n, t: n.op("Squeeze", t), family="reshape")
neutral("reshape_by_own_shape", lambda n, t: n.op("Reshape", t, n.op("Shape", t)), shape=("N", 3), family="reshape")
add(
    "flatten_axis_two",
    "reshape",
    "Flatten of a matrix at its end gives a column.",
    lambda n: chain(n, [2, 3], lambda t: n.op("Flatten", t, axis=2)),
    tolerance=EXACT,
)
add(
    "reshape_zero_size",
    "reshape",
    "A dimension of size zero and -1.",
    lambda n: chain(n, [0, 4], lambda t: n.op("Reshape", t, n.i64(2, 0, 2), allowzero=1), lambda t: n.op("Relu", t)),
    tolerance=EXACT,
)

# --- transposes ----------------------------------------------------------------------------------------------------

neutral("transpose_identity", lambda n, t: n.op("Transpose", t, perm=[0, 1]), family="transpose")
add(
    "transpose_around_elementwise",
    "transpose",
    "A pair that cancels round operators that do not care.",
    lambda n: chain(
        n,
        [2, 3, 4],
        lambda t: n.op("Transpose", t, perm=[2, 0, 1]),
        lambda t: n.op("Tanh", n.op("Mul", t, n.f(2.0))),
        lambda t: n.op("Transpose", t, perm=[1, 2, 0]),
    ),
    max_nodes=2,
)
add(
    "transpose_around_softmax",
    "transpose",
    "The axis moves with the permutation.",
    lambda n: chain(
        n,
        [2, 3, 4],
        lambda t: n.op("Transpose", t, perm=[0, 2, 1]),
        lambda t: n.op("Softmax", t, axis=-1),
        lambda t: n.op("Transpose", t, perm=[0, 2, 1]),
    ),
)
add(
    "transpose_twice_bytes",
    "transpose",
    "Permutations of bytes compose, too.",
    lambda n: chain(
        n,
        [2, 3, 4, 5],
        lambda t: n.op("Transpose", t, perm=[0, 3, 1, 2]),
        lambda t: n.op("Transpose", t, perm=[3, 1, 0, 2]),
        dtype="i8",
    ),
    max_nodes=1,
    tolerance=EXACT,
)


@case("transpose", "One of two readers wants the layout between.", max_nodes=3, tolerance=EXACT)
def transpose_pair_second_reader(n):
    n.x("x", [2, 3])
    t = n.op("Transpose", "x", perm=[1, 0])
    n.op("Relu", t, to="z")
    n.op("Transpose", t, perm=[1, 0], to="y")
    n.y("y")
    n.y("z")


@case("transpose", "The transposed operand of a Gemm is a flag of it.", tolerance=(1e-5, 1e-4))
def transpose_into_gemm(n):
    n.x("x", [4, 3])
    n.op("Gemm", n.op("Transpose", "x", perm=[1, 0]), n.w(n.rand(4, 5)), n.w(n.rand(5)), to="y")
    n.y("y")


# --- elements that look neutral ------------------------------------------------------------------------------------

for _name, _kind, _value, _dtype in (
    ("sub_zero_bytes", "Sub", 0, "i32"),
    ("div_one_int", "Div", 1, "i64"),
    ("mul_one_half", "Mul", 1, "f16"),
    ("div_one_double", "Div", 1, "f64"),
    ("pow_one", "Pow", 1, "f32"),
    ("add_zeros_row", "Add", [0, 0, 0], "f32"),
    ("mul_ones_matrix", "Mul", [[1, 1, 1], [1, 1, 1]], "i32"),
    ("max_lowest", "Max", -np.inf, "f32"),
    ("min_highest", "Min", np.inf, "f64"),
    ("max_lowest_int", "Max", -(2**31), "i32"),
):  # fmt: skip
    neutral(
        _name,
        lambda n, t, kind=_kind, value=_value, dtype=_dtype: n.op(kind, t, n.w(np.asarray(value, NUMPY[dtype]))),
        dtype=_dtype,
    )

for _kind in ("Sum", "Max", "Min", "Mean"):
    neutral(f"{_kind.lower()}_of_one", lambda n, t, kind=_kind: n.op(kind, t))
neutral("one_times_x", lambda n, t: n.op("Mul", n.f([[1.0]]), t))
neutral("add_zero_from_fill", lambda n, t: n.op("Add", n.op("ConstantOfShape", n.i64(1)), t))
neutral("mul_one_from_cast", lambda n, t: n.op("Mul", t, cast(n, n.w(np.int64(1)), "f32")))
neutral("where_always", lambda n, t: n.op("Where", n.w(np.array(True)), t, n.f(7.0)))
neutral("pad_nothing", lambda n, t: pad_op(n, t, [0, 0, 0, 0]))
neutral("pad_nothing_attributes", lambda n, t: n.op("Pad", t, pads=[0, 0, 0, 0]), opset=10, ir=5)
neutral("tile_once", lambda n, t: n.op("Tile", t, n.i64(1, 1)), dtype="i32")
neutral("expand_to_own_shape", lambda n, t: n.op("Expand", t, n.i64(2, 3)))
neutral("identity_twice", lambda n, t: n.op("Identity", n.op("Identity", t)))
neutral("dropout_opset7", lambda n, t: n.op("Dropout", t, ratio=0.7), opset=7, ir=3, family="dropout")
neutral("dropout_opset10", lambda n, t: n.op("Dropout", t, ratio=0.2), opset=10, ir=5, family="dropout")
neutral("dropout_inference", lambda n, t: n.op("Dropout", t, n.f(0.5), n.w(np.array(False))), family="dropout")
neutral("dropout_blank_ratio", lambda n, t: n.op("Dropout", t, "", n.w(np.array(False))), family="dropout")
neutral("neg_neg", lambda n, t: n.op("Neg", n.op("Neg", t)), dtype="i32")
neutral("mean_of_length_one", lambda n, t: n.op("ReduceMean", t, n.i64(1)), shape=(3, 1), opset=18)
neutral("sum_over_nothing", lambda n, t: n.op("ReduceSum", t, noop_with_empty_axes=1))
neutral("max_pool_of_one", lambda n, t: n.op("MaxPool", t, kernel_shape=[1, 1]), shape=(1, 2, 4, 4))
neutral("average_pool_of_one", lambda n, t: n.op("AveragePool", t, kernel_shape=[1, 1]), shape=(1, 2, 4, 4))
neutral("resize_by_one", lambda n, t: n.op("Resize", t, "", n.f([1, 1, 1, 1])), shape=(1, 2, 4, 4))
neutral("clip_infinite", lambda n, t: n.op("Clip", t, n.f(-np.inf), n.f(np.inf)), family="clip")
neutral("clip_full_bytes", lambda n, t: n.op("Clip", t, n.w(-128, "i8"), n.w(127, "i8")), dtype="i8", family="clip")
neutral("depth_to_space_one", lambda n, t: n.op("DepthToSpace", t, blocksize=1), shape=(1, 2, 4, 4))
neutral("shape_concat_of_one", lambda n, t: n.op("Concat", t, axis=0), dtype="i64")
neutral("concat_with_empty", lambda n, t: n.op("Concat", t, n.f(np.zeros((2, 0))), axis=1))
masked("and_true", lambda n, t: n.op("And", t, n.w(np.array(True))))
masked("or_false", lambda n, t: n.op("Or", n.w(np.array([False])), t))
masked("xor_false", lambda n, t: n.op("Xor", t, n.w(np.array(False))))
masked("not_not_again", lambda n, t: n.op("Not", n.op("Not", t)))


def kept(name: str, must: str, shape, step, dtype="f32", opset=17, family="neutral", **fields):
    """x -> something that looks like nothing -> y."""
    fields = {"tolerance": EXACT} | fields
    add(name, family, must, lambda n: chain(n, list(shape), lambda t: step(n, t), dtype=dtype), opset, **fields)


@case("neutral", "A scalar plus [1] is a vector.", tolerance=EXACT)
def add_zero_raises_rank(n):
    chain(n, [], lambda t: n.op("Add", t, n.f([0.0])))
    n.feeds = [{"x": np.array(-3.5, np.float32)}]


kept("mul_one_raises_rank", "The rank grows.", [3], lambda n, t: n.op("Mul", t, n.f([[[1.0]]])), dtype="f32")
kept("max_zero_is_no_copy", "Zero is no lowest number.", [4], lambda n, t: n.op("Max", t, n.f(0.0)))
kept("or_true", "Or with true is true.", [4], lambda n, t: n.op("Or", t, n.w(np.array(True))), dtype="bool")
kept("and_true_widens", "Three of them.", [1], lambda n, t: n.op("And", t, n.w(np.ones(3, bool))), dtype="bool")
kept("one_div_x", "A reciprocal.", [4], lambda n, t: n.op("Div", n.f(1.0), t))
kept("zero_div_x", "0 / 0 is no number.", [4], lambda n, t: n.op("Div", n.f(0.0), t))
kept(
    "where_widens",
    "The other branch gives the shape.",
    [1],
    lambda n, t: n.op("Where", n.w(np.array([True, True])), t, n.f([7.0, 8.0])),
)
kept("sub_itself", "Infinity minus itself is no number.", [3], lambda n, t: n.op("Sub", t, t))
kept("expand_grows", "The shape of the constant.", [3, 1], lambda n, t: n.op("Expand", t, n.i64(2, 1, 4)))
kept("tile_empty", "No copies at all.", [2, 3], lambda n, t: n.op("Tile", t, n.i64(0, 1)))
kept("sum_of_two_widens", "Sum broadcasts.", [3], lambda n, t: n.op("Sum", t, n.f(np.zeros((2, 1)))))
kept("mod_one", "The remainder of one is zero.", [4], lambda n, t: n.op("Mod", t, n.w(1, "i32")), dtype="i32")
kept(
    "reduce_sum_all",
    "No axes mean all axes.",
    [2, 3],
    lambda n, t: n.op("ReduceSum", t, keepdims=0),
    tolerance=(1e-5, 1e-5),
)
kept(
    "average_pool_strided",
    "Every second element.",
    [1, 1, 4, 4],
    lambda n, t: n.op("MaxPool", t, kernel_shape=[1, 1], strides=[2, 2]),
)


# --- absent in three spellings -------------------------------------------------------------------------------------


@case("optional", "A bias by the name of nothing.", max_nodes=1, tolerance=CLOSE)
def conv_blank_bias_bn(n):
    n.x("x", [1, 3, 6, 6])
    bn(n, n.op("Conv", "x", n.w(n.rand(4, 3, 3, 3)), ""), 4, to="y")
    n.y("y")


@case("optional", "A summand by the name of nothing.", max_nodes=1)
def gemm_blank_summand(n):
    n.x("x", [3, 4])
    n.op("Add", n.op("Gemm", "x", n.w(n.rand(4, 5)), ""), n.w(n.rand(5)), to="y")
    n.y("y")


@case("optional", "Axes are blank, steps are not.", max_nodes=1, tolerance=EXACT)
def slice_blank_axes(n):
    n.x("x", [9, 4])
    a = n.op("Slice", "x", n.i64(0, 0), n.i64(9, 4), "", n.i64(2, 1))
    n.op("Slice", a, n.i64(1), n.i64(4), to="y")
    n.y("y")


@case("optional", "Sizes and scales of an LSTM's optional inputs are blank.", tolerance=(1e-5, 1e-4))
def lstm_blank_inputs(n):
    n.x("x", [3, 1, 2])
    w, r, h = n.w(n.rand(1, 16, 2)), n.w(n.rand(1, 16, 4)), n.w(n.rand(1, 1, 4))
    n.op("LSTM", "x", w, r, "", "", h, to=["", "y"], hidden_size=4)
    n.y("y", "f32", [1, 1, 4])


@case("optional", "The first output has no reader.", tolerance=EXACT)
def topk_unread_values(n):
    n.x("x", [2, 5])
    n.op("TopK", "x", n.i64(2), to=["unread", "y"])
    n.y("y", "i64", [2, 2])


@case("optional", "No zero point: unsigned bytes around zero.", tolerance=EXACT)
def quantize_no_zero_point(n):
    n.x("x", [6])
    q = n.op("QuantizeLinear", "x", n.f(0.5))
    n.op("DequantizeLinear", q, n.f(0.5), "", to="y")
    n.y("y")


@case("optional", "No axes and no shape of the result: all axes of length one.", tolerance=EXACT, opset=11, ir=6)
def squeeze_all_old(n):
    chain(n, [1, 3, 1], lambda t: n.op("Squeeze", t), lambda t: n.op("Relu", t))


@case("optional", "No minimum, and a maximum that is computed.", tolerance=EXACT)
def clip_computed_maximum(n):
    n.x("x", [2, 3])
    n.op("Clip", "x", "", n.op("ReduceMean", "x", keepdims=0), to="y")
    n.y("y")


@case("optional", "Only the axes of a Resize are scaled.", opset=18, tolerance=(1e-5, 1e-5))
def resize_named_axes(n):
    n.x("x", [1, 2, 3, 4])
    n.op("Resize", "x", "", n.f([2.0, 2.0]), to="y", axes=[2, 3], mode="linear")
    n.y("y")


@case("optional", "A norm without a bias.", tolerance=(1e-5, 1e-4))
def layer_norm_no_bias(n):
    n.x("x", [2, 8])
    n.op("Mul", n.op("LayerNormalization", "x", n.w(n.rand(8))), n.f(1.0), to="y")
    n.y("y")


@case("optional", "A Loop without a trip count runs until its condition fails.", tolerance=EXACT)
def loop_blank_trips(n):
    n.x("x", [1])

    def fill(b, it, c, names):
        t = b.op("Mul", names[0], b.f([2.0]))
        return [(b.op("Squeeze", b.op("Less", t, b.f([100.0])), b.i64(0)), "bool"), (t, "f32")]

    loop(n, "", n.w(np.array(True)), ["x"], fill, ["y"])
    n.y("y", "f32", [1])
    n.feeds = [{"x": np.array([1.5], np.float32)}]


# --- random --------------------------------------------------------------------------------------------------------


@case("random", "Two equal draws are not one.", compare="shapes", require_ops=("RandomUniform", "RandomUniform"))
def random_twins(n):
    n.x("x", [1, 8])
    d = n.op("Sub", n.op("RandomUniform", shape=[1, 8]), n.op("RandomUniform", shape=[1, 8]))
    n.op("Add", "x", d, to="y")
    n.y("y")


@case("random", "A draw in the shape of a constant.", compare="shapes", require_ops=("RandomNormalLike",))
def random_like_constant(n):
    n.x("x", [1, 8])
    n.op("Add", "x", n.op("RandomNormalLike", n.f(np.zeros((1, 8)))), to="y")
    n.y("y")


@case("random", "Coins over constant chances.", compare="shapes", require_ops=("Bernoulli",))
def bernoulli_constant(n):
    n.x("x", [1, 32])
    n.op("Add", "x", n.op("Bernoulli", n.f(np.full((1, 32), 0.5))), to="y")
    n.y("y")


@case("random", "Draws from constant weights.", compare="shapes", require_ops=("Multinomial",))
def multinomial_constant(n):
    n.x("x", [1, 32])
    draws = n.op("Multinomial", n.f(np.zeros((1, 9))), sample_size=32)
    n.op("Add", "x", cast(n, draws, "f32"), to="y")
    n.y("y")


@case("random", "A draw in a Loop's body is new in each turn.", compare="shapes", require_ops=("RandomNormal",))
def random_in_loop(n):
    n.x("x", [4])

    def fill(b, it, c, names):
        return [(b.op("Identity", c), "bool"), (b.op("Add", names[0], b.op("RandomNormal", shape=[4])), "f32")]

    loop(n, n.w(np.int64(2)), n.w(np.array(True)), ["x"], fill, ["y"])
    n.y("y", "f32", [4])


@case("random", "A draw in a function, called twice.", compare="shapes")
def random_in_function(n):
    n.x("x", [4])
    body = [helper.make_node("RandomNormalLike", ["v"], ["r"]), helper.make_node("Add", ["v", "r"], ["w"])]
    n.functions = [helper.make_function("local", "Noise", ["v"], ["w"], body, [helper.make_opsetid("", 17)])]
    n.domains = {"local": 1}
    a, b = n.op("Noise", "x", domain="local"), n.op("Noise", "x", domain="local")
    n.op("Sub", a, b, to="y")
    n.y("y", "f32", [4])


@case("dropout", "Training mode with a ratio of zero, and a mask.", opset=13, tolerance=EXACT)
def dropout_training_zero(n):
    n.x("x", [2, 3])
    _, mask = n.op("Dropout", "x", n.f(0.0), n.w(np.array(True)), to=["y", "mask"])
    cast(n, mask, "f32", to="m")
    n.y("y")
    n.y("m")


@case("dropout", "Training mode is an input.", compare="shapes", require_ops=("Dropout",))
def dropout_mode_is_input(n):
    n.x("x", [1, 32])
    n.x("train", [], "bool")
    n.op("Dropout", "x", n.f(0.5), "train", to="y")
    n.y("y")
    n.feeds = [{"x": n.rand(1, 32), "train": np.array(True)}]


# --- file size -----------------------------------------------------------------------------------------------------


@case("size", "A table of bytes is not worth storing as floats.")
def byte_table_cast(n):
    n.x("ids", [3], "i64")
    table = n.w(n.rng.integers(0, 255, (256, 64)).astype(np.uint8))
    n.op("Gather", cast(n, table, "f32"), "ids", to="y", axis=0)
    n.y("y")
    n.feeds = [{"ids": np.array([0, 255, 7])}]


@case("size", "A half weight is stored as half.", tolerance=CLOSE)
def half_weight_large(n):
    n.x("x", [1, 256])
    n.op("MatMul", "x", cast(n, n.w(n.rand(256, 128, dtype="f16")), "f32"), to="y")
    n.y("y")


@case("size", "A long range is three numbers.")
def range_large(n):
    n.x("x", [1])
    r = n.op("Range", n.f(0.0), n.f(100000.0), n.f(1.0))
    n.op("ReduceSum", n.op("Mul", r, "x"), n.i64(0), to="y")
    n.y("y")


@case("size", "A large identity matrix is one number.")
def eye_large(n):
    n.x("x", [1, 300])
    eye = n.op("EyeLike", n.op("ConstantOfShape", n.i64(300, 300)))
    n.op("MatMul", "x", eye, to="y")
    n.y("y")


@case("size", "A weight repeated four times is stored once.")
def concat_weight_large(n):
    n.x("x", [1, 32])
    w = n.w(n.rand(32, 64))
    n.op("MatMul", "x", n.op("Concat", w, w, w, w, axis=1), to="y")
    n.y("y")


@case("size", "A weight tiled is stored once.")
def tile_weight_large(n):
    n.x("x", [1, 64])
    n.op("MatMul", "x", n.op("Tile", n.w(n.rand(16, 64)), n.i64(4, 1)), to="y")
    n.y("y")


@case("size", "A table read whole and in a slice.", max_nodes=4)
def table_and_its_slice(n):
    n.x("x", [1, 64])
    w = n.w(n.rand(64, 64))
    n.op("MatMul", "x", w, to="y")
    n.op("MatMul", "x", slice_op(n, w, [0], [60], [1]), to="z")
    n.y("y")
    n.y("z")


@case("size", "One hot of a constant is sparse.")
def one_hot_large(n):
    n.x("x", [1, 256])
    hot = n.op("OneHot", n.w(np.arange(256)), n.w(np.int64(256)), n.f([0, 1]))
    n.op("MatMul", "x", hot, to="y")
    n.y("y")


@case("size", "Two equal weights under two names are stored once.", max_size_ratio=0.7, max_nodes=2)
def equal_weights(n):
    n.x("x", [1, 64])
    w = n.rand(64, 64)
    n.op("MatMul", n.op("MatMul", "x", n.w(w)), n.w(w), to="y")
    n.y("y")


@case("size", "A weight of a branch, transposed there.")
def transposed_in_two_branches(n):
    n.x("cond", [], "bool")
    n.x("x", [2, 64])
    w = n.w(n.rand(64, 64), name="table")
    if_op(
        n,
        "cond",
        lambda b: b.op("MatMul", "x", b.op("Transpose", w, perm=[1, 0])),
        lambda b: b.op("MatMul", "x", w),
    )
    n.y("y", "f32", [2, 64])
    n.feeds = [{"cond": np.array(v), "x": n.rand(2, 64)} for v in (True, False)]


# --- quantized already ---------------------------------------------------------------------------------------------


@case("quantized", "Weights of four bits in blocks.", opset=21, ir=10, require_ops=("DequantizeLinear",))
def blocked_int4_weight(n):
    n.x("x", [2, 64])
    values = n.rng.integers(-8, 8, (64, 32))
    n.inits.append(helper.make_tensor("q", TensorProto.INT4, [64, 32], values.flatten().tolist()))
    w = n.op("DequantizeLinear", "q", n.w(np.abs(n.rand(4, 32)) + 0.01), axis=0, block_size=16)
    n.op("MatMul", "x", w, to="y")
    n.y("y")


@case("quantized", "A bias of 32 bits is dequantized, too.", require_ops=("DequantizeLinear",) * 2, tolerance=CLOSE)
def quantized_bias(n):
    n.x("x", [1, 16, 6, 6])
    w = dq_weight(n, (32, 16, 3, 3), axis=0)
    b = n.op(
        "DequantizeLinear",
        n.w(n.rng.integers(-999, 999, 32), "i32"),
        n.f(np.full(32, 0.01)),
        n.w(np.zeros(32), "i32"),
        axis=0,
    )
    n.op("Conv", "x", w, b, to="y")
    n.y("y")


@case(
    "quantized",
    "A norm behind quantized weights does not go into them.",
    require_ops=("DequantizeLinear",),
    tolerance=CLOSE,
)
def quantized_conv_bn(n):
    n.x("x", [1, 16, 6, 6])
    bn(n, n.op("Conv", "x", dq_weight(n, (64, 16, 3, 3), axis=0)), 64, to="y")
    n.y("y")


@case(
    "quantized",
    "Ranges are found at run time.",
    require_ops=("DynamicQuantizeLinear", "MatMulInteger"),
    tolerance=CLOSE,
)
def dynamic_quantize(n):
    n.x("x", [2, 8])
    q, s, z = n.op("DynamicQuantizeLinear", "x", outs=3)
    w = n.w(n.rng.integers(-60, 60, (8, 4)), "i8")
    r = n.op("MatMulInteger", q, w, z)
    n.op("Mul", cast(n, r, "f32"), n.op("Mul", s, n.f(0.02)), to="y")
    n.y("y")


@case("quantized", "Zero points of their own.", require_ops=("ConvInteger",), tolerance=EXACT)
def conv_integer(n):
    n.x("x", [1, 2, 5, 5], "u8")
    w = n.w(n.rng.integers(0, 255, (3, 2, 3, 3)), "u8")
    n.op("ConvInteger", "x", w, n.w(np.uint8(7)), n.w(np.uint8(100)), to="y", pads=[1, 1, 1, 1])
    n.y("y")


@case("quantized", "A product of bytes with a scale of its own.", require_ops=("QLinearMatMul",))
def qlinear_matmul(n):
    n.x("x", [2, 8])
    s, z = n.f(0.03), n.w(np.uint8(120))
    q = n.op("QuantizeLinear", "x", s, z)
    w = n.w(n.rng.integers(0, 127, (8, 4)), "u8")
    r = n.op("QLinearMatMul", q, s, z, w, n.f(0.01), n.w(np.uint8(60)), n.f(0.1), z)
    n.op("DequantizeLinear", r, n.f(0.1), z, to="y")
    n.y("y")


@case("quantized", "Rounding to bytes is not nothing, even of a constant.", require_ops=("QuantizeLinear",))
def qdq_on_input_and_constant(n):
    n.x("x", [2, 64])
    s, z = n.f(0.1), n.w(np.uint8(128))
    a = n.op("DequantizeLinear", n.op("QuantizeLinear", "x", s, z), s, z)
    n.op("Add", a, n.f([0.123] * 64), to="y")
    n.y("y")


@case("quantized", "The transposed weight keeps its bytes.", require_ops=("DequantizeLinear",))
def dequantized_then_transposed(n):
    n.x("x", [2, 64])
    n.op("MatMul", "x", n.op("Transpose", dq_weight(n, (32, 64), axis=0), perm=[1, 0]), to="y")
    n.y("y")


# --- bodies --------------------------------------------------------------------------------------------------------


@case("capture", "Two levels down, a body reads a tensor whose producer goes.", tolerance=EXACT)
def inner_branch_reads_removed(n):
    n.x("cond", [], "bool")
    n.x("x", [3])
    c = n.op("Mul", n.op("Dropout", "x"), n.f(1.0))

    def outer(b):
        return if_op(b, "cond", lambda d: d.op("Relu", c), lambda d: d.op("Abs", c), to=b.fresh())

    if_op(n, "cond", outer, lambda b: b.op("Neg", c))
    n.y("y", "f32", [3])
    n.feeds = [{"cond": np.array(v), "x": n.rand(3)} for v in (True, False)]


@case("capture", "A Scan with a state, an input and what it reads outside.")
def scan_state_and_outer(n):
    n.x("x", [4, 2])
    w = n.op("Identity", n.w(n.rand(2)))
    body = n.body("scan_body")
    s, row = body.x("state", [2]), body.x("row", [2])
    body.op("Add", body.op("Mul", row, w), s, to="next")
    body.op("Identity", "next", to="each")
    body.y("next", "f32", [2])
    body.y("each", "f32", [2])
    n.op("Scan", n.f([0.0, 0.0]), "x", to=["last", "y"], body=body.graph(), num_scan_inputs=1)
    n.y("y", "f32", [4, 2])
    n.y("last", "f32", [2])


@case("capture", "A condition that is constant: only one branch is left.", max_nodes=1, tolerance=EXACT)
def if_constant_condition(n):
    n.x("x", [3])
    cond = n.op("Greater", n.f(2.0), n.f(1.0))
    if_op(n, cond, lambda b: b.op("Identity", b.op("Neg", "x")), lambda b: b.op("Relu", "x"))
    n.y("y", "f32", [3])


@case("capture", "Names inside a branch that the graph has, too.", tolerance=EXACT, max_nodes=2)
def if_false_with_own_weight(n):
    n.x("x", [3])
    if_op(
        n,
        n.w(np.array(False)),
        lambda b: b.op("Relu", "x"),
        lambda b: b.op("Mul", b.op("Add", "x", b.f([1.0, 2.0, 3.0])), b.op("Add", b.f(1.0), b.f(1.0))),
    )
    n.y("y", "f32", [3])


@case("capture", "A Loop that never runs hands its inputs on.", tolerance=EXACT)
def loop_of_no_turns(n):
    n.x("x", [2])

    def fill(b, it, c, names):
        return [(b.op("Identity", c), "bool"), (b.op("Neg", names[0]), "f32")]

    loop(n, n.w(np.int64(0)), n.w(np.array(True)), ["x"], fill, ["t"])
    n.op("Relu", "t", to="y")
    n.y("y", "f32", [2])


@case("capture", "A Loop collects one row for each turn; a carried value has no reader.", tolerance=(1e-5, 1e-5))
def loop_scan_outputs(n):
    n.x("x", [2])

    def fill(b, it, c, names):
        t = b.op("Add", names[0], "x")
        return [(b.op("Identity", c), "bool"), (t, "f32"), (b.op("Mul", t, cast(b, it, "f32")), "f32")]

    loop(n, n.w(np.int64(3)), "", ["x"], fill, ["last", "rows"])
    n.op("Identity", "rows", to="y")
    n.y("y", "f32", [3, 2])


@case("capture", "A norm folds inside a branch, where its weights are.", max_nodes=3, tolerance=CLOSE)
def conv_bn_in_branch(n):
    n.x("cond", [], "bool")
    n.x("x", [1, 2, 4, 4])
    if_op(n, "cond", lambda b: bn(b, conv(b, "x", 2, 2, (1, 1)), 2), lambda b: b.op("Relu", "x"))
    n.y("y", "f32", [1, 2, 4, 4])
    n.feeds = [{"cond": np.array(v), "x": n.rand(1, 2, 4, 4)} for v in (True, False)]


@case("capture", "A norm folds inside a branch, but its weight is the graph's and read there, too.", tolerance=CLOSE)
def conv_bn_in_branch_shared(n):
    n.x("cond", [], "bool")
    n.x("x", [1, 2, 4, 4])
    w = n.w(n.rand(2, 2, 1, 1), name="shared")
    n.op("Conv", "x", w, to="z")
    if_op(n, "cond", lambda b: bn(b, b.op("Conv", "x", w), 2), lambda b: b.op("Conv", "x", w))
    n.y("y", "f32", [1, 2, 4, 4])
    n.y("z")
    n.feeds = [{"cond": np.array(v), "x": n.rand(1, 2, 4, 4)} for v in (True, False)]


@case("capture", "Both branches compute the same, and one output has no reader.", tolerance=EXACT)
def if_unread_output(n):
    n.x("cond", [], "bool")
    n.x("x", [3])
    bodies = {}
    for key, kind in (("then_branch", "Relu"), ("else_branch", "Neg")):
        b = n.body(key)
        b.y(b.op(kind, "x"), "f32", [3])
        b.y(b.op("Exp", "x"), "f32", [3])
        bodies[key] = b.graph()
    n.op("If", "cond", to=["y", "unread"], **bodies)
    n.y("y", "f32", [3])
    n.feeds = [{"cond": np.array(v), "x": n.rand(3)} for v in (True, False)]


@case("capture", "A sequence is mapped by a body that reads outside.", tolerance=EXACT)
def sequence_map(n):
    n.x("x", [2, 3])
    c = n.op("Identity", n.op("Neg", "x"))
    body = n.body("each")
    row = body.x("row", None)
    body.y(body.op("Add", row, c), "f32")
    seq = n.op("SequenceConstruct", "x", c)
    n.op("SequenceAt", n.op("SequenceMap", seq, body=body.graph()), n.w(np.int64(1)), to="y")
    n.y("y", "f32", [2, 3])


# --- norms next to layers ------------------------------------------------------------------------------------------

FOLDED = {"max_nodes": 1, "tolerance": CLOSE}
add(
    "gemm_bn",
    "bn_fold",
    "Columns are channels.",
    lambda n: chain(n, [3, 4], lambda t: bn(n, n.op("Gemm", t, n.w(n.rand(5, 4)), n.w(n.rand(5)), transB=1), 5)),
    **FOLDED,
)
add(
    "matmul_bn",
    "bn_fold",
    "Columns are channels.",
    lambda n: chain(n, [3, 4], lambda t: bn(n, n.op("MatMul", t, n.w(n.rand(4, 5))), 5)),
    **FOLDED,
)
add(
    "conv_identity_bn_bn",
    "bn_fold",
    "Two norms and nothing between.",
    lambda n: chain(n, [1, 3, 6, 6], lambda t: bn(n, bn(n, n.op("Identity", conv(n, t, 3, 4)), 4), 4, epsilon=0.01)),
    **FOLDED,
)
add(
    "conv_mul_add_bn",
    "bn_fold",
    "A scale, a shift and a norm.",
    lambda n: chain(
        n,
        [1, 3, 6, 6],
        lambda t: n.op("Add", n.op("Mul", conv(n, t, 3, 4), n.w(n.rand(4, 1, 1))), n.w(n.rand(1, 4, 1, 1))),
        lambda t: bn(n, t, 4),
    ),
    **FOLDED,
)
add(
    "conv_bn_opset7",
    "bn_fold",
    "The norm of the oldest opset.",
    lambda n: base.conv_bn(n, [1, 3, 6, 6], 4, (3, 3), bias=True),
    opset=7,
    ir=3,
    **FOLDED,
)
add(
    "convtranspose_bn_groups",
    "bn_fold",
    "Two groups, two channels each.",
    lambda n: base.conv_bn(n, [1, 4, 5, 5], 4, (3, 3), kind="ConvTranspose", group=2, bias=True, strides=[2, 2]),
    truth="ort",
    **FOLDED,
)
add(
    "bn_conv_one_by_one",
    "bn_fold",
    "A norm in front of a convolution without pads.",
    lambda n: chain(n, [1, 3, 6, 6], lambda t: conv(n, bn(n, t, 3), 3, 4, (3, 3), bias=True)),
    **FOLDED,
)
add(
    "bn_conv_padded",
    "bn_fold",
    "The pads are zeros of the norm's output, not of its input.",
    lambda n: chain(n, [1, 3, 6, 6], lambda t: conv(n, bn(n, t, 3), 3, 4, (3, 3), bias=True, pads=[1, 1, 1, 1])),
    tolerance=CLOSE,
)
add(
    "conv_bn_half",
    "bn_fold",
    "All of it in half precision.",
    lambda n: base.conv_bn(n, [2, 3, 1, 10], 2, (1, 5), dtype="f16", bn_type="f16"),
    max_nodes=1,
    tolerance=(3e-2, 3e-2),
)


@case("bn_fold", "The folded weight would overflow.", tolerance=(1e-3, 1e-3))
def conv_bn_overflow(n):
    n.x("x", [1, 1, 3, 3])
    t = n.op("Conv", "x", n.f(np.full((1, 1, 1, 1), 1e30)))
    n.op("BatchNormalization", t, n.f([1e12]), n.f([0.0]), n.f([0.0]), n.f([1.0]), to="y")
    n.y("y")
    n.feeds = [{"x": np.full((1, 1, 3, 3), 1e-35, np.float32)}]


@case("bn_fold", "The variance is zero and only epsilon is left.", max_nodes=1, tolerance=(1e-3, 1e-3))
def conv_bn_no_variance(n):
    n.x("x", [1, 2, 4, 4])
    p = [n.w(n.rand(3)), n.w(n.rand(3)), n.w(n.rand(3)), n.f(np.zeros(3))]
    n.op("BatchNormalization", conv(n, "x", 2, 3), *p, to="y", epsilon=0.1)
    n.y("y")


@case(
    "bn_training",
    "Training mode behind a convolution, with running statistics.",
    opset=14,
    ir=7,
    require_ops=("BatchNormalization",),
    tolerance=CLOSE,
)
def conv_bn_training(n):
    n.x("x", [2, 3, 6, 6])
    n.op("BatchNormalization", conv(n, "x", 3, 4), *bn_params(n, 4), to=["y", "m", "v"], training_mode=1)
    n.y("y", "f32", [2, 4, 4, 4])
    n.y("m", "f32", [4])
    n.y("v", "f32", [4])


@case("shared_weight", "A Gemm and a MatMul share their weight; one is scaled.", tolerance=CLOSE)
def shared_gemm_weight(n):
    n.x("x", [3, 4])
    w = n.w(n.rand(4, 4), name="weight")
    n.op("Mul", n.op("MatMul", "x", w), n.f(2.0), to="y1")
    n.op("Gemm", "x", w, n.w(n.rand(4)), to="y2", transB=1)
    n.y("y1")
    n.y("y2")


@case("shared_weight", "The weight is a graph output as well.", tolerance=CLOSE)
def weight_is_output(n):
    n.x("x", [1, 2, 4, 4])
    w = n.w(n.rand(2, 2, 1, 1), name="weight")
    bn(n, n.op("Conv", "x", w), 2, to="y")
    n.op("Identity", w, to="w_out")
    n.y("y")
    n.y("w_out")


@case("shared_weight", "The scale of one norm is the shift of the other.", tolerance=CLOSE)
def bn_parameters_shared(n):
    n.x("x", [1, 2, 4, 4])
    p, v = n.w(n.rand(3)), n.w(np.abs(n.rand(3)) + 0.5)
    a = n.op("BatchNormalization", conv(n, "x", 2, 3, (1, 1)), p, p, p, v)
    n.op("BatchNormalization", conv(n, a, 3, 3, (1, 1)), p, v, p, v, to="y")
    n.y("y")


# --- arithmetic behind layers --------------------------------------------------------------------------------------


def after_conv(name, must, step, nodes=None, shape=(1, 3, 6, 6), cout=4, k=(3, 3), require=(), bias=True, **kw):
    add(
        name,
        "conv_arith",
        must,
        lambda n: chain(n, list(shape), lambda t: step(n, conv(n, t, shape[1], cout, k, bias=bias, **kw))),
        max_nodes=nodes,
        require_ops=require,
        tolerance=CLOSE,
    )


after_conv(
    "conv_div", "Division by a constant is a scale.", lambda n, t: n.op("Div", t, n.w(np.abs(n.rand(4, 1, 1)) + 1)), 1
)
after_conv("conv_sub", "Minus a constant is a bias.", lambda n, t: n.op("Sub", t, n.w(n.rand(4, 1, 1))), 1, bias=False)
after_conv(
    "conv_from_constant", "A constant minus it turns the sign.", lambda n, t: n.op("Sub", n.w(n.rand(4, 1, 1)), t), 1
)
after_conv("conv_neg", "The sign goes into the weights.", lambda n, t: n.op("Mul", t, n.f(-1.0)), 1)
after_conv("conv_sum", "Sum is Add.", lambda n, t: n.op("Sum", t, n.w(n.rand(1, 4, 1, 1))))
after_conv("conv_1d_mul", "One dimension.", lambda n, t: n.op("Mul", n.w(n.rand(4, 1)), t), 1, shape=(2, 3, 9), k=(3,))
after_conv(
    "conv_3d_add",
    "Three dimensions.",
    lambda n, t: n.op("Add", n.w(n.rand(4, 1, 1, 1)), t),
    1,
    shape=(1, 2, 4, 4, 4),
    k=(2, 2, 2),
)
after_conv(
    "conv_depthwise_mul",
    "One channel a group.",
    lambda n, t: n.op("Mul", t, n.w(n.rand(1, 3, 1, 1))),
    1,
    cout=3,
    group=3,
)
after_conv(
    "convtranspose_mul_add",
    "Output channels on axis 1.",
    lambda n, t: n.op("Add", n.op("Mul", t, n.w(n.rand(4, 1, 1))), n.w(n.rand(4, 1, 1))),
    1,
    kind="ConvTranspose",
)
after_conv(
    "conv_add_batch",
    "The constant has a batch of its own.",
    lambda n, t: n.op("Add", t, n.w(n.rand(2, 4, 1, 1))),
    require=("Add",),
)
after_conv("conv_mul_row", "A row of the image.", lambda n, t: n.op("Mul", t, n.w(n.rand(4, 1))), require=("Mul",))
after_conv("conv_add_rank_five", "The rank grows.", lambda n, t: n.op("Add", t, n.w(n.rand(1, 1, 4, 1, 1))))
after_conv(
    "conv_1d_mul_channels_last",
    "[C] is the last axis.",
    lambda n, t: n.op("Mul", t, n.w(n.rand(7))),
    shape=(2, 3, 9),
    k=(3,),
    require=("Mul",),
)
after_conv(
    "conv_mul_zero",
    "A scale of zero keeps NaN out of nowhere.",
    lambda n, t: n.op("Mul", t, n.f([[[0.0]], [[1.0]], [[2.0]], [[-1.0]]])),
    1,
)


def product(name, must, shape, step, nodes=None, dtype="f32", opset=17, tolerance=(1e-4, 1e-3), **fields):
    add(
        name,
        "gemm",
        must,
        lambda n: chain(n, list(shape), lambda t: step(n, t), dtype=dtype),
        opset,
        max_nodes=nodes,
        tolerance=tolerance,
        **fields,
    )


product(
    "matmul_add_double",
    "In double precision.",
    (3, 4),
    lambda n, t: n.op("Add", n.op("MatMul", t, n.w(n.rand(4, 5, dtype="f64"))), n.w(n.rand(5, dtype="f64"))),
    1,
    "f64",
)
product(
    "matmul_add_int",
    "Integers have no Gemm in this runtime.",
    (3, 4),
    lambda n, t: n.op(
        "Add", n.op("MatMul", t, n.w(n.rng.integers(-9, 9, (4, 5)), "i32")), n.w(n.rng.integers(-9, 9, 5), "i32")
    ),
    None,
    "i32",
    tolerance=EXACT,
)
product(
    "matmul_add_column",
    "A column is a legal summand.",
    (3, 4),
    lambda n, t: n.op("Add", n.op("MatMul", t, n.w(n.rand(4, 5))), n.w(n.rand(3, 1))),
    1,
)
product(
    "matmul_sub_bias",
    "Minus a row.",
    (3, 4),
    lambda n, t: n.op("Sub", n.op("MatMul", t, n.w(n.rand(4, 5))), n.w(n.rand(5))),
)
product(
    "matmul_mul_columns",
    "A scale of columns goes into the weight.",
    (3, 4),
    lambda n, t: n.op("Mul", n.op("MatMul", t, n.w(n.rand(4, 5))), n.w(n.rand(5))),
    1,
)
product(
    "matmul_mul_rows",
    "A scale of rows does not.",
    (5, 4),
    lambda n, t: n.op("Mul", n.op("MatMul", t, n.w(n.rand(4, 5))), n.w(n.rand(5, 1))),
    require_ops=("Mul",),
)
product(
    "gemm_mul_scalar",
    "A scalar goes into weight and summand.",
    (3, 4),
    lambda n, t: n.op("Mul", n.op("Gemm", t, n.w(n.rand(4, 5)), n.w(n.rand(5))), n.f(3.0)),
    1,
)
product(
    "gemm_alpha_bn",
    "alpha and beta, and a norm.",
    (3, 4),
    lambda n, t: bn(n, n.op("Gemm", t, n.w(n.rand(4, 5)), n.w(n.rand(5)), alpha=0.5, beta=2.0), 5),
)
product(
    "gemm_add_matrix_summand",
    "The summand is a matrix, the new one a row.",
    (3, 4),
    lambda n, t: n.op("Add", n.op("Gemm", t, n.w(n.rand(4, 5)), n.w(n.rand(3, 5))), n.w(n.rand(5))),
)
product(
    "gemm_add_widens",
    "The summand has three dimensions.",
    (3, 4),
    lambda n, t: n.op("Add", n.op("Gemm", t, n.w(n.rand(4, 5))), n.w(n.rand(2, 1, 5))),
)
product(
    "matmul_vector",
    "A vector times a matrix is no Gemm.",
    (4,),
    lambda n, t: n.op("Add", n.op("MatMul", t, n.w(n.rand(4, 5))), n.w(n.rand(5))),
)
product(
    "matmul_add_input_twice",
    "Both operands are computed.",
    (4, 4),
    lambda n, t: n.op("Add", n.op("MatMul", t, t), n.w(n.rand(4))),
)
product(
    "matmul_add_ones",
    "One row, whose bias has another rank.",
    (1, 4),
    lambda n, t: n.op("Add", n.op("MatMul", t, n.w(n.rand(4, 5))), n.w(n.rand(1, 1, 5))),
)
product(
    "matmul_matmul",
    "Two constant products may be one; they need not.",
    (3, 4),
    lambda n, t: n.op("MatMul", n.op("MatMul", t, n.w(n.rand(4, 5))), n.w(n.rand(5, 2))),
)
product(
    "matmul_dynamic_add",
    "The rows are free.",
    ("N", 4),
    lambda n, t: n.op("Add", n.op("MatMul", t, n.w(n.rand(4, 5))), n.w(n.rand(1, 5))),
    1,
)

# --- pads ----------------------------------------------------------------------------------------------------------

PADDED = {"tolerance": CLOSE}
add(
    "pad_conv_attributes",
    "pad_conv",
    "Pads were attributes.",
    lambda n: chain(n, [1, 2, 5, 5], lambda t: conv(n, n.op("Pad", t, pads=[0, 0, 1, 2, 0, 0, 2, 1]), 2, 3)),
    opset=10,
    ir=5,
    max_nodes=1,
    **PADDED,
)
add(
    "pad_pad_conv",
    "pad_conv",
    "Two pads of zeros add up.",
    lambda n: chain(
        n,
        [1, 2, 5, 5],
        lambda t: conv(n, pad_op(n, pad_op(n, t, [0, 0, 1, 0, 0, 0, 0, 1]), [0, 0, 0, 1, 0, 0, 1, 0]), 2, 3),
    ),
    max_nodes=1,
    **PADDED,
)
add(
    "pad_conv_named_axes",
    "pad_conv",
    "Axes count from the end.",
    lambda n: base.pad_conv(n, [1, 2, 5, 5], [1, 2, 3, 0], axes=[-1, -2]),
    opset=18,
    max_nodes=1,
    **PADDED,
)
add(
    "pad_conv_edge",
    "pad_conv",
    "Repeated borders are no zeros.",
    lambda n: base.pad_conv(n, [1, 2, 5, 5], [0, 0, 1, 1, 0, 0, 1, 1], mode="edge"),
    require_ops=("Pad",),
    **PADDED,
)
add(
    "pad_conv_same_upper",
    "pad_conv",
    "auto_pad depends on the padded size.",
    lambda n: base.pad_conv(n, [1, 2, 5, 6], [0, 0, 1, 0, 0, 0, 0, 0], auto_pad="SAME_UPPER", strides=[2, 2]),
    **PADDED,
)
add(
    "pad_convtranspose",
    "pad_conv",
    "Pads of a transposed convolution take away.",
    lambda n: chain(
        n, [1, 2, 4, 4], lambda t: conv(n, pad_op(n, t, [0, 0, 1, 1, 0, 0, 1, 1]), 2, 3, kind="ConvTranspose")
    ),
    require_ops=("Pad",),
    **PADDED,
)
add(
    "pad_conv_3d",
    "pad_conv",
    "Three dimensions, strides and dilations.",
    lambda n: chain(
        n,
        [1, 2, 5, 5, 5],
        lambda t: conv(
            n, pad_op(n, t, [0, 0, 1, 0, 2, 0, 0, 0, 1, 1]), 2, 3, (2, 2, 2), strides=[2, 1, 1], dilations=[1, 2, 1]
        ),
    ),
    max_nodes=1,
    **PADDED,
)
add(
    "pad_maxpool_lowest",
    "pad_pool",
    "The lowest number is a pool's own border.",
    lambda n: chain(
        n, [1, 2, 5, 5], lambda t: n.op("MaxPool", pad_op(n, t, [0, 0, 1, 1, 0, 0, 1, 1], -np.inf), kernel_shape=[3, 3])
    ),
    max_nodes=1,
    tolerance=EXACT,
)
add(
    "pad_averagepool_old",
    "pad_pool",
    "Attributes, and zeros count.",
    lambda n: chain(
        n,
        [1, 2, 5, 5],
        lambda t: n.op(
            "AveragePool", n.op("Pad", t, pads=[0, 0, 1, 1, 0, 0, 1, 1]), kernel_shape=[3, 3], count_include_pad=1
        ),
    ),
    opset=10,
    ir=5,
    max_nodes=1,
)
add(
    "pad_averagepool_excluding",
    "pad_pool",
    "The pool's own pads do not count, the zeros do.",
    lambda n: chain(
        n,
        [1, 2, 5, 5],
        lambda t: n.op("AveragePool", pad_op(n, t, [0, 0, 1, 1, 0, 0, 1, 1]), kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
    ),
)
add(
    "pad_lppool",
    "pad_pool",
    "Zeros add nothing to a norm.",
    lambda n: chain(
        n, [1, 2, 5, 5], lambda t: n.op("LpPool", pad_op(n, t, [0, 0, 1, 1, 0, 0, 1, 1]), kernel_shape=[3, 3])
    ),
)
add(
    "pad_globalpool",
    "pad_pool",
    "Zeros count in the mean.",
    lambda n: chain(n, [1, 2, 5, 5], lambda t: n.op("GlobalAveragePool", pad_op(n, t, [0, 0, 1, 1, 0, 0, 1, 1]))),
)
add(
    "mean_is_global_pool",
    "norm",
    "A mean over the image.",
    lambda n: chain(n, ["N", 3, "H", "W"], lambda t: n.op("ReduceMean", t, axes=[2, 3])),
    max_nodes=1,
)
add(
    "mean_then_flatten",
    "norm",
    "A mean over the image, then its two axes go.",
    lambda n: chain(n, [2, 3, 4, 5], lambda t: n.op("ReduceMean", t, axes=[-1, -2], keepdims=0)),
    max_nodes=2,
)

# --- clips ---------------------------------------------------------------------------------------------------------


def bounds(name, must, step, nodes=1, dtype="f32", opset=17, ir=8, **fields):
    fields = {"tolerance": EXACT} | fields
    add(
        name,
        "clip",
        must,
        lambda n: chain(n, [6], lambda t: step(n, t), dtype=dtype),
        opset,
        ir,
        max_nodes=nodes,
        **fields,
    )


bounds(
    "clip_clip",
    "Two ranges are one.",
    lambda n, t: n.op("Clip", n.op("Clip", t, n.f(-2.0), n.f(1.0)), n.f(-1.0), n.f(3.0)),
)
bounds(
    "clip_clip_apart",
    "Two ranges that do not meet.",
    lambda n, t: n.op("Clip", n.op("Clip", t, n.f(-2.0), n.f(-1.0)), n.f(0.0), n.f(3.0)),
    None,
)
bounds(
    "clip_relu", "The lower bound is zero at least.", lambda n, t: n.op("Relu", n.op("Clip", t, n.f(-1.0), n.f(1.0)))
)
bounds(
    "clip_relu_negative",
    "Nothing of the range is left.",
    lambda n, t: n.op("Relu", n.op("Clip", t, n.f(-2.0), n.f(-1.0))),
    None,
)
bounds("relu_relu", "Once is enough.", lambda n, t: n.op("Relu", n.op("Relu", t)))
bounds("min_max", "Both bounds.", lambda n, t: n.op("Max", n.op("Min", t, n.f(6.0)), n.f(0.0)))
bounds(
    "max_min_vector",
    "A bound for each element.",
    lambda n, t: n.op("Min", n.op("Max", t, n.f(np.zeros(6))), n.f(np.arange(6))),
    None,
)
bounds(
    "clip_clip_attributes",
    "Bounds as attributes.",
    lambda n, t: n.op("Clip", n.op("Clip", t, min=0.0), max=6.0),
    opset=8,
    ir=3,
)
bounds(
    "clip_clip_long",
    "Bounds of 64 bits.",
    lambda n, t: n.op("Clip", n.op("Clip", t, n.w(-3, "i64"), n.w(9, "i64")), n.w(-5, "i64"), n.w(4, "i64")),
    dtype="i64",
)
bounds(
    "relu_int",
    "A Relu of integers.",
    lambda n, t: n.op("Clip", n.op("Relu", t), n.w(-3, "i32"), n.w(4, "i32")),
    dtype="i32",
    opset=14,
    ir=7,
)
bounds("abs_relu", "Nothing negative is left.", lambda n, t: n.op("Relu", n.op("Abs", t)), None)

# --- geometry ------------------------------------------------------------------------------------------------------


def geometry(name, must, shape, step, opset=17, **fields):
    fields = {"tolerance": CLOSE} | fields
    add(name, "auto_pad", must, lambda n: chain(n, list(shape), lambda t: step(n, t)), opset, **fields)


geometry(
    "maxpool_same_lower",
    "The odd pixel goes to the start.",
    (1, 2, 7, 8),
    lambda n, t: n.op("MaxPool", t, kernel_shape=[2, 4], strides=[2, 2], auto_pad="SAME_LOWER"),
    truth="ort",
)
geometry(
    "maxpool_ceil",
    "The last window may be cut.",
    (1, 2, 6, 7),
    lambda n, t: n.op("MaxPool", n.op("Relu", t), kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1),
)
geometry(
    "averagepool_ceil",
    "A cut window divides by what it has.",
    (1, 2, 6, 7),
    lambda n, t: n.op("AveragePool", t, kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1),
    truth="ort",
    opset=11,
)
geometry(
    "convtranspose_output_padding",
    "The result has a pixel more.",
    (1, 2, 4, 4),
    lambda n, t: bn(
        n, conv(n, t, 2, 3, kind="ConvTranspose", strides=[2, 2], output_padding=[1, 1], pads=[1, 1, 1, 1]), 3
    ),
    max_nodes=1,
)
geometry(
    "convtranspose_output_shape",
    "The size is given, the pads follow.",
    (1, 2, 4, 4),
    lambda n, t: bn(n, conv(n, t, 2, 3, kind="ConvTranspose", strides=[2, 2], output_shape=[8, 8]), 3),
    max_nodes=1,
    truth="ort",
)
geometry(
    "conv_valid_dilated",
    "No pads, a wide kernel.",
    (1, 2, 9, 9),
    lambda n, t: bn(n, conv(n, t, 2, 3, auto_pad="VALID", dilations=[2, 3]), 3),
    max_nodes=1,
)
geometry(
    "upsample_old",
    "Scales of an old operator.",
    (1, 2, 3, 4),
    lambda n, t: n.op("Upsample", n.op("Identity", t), n.f([1, 1, 2, 2]), mode="nearest"),
    opset=9,
    max_nodes=1,
)
geometry(
    "softmax_old",
    "Before opset 13 it flattens.",
    (2, 3, 4),
    lambda n, t: n.op("Softmax", n.op("Dropout", t)),
    opset=11,
    max_nodes=1,
    truth="ort",
)

# --- interface, versions, storage ----------------------------------------------------------------------------------


@case("interface", "An output that is a weight.", tolerance=EXACT)
def output_is_initializer(n):
    n.x("x", [2])
    n.op("Relu", "x", to="y")
    n.w(np.array([1.0, 2.0], np.float32), name="c")
    n.y("y")
    n.y("c", "f32", [2])


@case("interface", "Three outputs of the same numbers.", tolerance=EXACT)
def outputs_of_one_tensor(n):
    n.x("x", [2])
    t = n.op("Neg", "x")
    n.op("Identity", t, to="a")
    n.op("Identity", t, to="b")
    n.op("Relu", t, to="y")
    for name in "aby":
        n.y(name)


@case("interface", "An intermediate result is an output, and what follows goes.", max_nodes=2, tolerance=EXACT)
def output_in_the_middle(n):
    n.x("x", [2, 3])
    n.op("Neg", "x", to="middle")
    n.op("Dropout", n.op("Mul", "middle", n.f(1.0)), to="y")
    n.y("middle")
    n.y("y")


@case("interface", "Weight, scale and statistics are defaults that may be replaced.", tolerance=CLOSE)
def overridable_bn(n):
    n.x("x", [1, 2, 3, 3])
    n.w(np.ones(2, np.float32), name="scale")
    t = conv(n, "x", 2, 2, (1, 1))
    n.op("BatchNormalization", t, n.x("scale", [2]), n.f([0, 0]), n.f([0, 0]), n.f([1, 1]), to="y")
    n.y("y")
    x = n.rand(1, 2, 3, 3)
    n.feeds = [{"x": x}, {"x": x, "scale": np.array([3, -4], np.float32)}]


@case("interface", "A default target of a Reshape.", tolerance=EXACT)
def overridable_reshape(n):
    n.x("x", [2, 6])
    n.w(np.array([3, 4]), name="target")
    n.op("Reshape", n.op("Reshape", "x", n.i64(12)), n.x("target", [2], "i64"), to="y")
    n.y("y", "f32", [None, None])
    x = n.rand(2, 6)
    n.feeds = [{"x": x}, {"x": x, "target": np.array([6, 2])}]


@case("interface", "A sequence as output.", tolerance=EXACT)
def sequence_output(n):
    n.x("x", [2, 3])
    seq = n.op("SplitToSequence", n.op("Identity", "x"), axis=0)
    n.op("ConcatFromSequence", seq, to="y", axis=1)
    n.y("y", "f32", [1, 6])


@case(
    "interface", "Doc strings of nodes and properties survive a fold beside them.", keep_metadata=True, tolerance=CLOSE
)
def metadata_beside_fold(n):
    n.x("image", ["batch", 3, 8, 8])
    t = bn(n, conv(n, "image", 3, 2), 2)
    n.op("Softmax", t, to="scores", axis=1, label="head")
    n.y("scores", "f32", ["batch", 2, 6, 6])

    def patch(model):
        model.graph.node[-1].doc_string = "scores of two classes"
        model.graph.output[0].doc_string = "sums up to one"
        model.doc_string, model.domain, model.model_version = "text", "org.example", 2**40
        helper.set_model_props(model, {"": "empty key", "long": "x" * 1000})

    n.patch = patch


for _opset, _ir in ((8, 3), (9, 4), (13, 7), (15, 8), (19, 9), (22, 10)):
    add(
        f"versions_kept_opset{_opset}_ir{_ir}",
        "versions",
        "Folds need no newer opset.",
        lambda n: chain(
            n, ["N", 2, 4, 4], lambda t: bn(n, conv(n, t, 2, 3, (1, 1)), 3), lambda t: n.op("Relu", n.op("Identity", t))
        ),
        opset=_opset,
        ir=_ir,
        keep_versions=True,
        max_nodes=2,
        tolerance=CLOSE,
        truth="ort",
    )


@case("storage", "Constants in all forms.", tolerance=EXACT, opset=13)
def constant_forms(n):
    n.x("x", [3])
    a = n.op("Constant", value_floats=[1.0, 2.0, 3.0])
    b = n.op("Constant", value_float=0.5)
    c = n.op("Constant", value_int=2)
    d = n.op("Constant", value_ints=[0, 2])
    t = n.op("Mul", n.op("Add", "x", a), b)
    n.op("Gather", n.op("Mul", t, cast(n, c, "f32")), d, to="y")
    n.op("Identity", n.op("Constant", value_strings=["a", "b"]), to="s")
    n.y("y")
    n.y("s", "str", [2])


@case("storage", "A weight in bfloat16 behind a Cast.", tolerance=CLOSE)
def bfloat_weight(n):
    n.x("x", [2, 4])
    w = n.w(n.rand(4, 3).astype(NUMPY["bf16"]))
    n.op("MatMul", "x", cast(n, w, "f32"), to="y")
    n.y("y")


@case("storage", "Weights of eight-bit floats.", opset=19, ir=9, tolerance=CLOSE)
def float8_weight(n):
    n.x("x", [2, 4])
    n.inits.append(helper.make_tensor("q", TensorProto.FLOAT8E4M3FN, [4, 2], [1, -2, 0.5, 3, 4, -0.25, 8, 1]))
    n.op("MatMul", "x", n.op("DequantizeLinear", "q", n.f(0.5)), to="y")
    n.y("y")


@case("storage", "Unsigned four bits, an odd number of them.", opset=21, ir=10, tolerance=EXACT)
def uint4_odd(n):
    n.x("x", [3])
    n.inits.append(helper.make_tensor("q", TensorProto.UINT4, [3], [15, 0, 9]))
    n.op("Add", "x", n.op("DequantizeLinear", "q", n.f(0.5)), to="y")
    n.y("y")


@case("storage", "A sparse constant.", opset=13, tolerance=(1e-5, 1e-5))
def sparse_constant(n):
    n.x("x", [2, 4])
    values = helper.make_tensor("v", TYPES["f32"], [2], [3.0, -1.0])
    index = helper.make_tensor("i", TYPES["i64"], [2], [1, 7])
    w = n.op("Constant", sparse_value=helper.make_sparse_tensor(values, index, [4, 2]))
    n.op("MatMul", "x", w, to="y")
    n.y("y", "f32", [2, 2])
    dense = np.zeros(8, np.float32)
    dense[[1, 7]] = [3, -1]
    n.feeds = [{"x": n.rand(2, 4)}]
    n.answers = [{"y": n.feeds[0]["x"] @ dense.reshape(4, 2)}]


@case("storage", "Weights in an outside file, one read by two names, and a fold.", max_nodes=1, tolerance=CLOSE)
def external_conv_bn(n):
    n.x("x", [1, 8, 4, 4])
    bn(n, conv(n, "x", 8, 8), 8, to="y")
    n.y("y")

    def patch(model):
        blob = b""
        for tensor in model.graph.initializer:
            raw = tensor.raw_data
            set_external(tensor, "deep/er/w.bin", len(blob), len(raw))
            blob += raw
        n.files["deep/er/w.bin"] = blob

    n.patch = patch


@case("storage", "An outside file without offset and length.", tolerance=CLOSE)
def external_plain(n):
    n.x("x", [2, 8])
    n.op("MatMul", "x", n.w(n.rand(8, 8), name="w"), to="y")
    n.y("y")

    def patch(model):
        n.files["w.bin"] = model.graph.initializer[0].raw_data
        set_external(model.graph.initializer[0], "w.bin")

    n.patch = patch


@case("storage", "Empty weights of a layer: nothing is summed.", tolerance=EXACT)
def empty_product(n):
    n.x("x", ["N", 0])
    n.op("MatMul", "x", n.f(np.zeros((0, 3))), to="y")
    n.y("y")


@case("storage", "Strings are compared and chosen.", opset=19, ir=9, tolerance=EXACT)
def string_equal(n):
    n.x("x", [3], "str")
    n.op(
        "Where",
        n.op("Equal", "x", n.w(np.array(["a"], object))),
        n.op("Identity", "x"),
        n.w(np.array("\u00e9", object)),
        to="y",
    )
    n.y("y", "str", [3])
    n.feeds = [{"x": np.array(["a", "b", ""], object)}]


# --- functions and foreign operators -------------------------------------------------------------------------------


@case("functions", "A function's body has an If and a Loop's opset of its own.", tolerance=EXACT)
def function_with_branch(n):
    n.x("x", [3])
    out = helper.make_tensor_value_info("t", TYPES["f32"], None)
    bodies = [helper.make_graph([helper.make_node(kind, ["v"], ["t"])], kind, [], [out]) for kind in ("Relu", "Abs")]
    nodes = [
        helper.make_node("ReduceSum", ["v"], ["s"], keepdims=0),
        helper.make_node("Constant", [], ["zero"], value_float=0.0),
        helper.make_node("Less", ["s", "zero"], ["c"]),
        helper.make_node("If", ["c"], ["w"], then_branch=bodies[0], else_branch=bodies[1]),
    ]
    n.functions = [helper.make_function("local", "Fold", ["v"], ["w"], nodes, [helper.make_opsetid("", 17)])]
    n.domains = {"local": 1}
    n.op("Identity", n.op("Fold", n.op("Neg", "x"), domain="local"), to="y")
    n.y("y", "f32", [3])


@case("functions", "A function under the name of a standard operator, in its own domain.", tolerance=EXACT)
def function_named_relu(n):
    n.x("x", [3])
    nodes = [helper.make_node("Neg", ["v"], ["w"])]
    n.functions = [helper.make_function("local", "Relu", ["v"], ["w"], nodes, [helper.make_opsetid("", 17)])]
    n.domains = {"local": 1}
    t = n.op("Relu", "x", domain="local")
    n.op("Relu", n.op("Relu", t, domain="local"), to="y")
    n.y("y", "f32", [3])


@case("functions", "A function with a default for its attribute, called in a branch.", ir=9, opset=17)
def function_in_branch(n):
    n.x("cond", [], "bool")
    n.x("x", [3])
    node = helper.make_node("LeakyRelu", ["v"], ["w"])
    node.attribute.append(onnx.AttributeProto(name="alpha", ref_attr_name="slope", type=onnx.AttributeProto.FLOAT))
    function = helper.make_function("local", "Leak", ["v"], ["w"], [node], [helper.make_opsetid("", 17)])
    function.attribute_proto.append(helper.make_attribute("slope", 0.25))
    n.functions, n.domains = [function], {"local": 1}
    if_op(
        n, "cond", lambda b: b.op("Leak", "x", domain="local"), lambda b: b.op("Leak", "x", domain="local", slope=0.5)
    )
    n.y("y", "f32", [3])
    n.feeds = [{"cond": np.array(v), "x": n.rand(3)} for v in (True, False)]


@case("functions", "The second output of a function has no reader.", tolerance=EXACT)
def function_unread_output(n):
    n.x("x", [3])
    nodes = [helper.make_node("Neg", ["v"], ["w"]), helper.make_node("Exp", ["v"], ["e"])]
    n.functions = [helper.make_function("local", "Both", ["v"], ["w", "e"], nodes, [helper.make_opsetid("", 17)])]
    n.domains = {"local": 1}
    n.op("Both", "x", domain="local", to=["y", "unread"])
    n.y("y", "f32", [3])


@case(
    "foreign", "The runtime's own operators run and stay.", require_ops=("com.microsoft::FusedMatMul",), tolerance=CLOSE
)
def contrib_operator(n):
    n.x("x", [2, 4])
    n.domains = {"com.microsoft": 1}
    t = n.op("FusedMatMul", n.op("Identity", "x"), n.w(n.rand(3, 4)), domain="com.microsoft", transB=1, alpha=0.5)
    n.op("Mul", t, n.f(1.0), to="y")
    n.y("y", "f32", [2, 3])


@case(
    "foreign",
    "Operators of classical learning run and stay.",
    require_ops=("ai.onnx.ml::Scaler",),
    tolerance=(1e-5, 1e-5),
)
def classical_operator(n):
    n.x("x", [2, 3])
    n.domains = {"ai.onnx.ml": 3}
    t = n.op("Scaler", n.op("Identity", "x"), domain="ai.onnx.ml", offset=[1.0, 2.0, 3.0], scale=[0.5, 2.0, 1.0])
    n.op("Neg", t, to="y")
    n.y("y", "f32", [2, 3])


@case(
    "foreign",
    "Its name is a standard operator's.",
    compare="structure",
    require_ops=("org.example::Identity", "org.example::Dropout"),
)
def foreign_identity(n):
    n.x("x", [2, 3])
    n.domains = {"org.example": 1}
    t = n.op("Identity", n.op("Identity", "x"), domain="org.example")
    n.op("Neg", n.op("Dropout", t, domain="org.example"), to="y")
    n.y("y", "f32", [2, 3])


@case("foreign", "It has a body, which reads the graph.", compare="structure", require_ops=("org.example::Apply",))
def foreign_with_body(n):
    n.x("x", [2, 3])
    n.domains = {"org.example": 1}
    c = n.op("Identity", n.op("Neg", "x"))
    b = n.body("apply")
    b.y(b.op("Add", c, b.f(1.0)), "f32", [2, 3])
    n.op("Apply", "x", domain="org.example", body=b.graph(), to="y")
    n.y("y", "f32", [2, 3])


@case(
    "foreign",
    "It stands in a branch, and its twin beside it.",
    compare="structure",
    require_ops=("org.example::Draw",) * 2,
)
def foreign_twins_in_branch(n):
    n.x("cond", [], "bool")
    n.x("x", [3])
    n.domains = {"org.example": 1}

    def twins(b):
        return b.op("Sub", b.op("Draw", "x", domain="org.example"), b.op("Draw", "x", domain="org.example"))

    if_op(n, "cond", twins, lambda b: b.op("Neg", "x"))
    n.y("y", "f32", [3])


# --- shapes --------------------------------------------------------------------------------------------------------


@case("stale_shapes", "The record of a rank that cannot be.")
def stale_rank(n):
    n.x("x", [2, 3, 4])
    t = n.op("Transpose", "x", perm=[2, 0, 1])
    n.infos.append(helper.make_tensor_value_info(t, TYPES["f32"], [24]))
    n.op("Reshape", n.op("Relu", t), n.op("Concat", n.i64(-1), n.op("Shape", t, start=2), axis=0), to="y")
    n.y("y", "f32", [8, 3])


@case("stale_shapes", "The record of the batch it was traced with.", tolerance=EXACT)
def stale_batch(n):
    n.x("x", ["N", 4])
    t = n.op("Relu", "x")
    n.infos.append(helper.make_tensor_value_info(t, TYPES["f32"], [1, 4]))
    n.op("Expand", n.f([[1.0]]), n.op("Shape", t), to="y")
    n.y("y", "f32", ["N", 4])


@case("dynamic", "Heads of an attention: two free sizes are copied.", max_nodes=1, tolerance=EXACT)
def split_heads(n):
    n.x("x", ["N", "T", 12])
    s = n.op("Shape", "x")
    d = [n.op("Unsqueeze", n.op("Gather", s, n.w(np.int64(k))), n.i64(0)) for k in (0, 1)]
    n.op("Reshape", "x", n.op("Concat", *d, n.i64(3), n.i64(4), axis=0), to="y")
    n.y("y", "f32", ["N", "T", 3, 4])


@case("dynamic", "The product of two sizes is computed.", tolerance=EXACT)
def merge_batch_and_time(n):
    n.x("x", ["N", "T", 12])
    s = n.op("Shape", "x")
    d = [n.op("Gather", s, n.w(np.int64(k))) for k in (0, 1)]
    m = n.op("Unsqueeze", n.op("Mul", *d), n.i64(0))
    n.op("Reshape", "x", n.op("Concat", m, n.i64(12), axis=0), to="y")
    n.y("y", "f32", [None, 12])


@case("dynamic", "The layout goes and comes back.", tolerance=EXACT)
def reshape_and_back(n):
    n.x("x", ["N", 3, 4])
    t = n.op("Relu", n.op("Reshape", "x", n.i64(-1, 4)))
    n.op("Reshape", t, n.op("Shape", "x"), to="y")
    n.y("y", "f32", ["N", 3, 4])


@case("dynamic", "A size of the image, halved.", tolerance=(1e-5, 1e-5))
def resize_to_half(n):
    n.x("x", [1, 2, "H", "W"])
    half = n.op("Div", n.op("Shape", "x", start=2), n.i64(2))
    n.op("Resize", "x", "", "", n.op("Concat", n.op("Shape", "x", end=2), half, axis=0), to="y", mode="nearest")
    n.y("y", "f32", [1, 2, None, None])
    n.sizes = [4, 6]


@case("dynamic", "Ones in the shape of x are added to another.", tolerance=EXACT)
def ones_like(n):
    n.x("x", ["N", 3])
    one = helper.make_tensor("v", TYPES["f32"], [1], [1.0])
    n.op("Sub", n.op("ConstantOfShape", n.op("Shape", "x"), value=one), "x", to="y")
    n.y("y", "f32", ["N", 3])


@case("dynamic", "Sizes of a static tensor fold even through arithmetic.", max_nodes=1, tolerance=EXACT)
def static_size_arithmetic(n):
    n.x("x", [4, 6])
    size = n.op("Size", "x")
    half = n.op("Div", size, n.w(np.int64(2)))
    two = n.op("Sub", n.op("Cast", n.op("Gather", n.op("Shape", "x"), n.w(np.int64(0))), to=None), n.w(np.int64(2)))
    n.nodes[-2].attribute.append(helper.make_attribute("to", TYPES["i64"]))
    target = n.op("Concat", n.op("Unsqueeze", two, n.i64(0)), n.op("Unsqueeze", half, n.i64(0)), axis=0)
    n.op("Reshape", "x", target, to="y")
    n.y("y", "f32", [2, 12])


# --- pairs, deep ---------------------------------------------------------------------------------------------------


@case("pair", "A pad and a scale of both sides.", max_nodes=2, tolerance=CLOSE)
def pad_conv_mul_relu(n):
    chain(
        n,
        [1, 2, 5, 5],
        lambda t: conv(n, pad_op(n, t, [0, 0, 1, 1, 0, 0, 1, 1]), 2, 3),
        lambda t: n.op("Relu", n.op("Clip", n.op("Mul", t, n.f(2.0)), n.f(-1.0), n.f(6.0))),
    )


@case("pair", "Equal branches of a graph merge, then their sum stays.", max_nodes=3, tolerance=CLOSE)
def equal_layers_merge(n):
    n.x("x", [1, 2, 5, 5])
    w = n.rand(3, 2, 3, 3)
    a, b = n.op("Conv", "x", n.w(w)), n.op("Conv", "x", n.w(w))
    n.op("Add", n.op("Relu", a), n.op("Relu", b), to="y")
    n.y("y")


@case("pair", "Equal nodes differ in an attribute's default.", tolerance=EXACT)
def equal_by_default(n):
    n.x("x", [2, 3, 4])
    a, b = n.op("Flatten", "x", axis=1), n.op("Flatten", "x")
    n.op("Add", a, b, to="y")
    n.y("y")


@case("pair", "Gathers of a gather.", max_nodes=1, tolerance=EXACT)
def gather_gather(n):
    chain(n, [6, 2], lambda t: n.op("Gather", t, n.i64(5, 3, 1)), lambda t: n.op("Gather", t, n.i64(2, -3)))


@case("pair", "Concats of a concat.", max_nodes=1, tolerance=EXACT)
def concat_concat(n):
    n.x("a", [2])
    n.x("b", [2])
    n.op("Concat", n.op("Concat", "a", "b", axis=0), "a", axis=-1, to="y")
    n.y("y")


@case("deep", "A Concat of five hundred.", tolerance=EXACT)
def wide_concat(n):
    n.x("x", [1, 2])
    parts = [n.op("Add", "x", n.f(float(k + 1))) for k in range(500)]
    n.op("Concat", *parts, axis=0, to="y")
    n.y("y")


@case("deep", "Ten Loops inside each other.", tolerance=(1e-4, 1e-4))
def nested_loops(n):
    n.x("x", [2])

    def level(depth):
        def fill(b, it, c, names):
            t = b.op("Add", names[0], "x")
            if depth:
                out = b.fresh()
                loop(b, b.w(np.int64(1)), b.w(np.array(True)), [t], level(depth - 1), [out])
                t = out
            return [(b.op("Identity", c), "bool"), (b.op("Identity", t), "f32")]

        return fill

    loop(n, n.w(np.int64(2)), n.w(np.array(True)), ["x"], level(9), ["y"])
    n.y("y", "f32", [2])


# --- hostile -------------------------------------------------------------------------------------------------------


def damaged(name: str, must: str, change, expect="error", family="hostile_graph"):
    """small_net after `change(model)`."""

    def build(folder):
        model = small_net().model()
        change(model)
        write_model(folder, model)

    add(name, family, must, build, kind="invalid", expect=expect)


def bytewise(name: str, must: str, data, expect="error", family="hostile_file"):
    add(name, family, must, lambda folder: write_model(folder, data()), kind="invalid", expect=expect)


def small_bytes() -> bytes:
    return small_net().model().SerializeToString()


bytewise("bad_zeros", "Nothing but zeros.", lambda: bytes(4096))
bytewise("bad_noise", "Noise.", lambda: np.random.default_rng(3).bytes(5000))
bytewise("bad_cut_last_byte", "One byte is missing.", lambda: small_bytes()[:-1])
bytewise("bad_trailing_noise", "Bytes behind the model.", lambda: small_bytes() + b"\xff" * 40)
bytewise(
    "bad_length_huge",
    "A field says that it is 2^62 bytes long.",
    lambda: small_bytes() + b"\x3a" + b"\xff" * 8 + b"\x3f",
)
bytewise("bad_group_nesting", "Ten thousand open groups.", lambda: small_bytes() + b"\x1b" * 10000)
bytewise("bad_pickle", "Another kind of file.", lambda: b"\x80\x04\x95" + b"PK\x03\x04" * 50)
bytewise("bad_html", "The page of a failed download.", lambda: b"<!DOCTYPE html><html><body>404</body></html>")
bytewise(
    "bad_lfs_pointer",
    "A pointer to a large file.",
    lambda: b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n",
)

damaged("bad_no_graph", "There is no graph.", lambda m: m.ClearField("graph"))
damaged("bad_output_missing", "The output is never written.", lambda m: m.graph.output[0].__setattr__("name", "ghost"))
damaged("bad_input_twice", "Two inputs have one name.", lambda m: m.graph.input.append(m.graph.input[0]))
damaged(
    "bad_node_writes_input", "A node writes the graph's input.", lambda m: m.graph.node[1].output.__setitem__(0, "x")
)
damaged(
    "bad_node_writes_weight",
    "A node writes a weight.",
    lambda m: m.graph.node[0].output.__setitem__(0, m.graph.initializer[0].name),
)
damaged(
    "bad_unknown_op", "An operator that ONNX does not have.", lambda m: m.graph.node[1].__setattr__("op_type", "Reluuu")
)
damaged("bad_empty_op_type", "An operator without a name.", lambda m: m.graph.node[1].__setattr__("op_type", ""))
damaged(
    "bad_weight_type",
    "A type number that does not exist.",
    lambda m: m.graph.initializer[0].__setattr__("data_type", 99),
    family="hostile_tensor",
)
damaged(
    "bad_weight_no_type",
    "A weight without a type.",
    lambda m: m.graph.initializer[0].__setattr__("data_type", 0),
    family="hostile_tensor",
)
damaged("bad_weight_no_name", "A weight without a name.", lambda m: m.graph.initializer[0].__setattr__("name", ""))
damaged(
    "bad_raw_data_long",
    "More bytes than the dimensions say.",
    lambda m: m.graph.initializer[0].__setattr__("raw_data", m.graph.initializer[0].raw_data + b"1234"),
    family="hostile_tensor",
)
damaged(
    "bad_dim_zero_weight",
    "A kernel of size zero.",
    lambda m: (m.graph.initializer[0].dims.__setitem__(2, 0), m.graph.initializer[0].__setattr__("raw_data", b"")),
    family="hostile_tensor",
)
damaged(
    "bad_channels",
    "The weight wants other channels.",
    lambda m: m.graph.initializer[0].dims.__setitem__(slice(None), [2, 3, 3, 3]),
)
damaged("bad_opset_zero", "Opset 0.", lambda m: m.opset_import[0].__setattr__("version", 0), family="hostile_version")
damaged(
    "bad_opset_negative",
    "A negative opset.",
    lambda m: m.opset_import[0].__setattr__("version", -17),
    family="hostile_version",
)
damaged(
    "bad_opset_twice",
    "Two versions of one operator set.",
    lambda m: m.opset_import.append(helper.make_opsetid("", 11)),
    family="hostile_version",
)
damaged(
    "bad_ir_huge",
    "An IR version of the future.",
    lambda m: m.__setattr__("ir_version", 2**40),
    family="hostile_version",
)
damaged(
    "bad_foreign_domain", "The domain is not imported.", lambda m: m.graph.node[1].__setattr__("domain", "org.example")
)
damaged(
    "bad_attribute_twice",
    "One attribute twice.",
    lambda m: m.graph.node[0].attribute.extend([helper.make_attribute("group", 1)] * 2),
)
damaged(
    "bad_attribute_unknown",
    "An attribute that Conv does not have.",
    lambda m: m.graph.node[0].attribute.append(helper.make_attribute("gruop", 1)),
)
damaged(
    "bad_reference_outside",
    "An attribute refers to a function's, outside of one.",
    lambda m: m.graph.node[0].attribute.append(
        onnx.AttributeProto(name="group", ref_attr_name="g", type=onnx.AttributeProto.INT)
    ),
)
damaged(
    "bad_output_type",
    "The output's type is another.",
    lambda m: m.graph.output[0].type.tensor_type.__setattr__("elem_type", TensorProto.INT64),
)
damaged(
    "bad_pads_negative_size",
    "Pads that take more than there is.",
    lambda m: m.graph.node[0].attribute.append(helper.make_attribute("pads", [-9, -9, -9, -9])),
    family="hostile_value",
)
damaged(
    "bad_strides_zero",
    "A stride of zero.",
    lambda m: m.graph.node[0].attribute.append(helper.make_attribute("strides", [0, 0])),
    family="hostile_value",
)
damaged(
    "bad_pads_count",
    "Three pads.",
    lambda m: m.graph.node[0].attribute.append(helper.make_attribute("pads", [1, 1, 1])),
    family="hostile_value",
)
damaged(
    "bad_dilations_huge",
    "A kernel wider than 2^62.",
    lambda m: m.graph.node[0].attribute.append(helper.make_attribute("dilations", [2**62, 1])),
    family="hostile_value",
)


def external_damage(name: str, must: str, location, offset=None, length=None, blob=b"\0" * 216):
    add(
        name,
        "hostile_external",
        must,
        lambda folder: base.external_model(folder, location, offset, length, blob),
        kind="invalid",
        expect="error",
    )


external_damage("bad_external_negative", "A negative offset.", "weights.bin", -8, 216)
external_damage("bad_external_short", "Fewer bytes than the weight needs.", "weights.bin", 0, 100)
external_damage("bad_external_overflow", "Offset and length overflow.", "weights.bin", 2**63 - 100, 216)
external_damage("bad_external_absolute", "An absolute path.", "/etc/passwd", 0, 216)
external_damage("bad_external_empty", "No location.", "")
external_damage("bad_external_dot", "The folder itself.", ".")
external_damage("bad_external_nul", "A name with a zero byte.", "weights.bin\0/../x", 0, 216)
external_damage("bad_external_itself_up", "Up and down again.", "../in/weights.bin/../../../outside.bin", 0, 216)


@hostile("error", "The data file is a link to one outside.", family="hostile_external")
def bad_external_link(folder):
    base.external_model(folder, "weights.bin", 0, 216)
    (folder / "weights.bin").symlink_to("../../outside.bin")


@hostile("error", "Two functions call each other.", family="hostile_depth")
def bad_function_circle(folder):
    n = Net("circle")
    n.domains = {"local": 1}
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("local", 1)]
    n.functions = [
        helper.make_function("local", a, ["v"], ["w"], [helper.make_node(b, ["v"], ["w"], domain="local")], imports)
        for a, b in (("F", "G"), ("G", "F"))
    ]
    n.x("x", [2])
    n.op("F", "x", domain="local", to="y")
    n.y("y", "f32", [2])
    write_model(folder, n.model())


@hostile("either", "Thirty functions, each calling the one before twice.", family="hostile_cost")
def bad_function_doubling(folder):
    n = Net("doubling")
    n.domains = {"local": 1}
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("local", 1)]
    for k in range(30):
        call = (f"F{k - 1}", "local") if k else ("Relu", "")
        nodes = [
            helper.make_node(call[0], ["v"], ["m"], domain=call[1]),
            helper.make_node(call[0], ["m"], ["w"], domain=call[1]),
        ]
        n.functions.append(helper.make_function("local", f"F{k}", ["v"], ["w"], nodes, imports))
    n.x("x", [2])
    n.op("F29", "x", domain="local", to="y")
    n.y("y", "f32", [2])
    write_model(folder, n.model())


@hostile("either", "A constant grows a hundred times in each of ten steps.", family="hostile_cost")
def bad_tile_explosion(folder):
    n = Net("explosion")
    n.x("x", [1])
    t = n.f([1.0])
    for _ in range(10):
        t = n.op("Tile", t, n.i64(100))
    n.op("Add", "x", n.op("ReduceSum", t, n.i64(0)), to="y")
    n.y("y", "f32", [1])
    write_model(folder, n.model())


@hostile("either", "A range of 2^40 numbers.", family="hostile_cost")
def bad_range_huge(folder):
    n = Net("range")
    n.x("x", [1], "i64")
    r = n.op("Range", n.w(np.int64(0)), n.w(np.int64(2**40)), n.w(np.int64(1)))
    n.op("Add", "x", n.op("Shape", r), to="y")
    n.y("y", "i64", [1])
    write_model(folder, n.model())


@hostile("either", "A range with a step of zero.", family="hostile_value")
def bad_range_zero_step(folder):
    n = Net("range")
    n.x("x", [1], "i64")
    r = n.op("Range", n.w(np.int64(0)), n.w(np.int64(4)), n.w(np.int64(0)))
    n.op("Add", "x", n.op("Shape", r), to="y")
    n.y("y", "i64", [1])
    write_model(folder, n.model())


@hostile("either", "A constant division by zero.", family="hostile_value")
def bad_divide_by_zero(folder):
    n = Net("divide")
    n.x("x", [2], "i64")
    n.op("Add", "x", n.op("Div", n.i64(4, -(2**63)), n.i64(0, -1)), to="y")
    n.y("y", "i64", [2])
    write_model(folder, n.model())


@hostile("either", "A constant remainder by zero.", family="hostile_value")
def bad_mod_by_zero(folder):
    n = Net("mod")
    n.x("x", [2], "i32")
    n.op("Add", "x", n.op("Mod", n.w([4, -(2**31)], "i32"), n.w([0, -1], "i32")), to="y")
    n.y("y", "i32", [2])
    write_model(folder, n.model())


@hostile("either", "Constant indices beyond the table.", family="hostile_value")
def bad_gather_beyond(folder):
    n = Net("gather")
    n.x("x", [2])
    n.op("Add", "x", n.op("Gather", n.f([1, 2, 3]), n.i64(7, -9)), to="y")
    n.y("y", "f32", [2])
    write_model(folder, n.model())


@hostile("error", "A permutation that is none.", family="hostile_value")
def bad_perm(folder):
    one_op(folder, "Transpose", [([2, 3], "f32")], shape=[2, 3], perm=[0, 0])


@hostile("error", "An axis beyond the rank.", family="hostile_value")
def bad_softmax_axis(folder):
    one_op(folder, "Softmax", [([2, 3], "f32")], shape=[2, 3], axis=5)


@hostile("error", "Axes twice.", family="hostile_value")
def bad_unsqueeze_axes(folder):
    one_op(folder, "Unsqueeze", [([2, 3], "f32"), np.array([0, 0])], shape=[1, 2, 3])


@hostile("error", "Squeezing an axis of three.", family="hostile_value")
def bad_squeeze_axis(folder):
    one_op(folder, "Squeeze", [([2, 3], "f32"), np.array([1])], shape=[2])


@hostile("error", "Shapes that do not broadcast.")
def bad_broadcast(folder):
    one_op(folder, "Add", [([2, 3], "f32"), np.ones((2, 4), np.float32)], shape=[2, 3])


@hostile("error", "Inner sizes that do not agree.")
def bad_matmul_sizes(folder):
    one_op(folder, "MatMul", [([2, 3], "f32"), np.ones((4, 5), np.float32)], shape=[2, 5])


@hostile("error", "A Cast to a type that does not exist.", family="hostile_value")
def bad_cast_type(folder):
    def patch(model):
        model.graph.node[0].attribute.append(helper.make_attribute("to", 77))

    n = Net("cast")
    n.x("x", [2])
    n.op("Cast", "x", to="y")
    n.y("y", "f32", [2])
    n.patch = patch
    write_model(folder, n.model())


@hostile("error", "A body that reads what comes later.")
def bad_body_reads_later(folder):
    n = Net("later")
    n.x("c", [], "bool")
    n.x("x", [2])
    if_op(n, "c", lambda b: b.op("Neg", "late"), lambda b: b.op("Relu", "x"), to="t")
    n.op("Add", "t", "x", to="late")
    n.op("Neg", "late", to="y")
    n.y("y", "f32", [2])
    write_model(folder, n.model())


@hostile("error", "A condition that is no truth value.")
def bad_condition_type(folder):
    n = Net("condition")
    n.x("x", [2])
    if_op(n, "x", lambda b: b.op("Neg", "x"), lambda b: b.op("Relu", "x"))
    n.y("y", "f32", [2])
    write_model(folder, n.model())


@hostile("error", "A Loop whose body takes too few inputs.")
def bad_loop_inputs(folder):
    n = Net("loop")
    n.x("x", [2])
    b = n.body("b")
    b.x("i", [], "i64")
    b.y(b.const(np.array(True)), "bool", [])
    b.y(b.op("Neg", "x"), "f32", [2])
    n.op("Loop", n.w(np.int64(2)), "", "x", to="y", body=b.graph())
    n.y("y", "f32", [2])
    write_model(folder, n.model())


@hostile("either", "A sparse weight whose index lies outside.", family="hostile_tensor")
def bad_sparse_index(folder):
    n = Net("sparse", 13)
    n.x("x", [2, 4])
    values = helper.make_tensor("w", TYPES["f32"], [1], [1.0])
    index = helper.make_tensor("w_index", TYPES["i64"], [1], [2**40])
    n.sparse.append(helper.make_sparse_tensor(values, index, [4, 3]))
    n.op("MatMul", "x", "w", to="y")
    n.y("y", "f32", [2, 3])
    write_model(folder, n.model())


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))
    sys.exit(base.main())

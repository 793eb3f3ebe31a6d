"""Tests of check_layers.py: each rule is seen to catch what it is for."""

import unittest
from pathlib import Path

import check_layers

TABLE = check_layers.Table(
    {
        "everywhere": ["fmt"],
        "tests": ["gtest"],
        "system": ["unistd.h", "sys/"],
        "libraries": {
            "fmt": {"includes": ["fmt/"], "targets": ["fmt::fmt"]},
            "onnx": {"includes": ["onnx/"], "targets": ["rlc::onnx"]},
            "torch": {"includes": ["torch/"], "targets": ["rlc::torch"]},
            "gtest": {"includes": ["gtest/"], "targets": ["GTest::gtest"]},
        },
        "layers": {
            "base": {"uses": []},
            "ir": {"uses": ["base"]},
            "onnx": {"uses": ["ir"], "outside": ["onnx"]},
            "train": {"uses": ["ir"], "outside": ["torch"]},
            "testing": {"uses": ["onnx"], "headers": ["gtest"]},
        },
        "programs": {"tools/rlc": {"target": "rlc", "uses": ["onnx"]}},
        "never": {"rlc": ["torch"]},
    }
)


def includes(path, *lines):
    text = "".join(f"#include {line}\n" for line in lines)
    return list(check_layers.check_includes(TABLE, Path(path), text))


class Includes(unittest.TestCase):
    def test_accepts_what_a_row_uses_directly_or_not(self):
        self.assertEqual(
            includes("src/rlc/onnx/a.cc", '"rlc/onnx/a.h"', '"rlc/ir/b.h"', '"rlc/base/c.h"', "<onnx/d.h>"), []
        )

    def test_refuses_a_layer_above(self):
        self.assertRegex(includes("src/rlc/ir/a.cc", '"rlc/onnx/a.h"')[0], "ir may not use onnx")

    def test_refuses_an_unknown_layer(self):
        self.assertRegex(includes("src/rlc/extra/a.cc", "<vector>")[0], "extra is not in")

    def test_refuses_an_outside_library_in_a_header(self):
        self.assertRegex(includes("src/rlc/onnx/a.h", "<onnx/d.h>")[0], "in headers of onnx")

    def test_refuses_another_layers_library(self):
        self.assertRegex(includes("src/rlc/ir/a.cc", "<onnx/d.h>")[0], "onnx .* may not be used in ir")

    def test_refuses_a_library_that_is_not_in_the_table(self):
        self.assertRegex(includes("src/rlc/ir/a.cc", "<boost/any.hpp>")[0], "belongs to no library")

    def test_accepts_the_standard_library_and_the_system(self):
        self.assertEqual(includes("src/rlc/ir/a.h", "<vector>", "<unistd.h>", "<sys/stat.h>", "<fmt/format.h>"), [])

    def test_lets_tests_use_other_layers_but_not_the_trainer(self):
        self.assertEqual(includes("src/rlc/ir/a_test.cc", '"rlc/testing/a.h"', '"rlc/onnx/a.h"', "<gtest/gtest.h>"), [])
        self.assertEqual(includes("src/rlc/ir/test_files.h", '"rlc/testing/a.h"'), [])
        self.assertRegex(includes("src/rlc/ir/a_test.cc", '"rlc/train/a.h"')[0], "may not use train")

    def test_does_not_take_latest_for_a_test(self):
        self.assertEqual(len(includes("src/rlc/ir/latest.cc", "<gtest/gtest.h>")), 1)


class Links(unittest.TestCase):
    def problems(self, **links):
        names = {linked for targets in links.values() for linked in targets}
        return list(check_layers.check_links(TABLE, {**{name: set() for name in names}, **links}))

    def test_accepts_the_table(self):
        self.assertEqual(self.problems(rlc_onnx={"rlc_ir", "rlc::onnx"}, rlc_ir={"rlc_base", "rlc_options"}), [])

    def test_refuses_a_layer_above(self):
        self.assertRegex(self.problems(rlc_ir={"rlc_onnx"}, rlc_onnx={"rlc_base"})[0], "rlc_ir links rlc_onnx")

    def test_refuses_a_library_by_way_of_another_target(self):
        found = self.problems(rlc_ir={"helper"}, helper={"rlc::onnx"})
        self.assertRegex(found[0], r"rlc_ir links rlc::onnx \(onnx\)")

    def test_refuses_torch_in_the_command_line(self):
        found = self.problems(rlc={"rlc_onnx"}, rlc_onnx={"rlc::torch"})
        self.assertIn("rlc must not link rlc::torch", found)


class Table(unittest.TestCase):
    def test_refuses_cycles(self):
        data = {
            "everywhere": [],
            "layers": {"a": {"uses": ["b"]}, "b": {"uses": ["a"]}},
            "programs": {},
            "libraries": {},
        }
        self.assertRegex(next(check_layers.Table(data).problems()), "uses itself")

    def test_the_projects_own_table_is_sound(self):
        own = check_layers.json.loads((check_layers.ROOT / "scripts/layers.json").read_text())
        self.assertEqual(list(check_layers.Table(own).problems()), [])


class Files(unittest.TestCase):
    def test_rows_must_be_sorted_and_unique(self):
        self.assertEqual(list(check_layers.check_sorted("x.inc", "// b\nROW(A)\nROW(B)\n")), [])
        self.assertRegex(next(check_layers.check_sorted("x.inc", "ROW(B)\nROW(A)\n")), "not sorted")
        self.assertRegex(next(check_layers.check_sorted("x.inc", "ROW(A)\nROW(A)\n")), "twice")

    def test_absolute_paths_of_a_machine_are_found(self):
        somebodys = "/".join(["", "home", "somebody", "x"])
        self.assertEqual(len(list(check_layers.check_paths("x.md", f"see {somebodys}\n"))), 1)
        self.assertEqual(list(check_layers.check_paths("x.md", "see /usr/bin/env and https://a.b/home/c\n")), [])


if __name__ == "__main__":
    unittest.main()

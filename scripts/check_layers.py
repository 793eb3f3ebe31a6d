"""Checks every include and every link against the table of layers, scripts/layers.json.

    .venv/bin/python scripts/check_layers.py                    the includes
    .venv/bin/python scripts/check_layers.py --build build/dev  also what CMake links, in a configured build folder

Prints one line for each violation; exit code 1 if there are any. Also checked, because nothing else does:
the rows of *.inc files are sorted, and no file names an absolute path of somebody's machine.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)
NODE = re.compile(r'^\s*"(node\d+)" \[ label = "([^"]+)", shape')
EDGE = re.compile(r'^\s*"(node\d+)" -> "(node\d+)"')
ROW = re.compile(r"^\w+\(.*\)$")
HOME_PATH = re.compile(r"(?<![\w.:/-])/(home|root|work|tmp|Users)/[\w.-]+")
TEST_FILE = re.compile(r"(^|_)test(_|\.)")  # x_test.cc, test_files.h, x_test_util.h
TEXT_SUFFIXES = {".cc", ".h", ".inc", ".py", ".cmake", ".txt", ".md", ".json", ".toml", ".yml", ".in", ""}
# Rows in an order that means something: best first.
UNSORTED_INC = {"kernels.inc"}


class Table:
    """The table: what each layer or program may use, closed under `uses`."""

    def __init__(self, data):
        self.data = data
        self.layers = data["layers"]
        self.everywhere = set(data["everywhere"])
        self.not_for_tests = {"train"}

    def closure(self, names):
        """The layers in `names` and all that they use."""
        seen, todo = set(), list(names)
        while todo:
            name = todo.pop()
            if name not in seen:
                seen.add(name)
                todo.extend(self.layers[name]["uses"])
        return seen

    def problems(self):
        """Names that do not exist, and cycles."""
        rows = [*self.layers.items(), *self.data["programs"].items()]
        for name, row in rows:
            for used in row["uses"]:
                if used not in self.layers:
                    yield f"scripts/layers.json: {name} uses {used}, which is no layer"
                    return
            for library in [*row.get("outside", []), *row.get("headers", [])]:
                if library not in self.data["libraries"]:
                    yield f"scripts/layers.json: {name} uses the library {library}, which is not in the list"
        for name, row in self.layers.items():
            if name in self.closure(row["uses"]):
                yield f"scripts/layers.json: {name} uses itself, by way of {', '.join(row['uses'])}"

    def row(self, path):
        """The name and row that a file (relative path) belongs to, or None."""
        parts = path.parts
        if parts[:2] == ("src", "rlc") and len(parts) > 3:
            return parts[2], self.layers.get(parts[2])
        for folder, row in self.data["programs"].items():
            if path.is_relative_to(folder):
                return folder, row
        return None

    def library_of_header(self, header):
        """The outside library that a header belongs to, or None."""
        for name, library in self.data["libraries"].items():
            if any(header.startswith(prefix) for prefix in library["includes"]):
                return name
        return None

    def library_of_target(self, target):
        """The outside library that a name on CMake's link lines belongs to, or None."""
        for name, library in self.data["libraries"].items():
            if target in library["targets"]:
                return name
        return None

    def is_system_header(self, header):
        """A header of the C++ or C library."""
        if "." not in header and "/" not in header:
            return True
        return any(header == name or (name.endswith("/") and header.startswith(name)) for name in self.data["system"])


def check_includes(table, path, text):
    """Yields what is wrong with the includes of one file (relative path)."""
    found = table.row(path)
    if found is None:
        return
    name, row = found
    if row is None:
        yield f"{path}: layer {name} is not in scripts/layers.json"
        return
    is_test = TEST_FILE.search(path.name) is not None
    layers = table.closure([*row["uses"], *([name] if name in table.layers else [])])
    libraries = table.everywhere | set(row.get("headers", []))
    if path.suffix == ".cc" or path.name.endswith("-inl.h"):
        libraries |= set(row.get("outside", []))
    if is_test:
        layers |= set(table.layers) - table.not_for_tests
        libraries |= set(table.data["tests"])
    for kind, header in INCLUDE.findall(text):
        if header.startswith("rlc/"):
            used = header.split("/")[1]
            if used not in layers:
                yield f"{path}: {name} may not use {used} ({header})"
            elif kind == "<":
                yield f'{path}: write #include "{header}"'
            continue
        library = table.library_of_header(header)
        if library is not None:
            if library not in libraries:
                where = "in headers of" if library in row.get("outside", []) else "in"
                yield f"{path}: {library} ({header}) may not be used {where} {name}"
        elif kind == '"':
            if not (ROOT / path).parent.joinpath(header).exists():
                yield f'{path}: "{header}" is neither a header of rlc nor beside the file'
        elif not table.is_system_header(header):
            yield f"{path}: <{header}> belongs to no library of scripts/layers.json"


def read_links(build):
    """Target -> what it links directly, as CMake sees it after generator expressions."""
    with tempfile.TemporaryDirectory() as folder:
        dot = Path(folder) / "links.dot"
        options = Path(build) / "CMakeGraphVizOptions.cmake"
        options.write_text(
            "set(GRAPHVIZ_EXTERNAL_LIBS TRUE)\n"
            "set(GRAPHVIZ_GENERATE_PER_TARGET FALSE)\n"
            "set(GRAPHVIZ_GENERATE_DEPENDERS FALSE)\n"
        )
        subprocess.run(
            [Path(sys.executable).parent / "cmake", f"--graphviz={dot}", "-S", ROOT, "-B", build],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        lines = dot.read_text().splitlines()
    names = {match[1]: match[2].split("\\n")[0] for match in map(NODE.match, lines) if match}
    links = defaultdict(set)
    for match in filter(None, map(EDGE.match, lines)):
        links[names[match[1]]].add(names[match[2]])
    for name in names.values():
        links.setdefault(name, set())
    return links


def link_closure(links, target):
    """Everything that a target links, directly or not."""
    seen, todo = set(), list(links[target])
    while todo:
        name = todo.pop()
        if name not in seen:
            seen.add(name)
            todo.extend(links.get(name, ()))
    return seen


def check_target(table, links, target, row, own, is_test):
    """Yields what one target links, directly or not, and may not."""
    layers = table.closure([*row["uses"], *([own] if own in table.layers else [])])
    libraries = table.everywhere | set(row.get("outside", []))
    for layer in layers:
        libraries |= set(table.layers[layer].get("outside", []))
    if is_test or own == "testing":
        layers |= set(table.layers) - table.not_for_tests
        libraries |= set(table.data["tests"])
        for layer in layers:
            libraries |= set(table.layers[layer].get("outside", []))
    for linked in sorted(link_closure(links, target)):
        if linked.startswith("rlc_"):
            name = "testing" if linked.startswith("rlc_testing") else linked.removeprefix("rlc_")
            if name != "options" and name not in layers:
                yield f"{target} links {linked}, which {own} may not use"
            continue
        library = table.library_of_target(linked)
        if library is not None and library not in libraries:
            yield f"{target} links {linked} ({library}), which {own} may not use"


def check_links(table, links):
    """Yields what is wrong with the links of the targets of a build."""
    for target in sorted(links):
        if target.startswith("rlc_testing"):
            yield from check_target(table, links, target, table.layers["testing"], "testing", True)
        elif target.startswith("rlc_"):
            name = target.removeprefix("rlc_").removesuffix("_test")
            if name in table.layers:
                yield from check_target(table, links, target, table.layers[name], name, target.endswith("_test"))
    for folder, row in table.data["programs"].items():
        if row.get("target") in links:
            yield from check_target(table, links, row["target"], row, folder, folder == "tests")
    for program, libraries in table.data["never"].items():
        if program in links:
            for linked in sorted(link_closure(links, program)):
                if table.library_of_target(linked) in libraries:
                    yield f"{program} must not link {linked}"


def check_sorted(path, text):
    """Yields the first row of an .inc file that is out of order (by name, the first argument's or the quoted one)."""
    rows = [line for line in text.splitlines() if ROW.match(line)]
    for before, after in pairwise(rows):
        if after < before:
            yield f"{path}: rows are not sorted: {after} comes after {before}"
            return
        if after == before:
            yield f"{path}: row appears twice: {after}"


def check_paths(path, text):
    """Yields absolute paths of somebody's machine."""
    for number, line in enumerate(text.splitlines(), 1):
        match = HOME_PATH.search(line)
        if match:
            yield f"{path}:{number}: absolute path {match[0]}"


def tracked_files():
    """Relative paths of the files that belong to the project: tracked, or new and not ignored."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\0")
    return [Path(name) for name in sorted(set(listed)) if name and (ROOT / name).is_file()]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", help="a configured build folder, to check what is linked")
    arguments = parser.parse_args()
    table = Table(json.loads((ROOT / "scripts/layers.json").read_text()))
    problems = list(table.problems())
    if not problems:
        for path in tracked_files():
            if path.suffix not in TEXT_SUFFIXES:
                continue
            text = (ROOT / path).read_text(errors="replace")
            if path.suffix in {".cc", ".h", ".inc"}:
                problems.extend(check_includes(table, path, text))
            if path.suffix == ".inc" and path.name not in UNSORTED_INC:
                problems.extend(check_sorted(path, text))
            problems.extend(check_paths(path, text))
        if arguments.build:
            problems.extend(check_links(table, read_links(arguments.build)))
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

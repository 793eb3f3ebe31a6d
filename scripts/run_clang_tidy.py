"""Runs clang-tidy on the sources of a configured build folder (not the tests) that changed since it found nothing.

    .venv/bin/python scripts/run_clang_tidy.py --build build/lint [-j N] [FILE...]

A file counts as unchanged if it, all headers of the project that it includes (directly or not), its compile command,
the checks and clang-tidy's version are the same as in a run without findings; those are remembered in BUILD/tidy.
"""

import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
INCLUDE = re.compile(rb'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)
TIDY = "clang-tidy-19"


@cache
def read(path):
    """Content of a file, and the headers of the project that it includes."""
    content = path.read_bytes()
    headers = []
    for name in INCLUDE.findall(content):
        for folder in (ROOT / "src", path.parent, ROOT):
            header = folder / name.decode()
            if header.is_file():
                headers.append(header.resolve())
                break
    return content, headers


def closure(path):
    """The file and all headers of the project it includes, sorted."""
    seen, todo = set(), [path]
    while todo:
        file = todo.pop()
        if file not in seen:
            seen.add(file)
            todo.extend(read(file)[1])
    return sorted(seen)


def key_of(entry, salt):
    """Hash of all that a run of clang-tidy on this entry of the compile database depends on."""
    digest = hashlib.sha256(salt)
    digest.update(entry["command"].encode())
    for file in closure(Path(entry["file"]).resolve()):
        digest.update(hashlib.sha256(read(file)[0]).digest())
    return digest.hexdigest()


def check(build, entry):
    """Runs clang-tidy on one file; returns its findings."""
    command = [TIDY, "--quiet", "-p", str(build), entry["file"]]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    return done.returncode, done.stdout + (done.stderr if done.returncode and not done.stdout else "")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", required=True)
    parser.add_argument("-j", type=int, default=os.cpu_count(), dest="jobs")
    parser.add_argument("files", nargs="*", help="only these")
    arguments = parser.parse_args()
    build = (ROOT / arguments.build).resolve()
    passed = build / "tidy"
    passed.mkdir(exist_ok=True)
    salt = (ROOT / ".clang-tidy").read_bytes()
    salt += subprocess.run([TIDY, "--version"], check=True, capture_output=True).stdout
    wanted = {Path(name).resolve() for name in arguments.files}
    todo = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        path = Path(entry["file"]).resolve()
        if "train" in path.parts or "rlc-train" in path.parts:
            continue  # clang 19 does not compile the headers of libtorch 1.13 as C++20
        if not path.is_relative_to(ROOT) or path.is_relative_to(build) or not path.is_file():
            continue
        if path not in wanted if wanted else path.name.endswith("_test.cc"):
            continue
        key = key_of(entry, salt)
        if not (passed / key).exists():
            todo.setdefault(path, (key, entry))
    failures = 0
    with ThreadPoolExecutor(arguments.jobs) as pool:
        results = pool.map(lambda item: (item[0], check(build, item[1])), todo.values())
        for key, (code, output) in results:
            if code == 0:
                (passed / key).touch()
            else:
                failures += 1
                print(output.replace(f"{ROOT}/", ""), flush=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

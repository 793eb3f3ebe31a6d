#!/usr/bin/env python3
"""Times 10,000 PPO timesteps of rlc-train, environment included, against stable-baselines3 on one that costs nothing.

    .venv/bin/python bench/train_speed.py [--request FILE] [--trainer build/release/rlc-train] [--repeats 3] [--json]

Both run in the same minute on this machine, one after the other, on one thread each (networks this small lose by
more), with the same hyperparameters. stable-baselines3 2.2.1 is put into .deps/sb3 at first use, on Debian's
python3-torch. The request defaults to bench/synthetic_request.json (53 layers like a MobileNetV2's); `rlc train
--log-folder DIR` leaves a real one in DIR/request.json. Prints the median of the seconds of learning alone (no
start-up) of each, and how often episodes reach 80 % of the best known gain before and after. Exit code 6: a part is
missing.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".deps" / "sb3"
SYSTEM_PYTHON = "/usr/bin/python3"  # the one that has Debian's python3-torch
SB3 = "stable-baselines3==2.2.1"

# The peer, run by the python of VENV. Its environment hands back constants: what is timed is the learner.
PEER = """
import sys, time
import gymnasium, numpy, torch
from stable_baselines3 import PPO

actions, ppo = int(sys.argv[1]), eval(sys.argv[2])

class Free(gymnasium.Env):
    observation_space = gymnasium.spaces.Box(-1.0, 1.0, (39,), numpy.float32)
    action_space = gymnasium.spaces.Discrete(actions)
    seen = numpy.zeros(39, numpy.float32)

    def reset(self, seed=None, options=None):
        self.left = 100
        return self.seen, {}

    def step(self, action):
        self.left -= 1
        return self.seen, 0.0, False, self.left == 0, {}

torch.set_num_threads(1)
model = PPO("MlpPolicy", Free(), seed=0, device="cpu", **ppo)
started = time.perf_counter()
model.learn(int(sys.argv[3]))
print(time.perf_counter() - started)
"""


def fail(message: str) -> None:
    sys.exit(print(f"train_speed: {message}", file=sys.stderr) or 6)


def peer_python() -> Path:
    """The interpreter that has stable-baselines3, made at first use."""
    python = VENV / "bin" / "python"
    probe = [str(python), "-c", "import stable_baselines3"]
    if python.exists() and subprocess.run(probe, capture_output=True, check=False).returncode == 0:
        return python
    if subprocess.run([SYSTEM_PYTHON, "-c", "import torch"], capture_output=True, check=False).returncode != 0:
        fail("stable-baselines3 needs Debian's python3-torch: apt-get install python3-torch")
    subprocess.run([SYSTEM_PYTHON, "-m", "venv", "--system-site-packages", str(VENV)], check=True)
    install = [str(python), "-m", "pip", "install", "-q", "--disable-pip-version-check", SB3, "numpy<2"]
    subprocess.run(install, check=True)
    return python


def time_ours(trainer: Path, request: dict, folder: Path) -> dict:
    """The summary that rlc-train leaves for `request`."""
    path = folder / "request.json"
    path.write_text(json.dumps(request))
    done = subprocess.run([str(trainer), str(path), str(folder / "out")], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        fail(f"{trainer} failed: {done.stderr.strip()}")
    return json.loads((folder / "out" / "summary.json").read_text())


def time_peer(python: Path, request: dict) -> float:
    """Seconds that stable-baselines3 takes for as many timesteps of the same size."""
    ours = request["ppo"]
    ppo = {
        name: ours[name]
        for name in ("learning_rate", "n_steps", "batch_size", "n_epochs", "gamma", "gae_lambda", "clip_range")
    }
    actions = 5 * len(request["catalogue"]["layers"])
    command = [str(python), "-c", PEER, str(actions), repr(ppo), str(ours["total_timesteps"])]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--request", type=Path, default=ROOT / "bench" / "synthetic_request.json")
    parser.add_argument("--trainer", type=Path, default=ROOT / "build" / "release" / "rlc-train")
    parser.add_argument("--timesteps", type=int, default=10_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--json", action="store_true", help="print figures as JSON")
    arguments = parser.parse_args()
    if not arguments.trainer.exists():
        fail(f"{arguments.trainer} is missing: make build")
    python = peer_python()
    request = json.loads(arguments.request.read_text())
    request["ppo"]["total_timesteps"] = arguments.timesteps
    ours, peer = [], []
    for seed in range(arguments.repeats):
        request["ppo"]["seed"] = seed
        with tempfile.TemporaryDirectory() as folder:
            ours.append(time_ours(arguments.trainer, request, Path(folder)))
        peer.append(time_peer(python, request))
    figures = {
        "timesteps": arguments.timesteps,
        "layers": len(request["catalogue"]["layers"]),
        "rlc_train_seconds": [summary["seconds"] for summary in ours],
        "stable_baselines3_seconds": peer,
        "success_before": [s["before"]["successes"] / s["before"]["episodes"] for s in ours],
        "success_after": [s["after"]["successes"] / s["after"]["episodes"] for s in ours],
    }
    if arguments.json:
        print(json.dumps(figures, indent=2))
        return
    print(f"{figures['timesteps']} timesteps, {figures['layers']} layers, median of {arguments.repeats} runs")
    print(f"  rlc-train, environment included     {statistics.median(figures['rlc_train_seconds']):6.2f} s")
    print(f"  stable-baselines3, free environment {statistics.median(peer):6.2f} s")
    before, after = (statistics.mean(figures[key]) for key in ("success_before", "success_after"))
    print(f"  success before {before:.1%}, after {after:.1%}")


if __name__ == "__main__":
    main()

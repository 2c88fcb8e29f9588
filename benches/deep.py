#!/usr/bin/env python3
"""Deep counterexamples. Prints a Markdown table; docs/benchmarks.md has the last figures.

usage: python3 benches/deep.py [--gander PATH] [--runs N]

Without --gander the release command is built first. Each model is checked by the engine
`accelerate` alone, N times (5); figures are medians of the whole command, the check of the run
included.
"""
import argparse, json, os, statistics, subprocess, tempfile, time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

MODELS = {
    "counter.sts": ("x to 10^6 by 1", """spec Counter
var x: int
start -> N { x == 0 }
node N { tick { x := x + 1 } }
always low: x < 1000000
"""),
    "nested.sts": ("loops 1 000 x 1 000", """spec Nested
var i: int
var j: int
start -> Inner { i == 0  j == 0 }
node Inner {
  tick when i < 1000 { i := i + 1 }
  done -> Outer when i == 1000
}
node Outer { again -> Inner { j := j + 1  i := 0 } }
always low: j < 1000
"""),
    "deposit.sts": ("deposits of 1 to 10 up to 10^6", """spec Deposit
var balance: int
start -> Open { balance == 0 }
node Open {
  deposit(amount: int 1..10) { balance := balance + amount }
  withdraw(amount: int 1..10) when amount <= balance { balance := balance - amount }
}
always limited: balance < 1000000
"""),
    "cycle.sts": ("a cycle of two transitions to 10^6", """spec Cycle
var x: int
var y: int
start -> A { x == 0  y == 0 }
node A { ab -> B { x := x + 3 } }
node B { ba -> A { y := x - 1 } }
always low: y < 1000000
"""),
    "quadratic.sts": ("x := x + y, y := y + 1 to 10^6", """spec Quadratic
var x: int
var y: int
start -> N { x == 0  y == 0 }
node N { step { x := x + y  y := y + 1 } }
always low: x < 1000000
"""),
    "counter.lus": ("Lustre: n to 10^6 by 1", """node main() returns (ok: bool);
var n: int;
let
  n = 0 -> pre n + 1;
  ok = n < 1000000;
  --%PROPERTY ok;
tel
"""),
    "nested.lus": ("Lustre: loops 1 000 x 1 000", """node main() returns (ok: bool);
var inner, outer: int;
let
  inner = 0 -> if pre inner = 999 then 0 else pre inner + 1;
  outer = 0 -> if pre inner = 999 then pre outer + 1 else pre outer;
  ok = outer < 1000;
  --%PROPERTY ok;
tel
"""),
    "inputs.lus": ("Lustre: resets and amounts as inputs", """node main(reset, inc: bool; by: int) returns (ok: bool);
var n: int;
let
  assert 1 <= by and by <= 5;
  n = 0 -> if reset then 0 else if inc then pre n + by else pre n;
  ok = n < 1000000;
  --%PROPERTY ok;
tel
"""),
}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--gander")
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    gander = options.gander
    if gander is None:
        subprocess.run(["cargo", "build", "--release", "--quiet", "-p", "gander-cli"], cwd=ROOT, check=True)
        gander = os.path.join(ROOT, "target", "release", "gander")
    print("| model | | steps | seconds |\n|---|---|--:|--:|")
    with tempfile.TemporaryDirectory() as folder:
        for name, (about, text) in MODELS.items():
            path = os.path.join(folder, name)
            with open(path, "w") as file:
                file.write(text)
            command = [gander, "check", "--checks", "none", "--engine", "accelerate", "--json", path]
            times, length = [], None
            for _ in range(options.runs):
                begin = time.perf_counter()
                answer = subprocess.run(command, capture_output=True, text=True)
                times.append(time.perf_counter() - begin)
                claims = json.loads(answer.stdout)["results"]
                failed = [c for c in claims if c["verdict"] == "fails"]
                length = failed[0]["length"] if failed else "not found"
            print(f"| {name} | {about} | {length} | {statistics.median(times):.3f} |")


if __name__ == "__main__":
    main()

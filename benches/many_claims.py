#!/usr/bin/env python3
"""Checks of systems with many easy claims: independent loops, and the protocol of protocol.py.

usage: python3 benches/many_claims.py [--before GANDER] [--rounds N] [--loops N,N...] [--only NAME]
       python3 benches/many_claims.py --print KIND N        writes the model with N loops

A loop has a variable `x` and two transitions: `up` counts to a bound, `wrap` goes back to 0. Every
transition is a claim (`can enable`). Kinds of models:

one      all loops at one node
params   the same, and each transition has a parameter that its guard limits
nodes    a ring of nodes, each with its own loop
dead     all loops at one node; every tenth loop has a transition that can never be taken
written  few structural claims, but an `always` and a `reachable` claim for each loop

With `--before`, an older binary takes turns with this one (GANDER, or target/release/gander). The
table has the shortest time of the rounds, and for the last lines that of single engines, to compare
with.
"""
import argparse, os, random, subprocess, sys, tempfile, time

BOUND = 3
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def loop(i, kind):
    bound = 1 + i % BOUND
    if kind == "params":
        return [
            f"up_{i}(d: int) when d >= 1 and d <= 2 and x_{i} + d <= {bound + 1} {{ x_{i} := x_{i} + d }}",
            f"wrap_{i}(d: int) when d == x_{i} and x_{i} >= {bound} {{ x_{i} := 0 }}",
        ]
    lines = [
        f"up_{i} when x_{i} < {bound} {{ x_{i} := x_{i} + 1 }}",
        f"wrap_{i} when x_{i} == {bound} {{ x_{i} := 0 }}",
    ]
    if kind == "dead" and i % 10 == 0:
        lines.append(f"never_{i} when x_{i} > {bound} {{ x_{i} := 0 }}")
    return lines


def model(kind, n):
    out = [f"// benches/many_claims.py --print {kind} {n}", "spec Loops"]
    out += [f"var x_{i}: int" for i in range(n)]
    zero = " ".join(f"x_{i} == 0" for i in range(n))
    if kind == "nodes":
        out.append(f"start -> N0 {{ {zero} }}")
        for i in range(n):
            out += [f"node N{i} {{"] + [f"  {line}" for line in loop(i, kind)]
            out += [f"  next_{i} -> N{(i + 1) % n}", "}"]
    else:
        out.append(f"start {{ {zero} }}")
        out += [f"step {line}" for i in range(n) for line in loop(i, kind)]
    if kind == "written":
        for i in range(n):
            bound = 1 + i % BOUND
            out += [f"always small_{i}: x_{i} <= {bound}", f"reachable full_{i}: x_{i} == {bound}"]
    return "\n".join(out) + "\n"


def protocol():
    script = os.path.join(ROOT, "benches", "protocol.py")
    return subprocess.run([sys.executable, script], capture_output=True, text=True, check=True).stdout


def run(binary, args, file):
    begun = time.monotonic()
    done = subprocess.run([binary, "check", "--quiet", "--timeout", "120", *args, file], capture_output=True, text=True)
    took = time.monotonic() - begun
    counts = {word: done.stdout.count(f": {word} ") for word in ("fails", "unknown")}
    return took, done.returncode, counts


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", help="an older binary to compare with")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--loops", default="100,400")
    parser.add_argument("--only", help="models whose name contains this")
    parser.add_argument("--print", nargs=2, metavar=("KIND", "N"), dest="shown")
    args = parser.parse_args()
    if args.shown:
        return sys.stdout.write(model(args.shown[0], int(args.shown[1])))
    now = os.environ.get("GANDER", os.path.join(ROOT, "target", "release", "gander"))
    models = [(f"{kind} {n}", model(kind, int(n)), [[]])
              for kind in ("one", "params", "nodes", "dead", "written") for n in args.loops.split(",")]
    models.append(("protocol", protocol(), [[], ["--engine", "nodes"], ["--engine", "pdr"], ["--engine", "bmc,nodes"]]))
    with tempfile.TemporaryDirectory() as folder:
        for name, text, variants in models:
            if args.only and args.only not in name:
                continue
            file = os.path.join(folder, "model.sts")
            with open(file, "w") as f:
                f.write(text)
            for options in variants:
                binaries = [("before", args.before)] * bool(args.before) + [("now", now)]
                best = {}
                for _ in range(args.rounds):
                    for label, binary in binaries:
                        result = run(binary, options, file)
                        best[label] = min(best.get(label, result), result, key=lambda r: r[0])
                cells = [f"{label} {r[0]:7.2f} s (exit {r[1]}, {r[2]['fails']} fail, {r[2]['unknown']} unknown)"
                         for label, r in best.items()]
                print(f"{name:14} {' '.join(options) or 'default':22} {'   '.join(cells)}", flush=True)


if __name__ == "__main__":
    main()

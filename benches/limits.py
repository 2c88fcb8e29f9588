#!/usr/bin/env python3
"""Limits on time and memory under hostile input: how far over the limit does each command go?

    python3 benches/limits.py target/release/gander [--timeout 2] [--memory 300]

Prints a row for each command and input: the limit, the time it took, the peak of the memory of the
command and its children together, and the exit code. Every row should end within the time limit and
a tenth (and 0.3 s), and near the limit on memory.
"""

import argparse
import os
import subprocess
import tempfile
import time


def doubling_sts():
    lines = ["spec D", "var x: int", "define d0(y: int): int = y + 1"]
    lines += [f"define d{i}(y: int): int = d{i - 1}(d{i - 1}(y))" for i in range(1, 45)]
    return "\n".join(lines + ["start { x == 0 }", "step s { x := x + 1 }", "always a: d44(x) > 0", ""])


def doubling_lustre():
    lines = ["node d0(x: int) returns (y: int); let y = x + 1; tel"]
    lines += [f"node d{i}(x: int) returns (y: int); let y = d{i - 1}(x) + d{i - 1}(x + 1); tel" for i in range(1, 30)]
    main = "node main(x: int) returns (ok: bool); let ok = d29(x) > x; --%PROPERTY ok;\n--%MAIN\ntel\n"
    return "\n".join(lines + [main])


def chain(length):
    lines = ["node n0(x: int) returns (y: int); let y = x + 1; tel"]
    lines += [f"node n{i}(x: int) returns (y: int); let y = n{i - 1}(x) + 1; tel" for i in range(1, length)]
    main = f"node main(x: int) returns (ok: bool); let ok = n{length - 1}(x) > x; --%PROPERTY ok;\n--%MAIN\ntel\n"
    return "\n".join(lines + [main])


def variables(count):
    lines = ["spec V"] + [f"var v{i}: int" for i in range(count)]
    return "\n".join(lines + ["start { v0 == 0 }", "step s { v0 := v0 + v1 * v1 }", "always a: v0 != 123456789", ""])


def resident(pid):
    try:
        with open(f"/proc/{pid}/statm") as f:
            _, pages, shared = (int(n) for n in f.read().split()[:3])
        with open(f"/proc/{pid}/task/{pid}/children") as f:
            children = f.read().split()
    except (OSError, ValueError):
        return 0
    return (pages - shared) * os.sysconf("SC_PAGE_SIZE") + sum(resident(c) for c in children)


def measure(command, folder):
    begun = time.time()
    child = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    peak = 0
    while child.poll() is None:
        peak = max(peak, resident(child.pid))
        time.sleep(0.01)
    return time.time() - begun, peak >> 20, child.returncode


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("gander")
    parser.add_argument("--timeout", type=float, default=2)
    parser.add_argument("--memory", type=int, default=300)
    args = parser.parse_args()
    gander = os.path.abspath(args.gander)
    inputs = {
        "doubling.sts": doubling_sts(),
        "doubling.lus": doubling_lustre(),
        "chain.lus": chain(20000),
        "variables.sts": variables(100000),
    }
    commands = {
        "check": ["check", "--allow", "all"],
        "certify": ["certify"],
        "export": ["export", "--to", "sts"],
        "graph": ["graph"],
        "simulate": ["simulate", "--random", "3"],
        "explain": ["explain"],
        "impact": ["impact"],
        "fmt": ["fmt", "--check"],
    }
    print(f"{'command':10} {'input':15} {'limit':>8} {'seconds':>8} {'MB':>6} {'exit':>5}")
    with tempfile.TemporaryDirectory() as folder:
        for name, text in inputs.items():
            with open(os.path.join(folder, name), "w") as f:
                f.write(text)
        for word, command in commands.items():
            for name in inputs:
                files = [name, name] if word in ("certify", "impact") else [name]
                for limit in (["--timeout", str(args.timeout)], ["--memory", str(args.memory), "--timeout", "60"]):
                    seconds, peak, code = measure([gander, *command, *limit, *files], folder)
                    said = f"{limit[1]} {'s' if limit[0] == '--timeout' else 'MB'}"
                    print(f"{word:10} {name:15} {said:>8} {seconds:8.2f} {peak:6} {code:>5}", flush=True)


if __name__ == "__main__":
    main()

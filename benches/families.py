#!/usr/bin/env python3
"""Compositions of many instances: accounts in a ring that transfer amounts to each other, and
clients of a shared resource.

usage: python3 benches/families.py [--gander PATH] [--before PATH] [--without METHOD] [--repeats N]
                                   [--timeout S] [SIZE]...

Each model is checked with all structural checks; prints the medians of the seconds and of the peak
memory, and the number of undecided claims. The old binary of `--before` gets the same model without
shared parameters and families, as it knows neither. With `--without METHOD` the same binary also
runs without that method, for example `symmetry`.
"""
import argparse, os, statistics, subprocess, tempfile, time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

SPEC = """spec Account
var balance: int
start -> Open { balance == 100 }
node Open {
  give(amount: int) when 0 < amount and amount <= balance { balance := balance - amount }
  take(amount: int) when amount > 0 { balance := balance + amount }
  freeze -> Frozen
  close -> Closed when balance == 0
}
node Frozen { thaw -> Open }
final node Closed
always solvent: balance >= 0

"""


def ring(size):
    """The ring as a family; the transferred amount is shared."""
    return SPEC + f"""system Ring = accounts: Account[{size}]
    sync transfer(amount) forall i (accounts[i].give, accounts[(i + 1) mod {size}].take)
always total: (sum i. accounts[i].balance) == {100 * size}
always empty: forall i in accounts. accounts[i] in Closed -> accounts[i].balance == 0
"""


CLIENTS = """spec Client
var done: int 0..3
start -> Idle { done == 0 }
node Idle { ask -> Waiting when done < 3 }
node Waiting {
  acquire -> Using
  give_up -> Idle
}
node Using { release -> Idle { done := done + 1 } }
always few: in Using -> done < 3

spec Resource
var users: int
start { users == 0 }
step lock when users == 0 { users := users + 1 }
step unlock { users := users - 1 }

"""


def clients(size):
    """Clients of a resource, all of them alike."""
    return CLIENTS + f"""system Shared = resource: Resource || clients: Client[{size}]
    sync take forall i (resource.lock, clients[i].acquire)
    sync free forall i (resource.unlock, clients[i].release)
always exclusive: forall i, j in clients where i < j. not (clients[i] in Using and clients[j] in Using)
always counted: resource.users == (count i. clients[i] in Using)
"""


def plain(size):
    """The ring without families and shared parameters."""
    parts = " || ".join(f"a{i}: Account" for i in range(size))
    syncs = "\n".join(
        f"    sync t{i}(a{i}.give, a{(i + 1) % size}.take)" for i in range(size))
    empty = " and ".join(f"(a{i} in Closed -> a{i}.balance == 0)" for i in range(size))
    return SPEC + f"system Ring = {parts}\n{syncs}\nalways empty: {empty}\n"


def check(gander, text, timeout, options=()):
    """(seconds, peak MB of gander, last line of the report)."""
    with tempfile.NamedTemporaryFile("w", suffix=".sts") as model:
        model.write(text)
        model.flush()
        begin = time.perf_counter()
        child = subprocess.Popen(
            [gander, "check", "--timeout", str(timeout), *options, model.name],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        out = child.stdout.read()
        _, _, usage = os.wait4(child.pid, 0)
        seconds = time.perf_counter() - begin
    lines = [line for line in out.splitlines() if line.strip()]
    unknown = [line for line in lines if line.startswith("unknown")]
    return seconds, usage.ru_maxrss / 1024, f"{len(unknown)} undecided" if lines else "no report"


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--gander", default=os.path.join(ROOT, "target", "release", "gander"))
    parser.add_argument("--before")
    parser.add_argument("--without")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--timeout", type=float, default=30.0)
    parser.add_argument("sizes", nargs="*", type=int, default=[8, 30, 100])
    options = parser.parse_args()
    contenders = [("now", options.gander, ring, ()), ("now", options.gander, clients, ())]
    if options.without:
        without = ("--without", options.without)
        contenders += [("without", options.gander, model, without) for model in (ring, clients)]
    if options.before:
        contenders.append(("before", options.before, plain, ()))
    for size in options.sizes:
        results = {(name, model.__name__): [] for name, _, model, _ in contenders}
        for _ in range(options.repeats):
            for name, gander, model, more in contenders:
                run = check(gander, model(size), options.timeout, more)
                results[name, model.__name__].append(run)
        for (name, model), runs in results.items():
            seconds = statistics.median(r[0] for r in runs)
            memory = statistics.median(r[1] for r in runs)
            print(f"{size:4} {model:8} {name:8} {seconds:7.2f} s  {memory:6.0f} MB  {runs[0][2]}")


if __name__ == "__main__":
    main()

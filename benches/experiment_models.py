#!/usr/bin/env python3
"""Scripts of the four experiments of "Experiments in Unifying Model Checking Approaches" (its
section 7), any size.

usage: python3 benches/experiment_models.py truck CAPACITY [--any]
       python3 benches/experiment_models.py abp QUEUE [--verbatim] [--any-ack] [--int] [--any]
                                               [--steps N]
       python3 benches/experiment_models.py shared VALUE [--steps N]
       python3 benches/experiment_models.py robot SIZE [--steps N]

The graph of the truck is lost in the source. This one has the properties that the source reports:
with its first and largest stocks an endless tour exists from a capacity of 319 on, and from 318 on
if any amount may be unloaded.

The alternating bit has three variants. By default the receiver stores by its own count of packages,
and an acknowledgement is consumed when it is accepted. `--verbatim` is the protocol of the source
(its appendix G): the receiver stores by the sequence number of the sender, and an acknowledgement
stays in its channel. `--any-ack` changes the first one: the sender accepts every acknowledgement,
whatever its bit.
"""
import argparse

ROADS = {("Depot", "A"): 29, ("Depot", "B"): 21, ("A", "B"): 17, ("A", "C"): 32, ("B", "C"): 37}
FIRST = {"A": 50, "B": 40, "C": 150}
LARGEST = {"A": 120, "B": 120, "C": 200}


def limit(steps):
    return f"MAXSTEPS: {steps}\n" if steps else ""


def truck(capacity, any_amount=False):
    """A truck that feeds three cities; whoever has less than a journey takes starves. Can it go on
    for ever?"""
    lines = ["VARS:", f"  const int CAPACITY = {capacity};", "  int load : 0..CAPACITY;"]
    lines += [f"  int {c.lower()} : 0..{LARGEST[c]};" for c in FIRST]
    if any_amount:
        lines.append("  nondet int amount : 0..CAPACITY;")
    lines += ["  state Depot, A, B, C;", "INIT:", "  state = Depot;", "  load = CAPACITY;"]
    lines += [f"  {c.lower()} = {FIRST[c]};" for c in FIRST]
    lines.append("TRANS:")
    roads = dict(ROADS) | {(b, a): w for (a, b), w in ROADS.items()}
    for (a, b), far in roads.items():
        left = {c: f"{c.lower()} - {far}" for c in FIRST}
        names = ", ".join(["load"] + [c.lower() for c in FIRST])
        alive = " & ".join(f"{c.lower()} >= {far}" for c in FIRST)

        def rule(guard, load, stock):
            values = ", ".join([load] + [stock if c == b else left[c] for c in FIRST])
            lines.append(f"  ? {guard} : {a} -> {b} {{ {names} = {values} }};")

        if b == "Depot":
            rule(alive, "CAPACITY", "")
        elif any_amount:
            rule(alive, "load - amount", f"{b.lower()} - {far} + amount")
        else:
            room = f"{LARGEST[b]} - ({b.lower()} - {far})"
            rule(f"{alive} & load >= {room}", f"load - ({room})", str(LARGEST[b]))
            rule(f"{alive} & load < {room}", "0", f"{b.lower()} - {far} + load")
    return "\n".join(lines + ["INF for_ever:", ""])


def abp(queue, ints=False, any_array=False, steps=None, variant="ours"):
    """The alternating bit protocol for `queue` packages. What has arrived is what was sent.

    The variant is `ours`, `verbatim` or `any-ack`.
    """
    verbatim, any_ack = variant == "verbatim", variant == "any-ack"
    kind = "int {} : 0..1023;" if ints else "bool {};"
    zero, one = ("0", "1") if ints else ("false", "true")
    lines = [limit(steps) + "VARS:"]
    lines += [f"  bool {b};" for b in ("sender_bit", "receiver_bit", "data_full", "data_bit", "ack_full", "ack_bit")]
    lines += ["  " + kind.format(v) for v in ["data"] + [f"sent{i}" for i in range(queue)] + [f"got{i}" for i in range(queue)]]
    lines += [f"  int sending : 0..{queue};", f"  int received : 0..{queue};", "INIT:"]
    lines += [f"  {b} = false;" for b in ("sender_bit", "receiver_bit", "data_full", "ack_full")]
    lines += ["  sending = 0;", "  received = 0;"]
    if not any_array:
        lines += [f"  sent{i} = {zero};" for i in range(queue)] + [f"  got{i} = {one};" for i in range(queue)]
        lines += ["  data_bit = false;", "  ack_bit = false;", f"  data = {zero};"]
    lines += ["TRANS:", "  data_full = false;", "  ack_full = false;"]
    lines += [f"  ? sending == {i} -> data_bit, data, data_full = sender_bit, sent{i}, true;" for i in range(queue)]
    accepted = "ack_full" if any_ack else "ack_full & ack_bit == sender_bit"
    advance = ("sending, sender_bit = sending + 1, !sender_bit" if verbatim else
               "sending, sender_bit, ack_full = sending + 1, !sender_bit, false")
    lines += ["  ack_bit, ack_full = !receiver_bit, true;", f"  ? {accepted} -> {advance};"]
    place, count = ("sending", "received + 1") if verbatim else ("received", None)
    lines += [f"  ? data_full & data_bit == receiver_bit & {place} == {i} -> got{i}, receiver_bit, received = data, "
              f"!receiver_bit, {count or i + 1};" for i in range(queue)]
    same = " & ".join(f"got{i} == sent{i}" for i in range(queue))
    return "\n".join(lines + [f"SAFE same: !(sending == {queue} & received == {queue}) | ({same})", ""])


def shared(value, steps=None):
    """Two loops that double a shared variable, each through a variable of its own. Can it become
    `value`?"""
    return limit(steps) + f"""VARS:
  int c : 0..1023;
  proc P = adder;
  proc Q = adder;
INIT:
  c = 1;
PROGRAM:
  P || Q
REACH value: c == {value}

PROCESS adder:
  VARS:
    int t : 0..1023;
    state Load, Add, Store;
  INIT:
    t = 0;
    state = Load;
  TRANS:
    Load -> Add {{ t = c }};
    Add -> Store {{ t = t + c }};
    Store -> Load {{ c = t }};
"""


def robot(size, steps=None):
    """A robot without memory decides once for each cell and direction; is it back, having been
    everywhere?"""
    turns = "nesw"
    ahead = {"n": (0, 1), "e": (1, 0), "s": (0, -1), "w": (-1, 0)}
    cells = [(x, y) for y in range(size) for x in range(size)]
    choice = {(x, y, d): f"{d}{x}{y}" for x, y in cells for d in turns}
    lines = [limit(steps) + "VARS:", "  const int UNDECIDED = 0;  const int TURN = 1;  const int GO = 2;",
             "  const int N = 0;  const int E = 1;  const int S = 2;  const int W = 3;"]
    lines += [f"  int {c} : UNDECIDED..GO;" for c in choice.values()]
    lines += [f"  int x : 0..{size - 1};", f"  int y : 0..{size - 1};", "  int d : N..W;", "INIT:", "  x = 0;  y = 0;  d = N;"]
    lines += [f"  {c} = UNDECIDED;" for c in choice.values()] + ["TRANS:"]
    for (x, y, d), c in choice.items():
        here = f"x == {x} & y == {y} & d == {d.upper()}"
        dx, dy = ahead[d]
        if (x + dx, y + dy) in cells:
            moved = f"x, {c} = {x + dx}, GO" if dx else f"y, {c} = {y + dy}, GO"
            lines.append(f"  ? {here} & {c} != TURN -> {moved};")
        lines.append(f"  ? {here} & {c} != GO -> d, {c} = {turns[(turns.index(d) + 1) % 4].upper()}, TURN;")
    been = "\n  ".join("& " + " + ".join(choice[x, y, d] for d in turns) + " > 0" for x, y in cells)
    return "\n".join(lines + ["REACH cleaned:", "  x == 0 & y == 0 & d == N", "  " + been, ""])


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("experiment", choices=["truck", "abp", "shared", "robot"])
    args.add_argument("size", type=int)
    args.add_argument("--any", action="store_true", help="truck: any amount is unloaded; abp: any first array")
    args.add_argument("--verbatim", action="store_true", help="abp: the protocol of the source's appendix G")
    args.add_argument("--any-ack", action="store_true", help="abp: every acknowledgement is accepted")
    args.add_argument("--int", action="store_true", help="abp: packages are integers, not bools")
    args.add_argument("--steps", type=int, help="MAXSTEPS")
    a = args.parse_args()
    if a.verbatim and a.any_ack:
        args.error("--verbatim and --any-ack are different variants")
    variant = "verbatim" if a.verbatim else "any-ack" if a.any_ack else "ours"
    model = {"truck": lambda: truck(a.size, a.any), "abp": lambda: abp(a.size, a.int, a.any, a.steps, variant),
             "shared": lambda: shared(a.size, a.steps), "robot": lambda: robot(a.size, a.steps)}[a.experiment]
    print(model(), end="")


if __name__ == "__main__":
    main()

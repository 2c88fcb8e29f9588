#!/usr/bin/env python3
"""Writes models of the shape of a cash register protocol: 228 locations, 4 variables, 541 switches,
67 gates, or multiples of it. All answers are known.

usage: python3 benches/protocol.py [SIZE [SEED]] > model.sts

The locations are a tree of procedures with ways back. While the tree is drawn, a state is carried
along that a run reaches at each location, and every ordinary switch is enabled in the state of its
location: so it can be taken. Every switch keeps `0 <= items <= 20`, `items <= total` and
`0 <= retries <= 3`; a planted switch has a guard that contradicts one of these, alone or together
with others, and can never be taken. A gate is dead if all its switches are planted. Each claim says
in its name what is right: `reachable live_7` holds, `reachable dead_3` fails.
"""
import random, sys

LOCATIONS, SWITCHES, GATES = 228, 541, 67
DEAD_GATES = 6  # of the gates of the single size

DEAD_GUARDS = [
    "items > 20",
    "items < 0",
    "retries > 3",
    "retries < 0",
    "total < items",
    "total < 0",
    "paid and items > 0 and total < items",
    "items > 15 and total < 10",
    "retries == 4 and not paid",
]


class State:
    """The values of the variables in the state that is carried along."""

    def __init__(self, items=0, total=0, retries=0, paid=False):
        self.items, self.total, self.retries, self.paid = items, total, retries, paid

    def copy(self):
        return State(self.items, self.total, self.retries, self.paid)


def facts(rng, s):
    """Guards that hold in the state."""
    some = []
    if s.items > 0:
        some += [f"items >= {rng.randint(1, s.items)}"]
    if s.total > 0:
        some += [f"total >= {rng.randint(1, s.total)}", "total > items - 1"]
    some += [f"items <= {rng.randint(s.items, 20)}", f"total <= {s.total + rng.randint(0, 50)}"]
    some += [f"retries <= {rng.randint(s.retries, 3)}", "paid" if s.paid else "not paid"]
    return some


def moves(rng, s):
    """(parameters, guard, effect, next state) of switches that are enabled in the state, always or
    by a choice."""
    t = s.copy()
    found = [("", "", "", t), ("", "", "", t)]
    low = rng.randint(0, 50)
    found.append(("(code: int)", f"code >= {low} and code < {low + rng.randint(1, 30)}", "", t))
    if s.items < 20:
        t, price = s.copy(), rng.randint(1, 40)
        t.items, t.total = s.items + 1, s.total + price
        most = price + rng.randint(0, 40)
        guard = f"price >= 1 and price <= {most} and items < 20"
        found += [("(price: int)", guard, "items := items + 1, total := total + price", t)] * 3
    if s.items > 0 and s.total > s.items:
        t, price = s.copy(), 1
        t.items, t.total = s.items - 1, s.total - price
        guard = "price >= 1 and items > 0 and total - price >= items - 1"
        found.append(("(price: int)", guard, "items := items - 1, total := total - price", t))
    if s.total > 0 and not s.paid:
        t = s.copy()
        t.paid = True
        found.append(("(amount: int)", "amount >= total and total > 0 and not paid", "paid := true", t))
    if s.paid:
        found.append(("", "paid", "items := 0, total := 0, paid := false", State(0, 0, s.retries, False)))
    if s.retries < 3:
        t = s.copy()
        t.retries += 1
        found += [("", "retries < 3", "retries := retries + 1", t)] * 2
    if s.retries == 3:
        t = s.copy()
        t.retries = 0
        found.append(("", "retries == 3", "retries := 0", t))
    if s.retries > 0:
        t = s.copy()
        t.retries = 0
        found.append(("", "retries > 0", "retries := 0", t))
    return found


def model(size, seed):
    rng = random.Random(seed)
    locations, switches, gates = LOCATIONS * size, SWITCHES * size, GATES * size
    dead = [f"dead_{i}" for i in range(DEAD_GATES * size)]
    live = [f"live_{i}" for i in range(gates - len(dead))]
    states = [State()]
    leaving = [[] for _ in range(locations)]
    used = [set() for _ in range(locations)]
    count = 0

    def add(at, to, gate, params, guard, effect):
        nonlocal count
        used[at].add(gate)
        arrow = "" if to == at else f" -> L{to}"
        when = f" when {guard}" if guard else ""
        body = f" {{ {effect} }}" if effect else ""
        leaving[at].append(f"  {gate}{params}{arrow}{when}{body}")
        count += 1

    def fresh(at, gates):
        while True:
            gate = rng.choice(gates)
            if gate not in used[at]:
                return gate

    def ordinary(at, to, gate, sometimes):
        params, guard, effect, after = rng.choice(moves(rng, states[at]))
        if sometimes and rng.random() < 0.4:
            fact = rng.choice(facts(rng, states[at]))
            guard = f"{guard} and {fact}" if guard else fact
        add(at, to, gate, params, guard, effect)
        return after

    # Every live gate once, then at random.
    waiting = live[:]
    rng.shuffle(waiting)
    for new in range(1, locations):
        # Mostly near the newest: procedures are chains with a few branches.
        at = rng.choice([max(0, new - 1), max(0, new - 1), rng.randint(max(0, new - 12), new - 1), rng.randint(0, new - 1)])
        if len(leaving[at]) > 6:
            at = new - 1
        gate = waiting.pop() if waiting else fresh(at, live)
        states.append(ordinary(at, new, gate, sometimes=True))
    for at in range(locations):
        # A transition that is always enabled, so that no state is stuck.
        gate = waiting.pop() if waiting else fresh(at, live)
        if rng.random() < 0.5:
            add(at, rng.randint(max(0, at - 20), at), gate, "", "", "")
        elif rng.random() < 0.5:
            low = rng.randint(0, 50)
            add(at, rng.randint(max(0, at - 20), at), gate, "(code: int)", f"code > {low}", "")
        else:
            add(at, 0, gate, "", "", "items := 0, total := 0, retries := 0, paid := false")
    planted = []
    for gate in dead:
        for _ in range(rng.randint(1, 3)):
            planted.append(gate)
    while count + len(planted) < switches:
        at = rng.randrange(locations)
        if rng.random() < 0.06:
            planted.append(fresh(at, live))
            continue
        to = rng.randint(max(0, at - 30), min(locations - 1, at + 3))
        ordinary(at, to, fresh(at, live), sometimes=True)
    dead_switches = 0
    for gate in planted:
        at = rng.randrange(locations)
        while gate in used[at]:
            at = rng.randrange(locations)
        add(at, rng.randrange(locations), gate, "", rng.choice(DEAD_GUARDS), "")
        dead_switches += 1

    out = [f"// {locations} locations, {count} switches, {gates} gates; {len(dead)} gates and {dead_switches} switches are dead."]
    out += [f"// benches/protocol.py {size} {seed}", f"spec Protocol{size}", ""]
    out += ["var items: int", "var total: int", "var retries: int", "var paid: bool", ""]
    out += ["start -> L0 { items == 0, total == 0, retries == 0, paid == false }", ""]
    for at in range(locations):
        out += [f"node L{at} {{"] + leaving[at] + ["}"]
    out += [""] + [f"reachable {g}: {g}" for g in live + dead]
    return "\n".join(out) + "\n"


if __name__ == "__main__":
    if {"-h", "--help"} & set(sys.argv[1:]):
        sys.exit(print(__doc__))
    args = [int(a) for a in sys.argv[1:]]
    sys.stdout.write(model(*(args + [1, 1][len(args):])))

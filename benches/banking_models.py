#!/usr/bin/env python3
"""Writes the families of banking models, as .sts for gander or as Horn clauses for z3.

usage: python3 benches/banking_models.py limited MAX         a bank account, movements at most 50
       python3 benches/banking_models.py fibonacci NUM       the sequence from 5 on, a number it may meet
       python3 benches/banking_models.py chain M set|accumulate
       python3 benches/banking_models.py specification NAME  one of the eight, only with --horn
       ... --horn          one predicate a node, SMT-LIB HORN: unsat means that the claim fails
       ... --horn-one      one predicate with the node as an argument, as in the appendix of the
                           first source document
       ... --claim NAME    only this claim (Horn clauses have one claim each)

The models of these specifications are under examples/banking.
"""
import sys


class Spec:
    """A specification as data: what both output languages need. Formulas are nested tuples, ("op",
    a, b) ..., of names and numbers; a name with a prime at its end is the value after the step."""

    def __init__(self, name, variables, nodes, starts, transitions, claims, finals=(), enums=None):
        self.name, self.variables, self.nodes, self.finals = name, variables, nodes, finals
        self.starts, self.transitions, self.claims = starts, transitions, claims
        self.enums = enums or {}


def num(e):
    """A number in SMT-LIB."""
    if isinstance(e, str):
        return e
    return f"(- {num(-e)})" if e < 0 else str(e)


def primed(name):
    return name + "!"


class Horn:
    """Horn clauses of a specification and one claim: satisfiable if and only if the claim holds."""

    def __init__(self, spec, claim, form):
        self.spec, self.claim, self.form = spec, claim, form

    def state(self, node, names):
        args = " ".join(names)
        if self.form == "one":
            return f"(S {node} {args})"
        return f"(N{node} {args})"

    def text(self):
        s = self.spec
        sorts = {"int": "Int", "real": "Real"}
        for name, values in s.enums.items():
            sorts[name] = "Int"
        decl = " ".join(sorts[sort] for _, sort in s.variables)
        out = ["(set-logic HORN)"]
        if self.form == "one":
            out.append(f"(declare-fun S (Int {decl}) Bool)")
        else:
            out += [f"(declare-fun N{i} ({decl}) Bool)" for i in range(len(s.nodes))]
        self.values = {v: i for values in s.enums.values() for i, v in enumerate(values)}
        now = [n for n, _ in s.variables]
        bind = " ".join(f"({n} {sorts[sort]})" for n, sort in s.variables)
        after = " ".join(f"({primed(n)} {sorts[sort]})" for n, sort in s.variables)
        at = {n: i for i, n in enumerate(s.nodes)}
        for node, constraint in s.starts:
            out.append(f"(assert (forall ({bind}) (=> {self.of(constraint)} {self.state(at[node], now)})))")
        for source, target, params, guard, effect in s.transitions:
            extra = " ".join(f"({n} {sorts[sort]})" for n, sort in params)
            changes = [f"(= {primed(n)} {self.of(effect[n]) if n in effect else n})" for n in now]
            body = f"(and {self.state(at[source], now)} {self.of(guard)} {' '.join(changes)})"
            head = self.state(at[target], [primed(n) for n in now])
            out.append(f"(assert (forall ({bind} {after} {extra}) (=> {body} {head})))")
        bad = f"(not {self.of(self.claim)})"
        for i in range(len(s.nodes)):
            out.append(f"(assert (forall ({bind}) (=> (and {self.state(i, now)} {bad}) false)))")
        out.append("(check-sat)")
        return "\n".join(out) + "\n"

    def of(self, e):
        """Numbers are reals beside reals, ints beside ints; values of enumerations are numbers."""
        return self.typed(e)[0]

    def typed(self, e):
        if isinstance(e, bool):
            return ("true" if e else "false"), "bool"
        if isinstance(e, int):
            return num(e), "number"
        if isinstance(e, float):
            return str(e), "real"
        if isinstance(e, str):
            if e in self.values:
                return str(self.values[e]), "int"
            sort = dict(self.spec.variables).get(e)
            if sort is None:
                sort = next(s for t in self.spec.transitions for n, s in t[2] if n == e)
            return e, sort if sort in ("int", "real") else "int"
        parts = [self.typed(a) for a in e[1:]]
        if any(sort == "real" for _, sort in parts):
            lift = {"number": lambda t: t if t.startswith("(") else t + ".0", "int": lambda t: f"(to_real {t})"}
            parts = [(lift.get(sort, lambda t: t)(t), sort) for t, sort in parts]
        op = {"==": "=", "->": "=>", "<->": "="}.get(e[0], e[0])
        text = f"({op} {' '.join(t for t, _ in parts)})" if op != "!=" else f"(not (= {parts[0][0]} {parts[1][0]}))"
        if op in ("+", "-", "*"):
            return text, next((s for _, s in parts if s == "real"), next((s for _, s in parts if s == "int"), "number"))
        return text, "bool"


def account(name, deposit, claims, interest=False, close=True):
    enums = {"Status": ["OPEN", "FROZEN", "CLOSED"]}
    a, r = [("a", "real")], [("r", "real")]
    small = [("<=", "a", 50)] if deposit else []
    put = ("and", (">", "a", 0), *small) if small else (">", "a", 0)
    transitions = [
        ("Open", "Open", a, put, {"balance": ("+", "balance", "a")}),
        ("Open", "Open", a, ("and", (">", "a", 0), ("<=", "a", "balance"), *small), {"balance": ("-", "balance", "a")}),
        ("Open", "Frozen", [], ("==", "status", "OPEN"), {"status": "FROZEN"}),
        ("Frozen", "Open", [], ("==", "status", "FROZEN"), {"status": "OPEN"}),
    ]
    if interest:
        guard = ("and", ("<=", 0, "r"), ("<=", "r", 0.1))
        transitions.append(("Open", "Open", r, guard, {"balance": ("+", "balance", ("*", "balance", "r"))}))
    if close:
        transitions.append(("Open", "Closed", [], ("==", "balance", 0), {"status": "CLOSED"}))
    start = [("Open", ("and", ("==", "balance", 50), ("==", "status", "OPEN")))]
    nodes = ["Open", "Frozen"] + (["Closed"] if close else [])
    return Spec(name, [("balance", "real"), ("status", "Status")], nodes, start, transitions, claims, enums=enums)


def specifications():
    """The eight specifications, for the comparison: (specification, right claims, wrong claims)."""
    solvent, modest = (">=", "balance", 0), ("<", "balance", 1000)
    holder = Spec(
        "account_holder", [("archivedAt", "int")], ["Registered", "Active", "Inactive", "Archived", "Rejected"],
        [("Registered", ("==", "archivedAt", -1))],
        [("Registered", "Active", [], True, {}), ("Registered", "Rejected", [], True, {}),
         ("Active", "Inactive", [], True, {}), ("Inactive", "Archived", [], True, {"archivedAt": 100000})],
        {"archived_once": ("or", ("==", "archivedAt", -1), ("==", "archivedAt", 100000)),
         "archived_in_the_past": ("==", "archivedAt", 2)})
    paid = {"outstandingAmount": ("-", "outstandingAmount", "repayment"), "remainingTerms": ("-", "remainingTerms", 1)}
    unsettled = ("->", ("==", "outstandingAmount", 0), (">", "remainingTerms", 0))
    whole = ("==", "outstandingAmount", ("*", "repayment", "remainingTerms"))
    linear = Spec(
        "linear_loan",
        [("outstandingAmount", "real"), ("repayment", "real"), ("interestRate", "real"), ("remainingTerms", "int")],
        ["Requested", "Indexation", "Payment", "Finished", "Rejected"],
        [("Requested", ("and", (">", "outstandingAmount", 0), (">", "remainingTerms", 0), whole,
                        ("==", "interestRate", 0.05)))],
        [("Requested", "Rejected", [], True, {}), ("Requested", "Indexation", [], True, {}),
         ("Indexation", "Payment", [("r", "real")],
          ("and", (">", "remainingTerms", 0), ("<=", 0.05, "r"), ("<", "r", 1)), {"interestRate": "r"}),
         ("Indexation", "Finished", [], ("and", ("==", "remainingTerms", 0), ("==", "outstandingAmount", 0)), {}),
         ("Payment", "Indexation", [], (">", "remainingTerms", 0), paid)],
        {"not_overpaid": ("and", (">=", "outstandingAmount", 0), (">=", "remainingTerms", 0)),
         "never_settled": unsettled})
    money = Spec(
        "money_movement", [("balance1", "real"), ("balance2", "real")], ["Drafted"],
        [("Drafted", ("and", ("==", "balance1", 100), ("==", "balance2", 300)))],
        [("Drafted", "Drafted", [("a", "real")], ("and", (">", "a", 0), ("<=", "a", "balance1")),
          {"balance1": ("-", "balance1", "a"), "balance2": ("+", "balance2", "a")}),
         ("Drafted", "Drafted", [("a", "real")], ("and", (">", "a", 0), ("<=", "a", "balance2")),
          {"balance2": ("-", "balance2", "a"), "balance1": ("+", "balance1", "a")})],
        {"preserved": ("and", ("==", ("+", "balance1", "balance2"), 400), (">=", "balance1", 0), (">=", "balance2", 0)),
         "all_on_one": ("==", "balance1", 401)})
    loan = Spec(
        "non_interest_loan", [("outstandingAmount", "real"), ("repayment", "real"), ("remainingTerms", "int")],
        ["Requested", "Agreement", "Finished", "Rejected"],
        [("Requested", ("and", (">", "remainingTerms", 0), (">", "repayment", 0), whole))],
        [("Requested", "Agreement", [], True, {}), ("Requested", "Rejected", [], True, {}),
         ("Agreement", "Agreement", [], (">", "remainingTerms", 1), paid),
         ("Agreement", "Finished", [], ("==", "remainingTerms", 1), paid)],
        {"settled": ("and", ("<->", ("==", "outstandingAmount", 0), ("==", "remainingTerms", 0)),
                     (">=", "outstandingAmount", 0), (">=", "remainingTerms", 0)),
         "never_settled": unsettled})
    transfer = Spec(
        "transfer", [("balanceFrom", "real"), ("balanceTo", "real"), ("amount", "real")],
        ["Drafted", "Booked", "Failed"],
        [("Drafted", ("and", (">=", "balanceFrom", 0), (">=", "balanceTo", 0), (">", "amount", 0)))],
        [("Drafted", "Booked", [], (">=", "balanceFrom", "amount"),
          {"balanceFrom": ("-", "balanceFrom", "amount"), "balanceTo": ("+", "balanceTo", "amount")}),
         ("Drafted", "Failed", [], ("<", "balanceFrom", "amount"), {})],
        {"solvent": ("and", (">=", "balanceFrom", 0), (">=", "balanceTo", 0)), "modest": ("<", "balanceFrom", 100000)})
    plus = lambda n: {"i": ("+", "i", n)}
    triangle = Spec(
        "triangle", [("i", "int")], ["One", "Two", "Three"], [("One", ("==", "i", 1))],
        [("One", "Two", [], True, plus(1)), ("Two", "Three", [], True, plus(1)), ("Three", "One", [], True, plus(-2)),
         ("Two", "One", [], True, plus(-1)), ("Three", "Two", [], True, plus(-1)), ("One", "Three", [], True, plus(2))],
        {"bounded": ("and", ("<=", 0, "i"), ("<=", "i", 3)), "below_three": ("and", ("<=", 0, "i"), ("<=", "i", 2))})
    claims = {"solvent": solvent, "modest": modest}
    return [holder, account("bank_account", False, claims),
            account("bank_account_with_interest", False, claims, interest=True),
            linear, money, loan, transfer, triangle]


def limited(most):
    return account("limited_bank_account", True, {"below_max": ("<", "balance", most)}, close=False)


def fibonacci(number):
    return Spec("fibonacci", [("a", "int"), ("i1", "int"), ("i2", "int")], ["F"],
                [("F", ("and", ("==", "a", 5), ("==", "i1", 3), ("==", "i2", 2)))],
                [("F", "F", [], True, {"a": ("+", "a", "i1"), "i1": "a", "i2": "i1"})],
                {"not_met": ("!=", "a", number)})


def chain(m, way):
    effect = {"i": "j"} if way == "set" else {"i": ("+", "i", "j")}
    guard = ("and", ("<=", 1, "j"), ("<=", "j", 10))
    steps = [(f"N{k}", f"N{k + 1}", [("j", "int")], guard, effect) for k in range(m - 1)]
    claims = {"natural": (">=", "i", 0), "bounded": ("<=", "i", 10 * m), "below": ("<=", "i", 10000)}
    return Spec("chain", [("i", "int")], [f"N{k}" for k in range(m)], [("N0", ("==", "i", 0))], steps, claims)


def limited_sts(most):
    return f"""\
// Deposits of at most 50: the balance reaches {most} after {-(-(most - 50) // 50)} steps, and not earlier.
spec LimitedBankAccount

enum Status {{ OPEN, FROZEN, CLOSED }}
var balance: real
var status: Status

start -> Open {{ balance == 50, status == OPEN }}

node Open {{
  deposit(a: real) when a > 0 and a <= 50 {{ balance := balance + a }}
  withdraw(a: real) when a > 0 and a <= 50 and a <= balance {{ balance := balance - a }}
  freeze -> Frozen when status == OPEN {{ status := FROZEN }}
}}
node Frozen {{
  unfreeze -> Open when status == FROZEN {{ status := OPEN }}
}}

always below_max: balance < {most}
"""


def fibonacci_sts(number):
    return f"""\
spec Fibonacci

var a, i1, i2: int

start -> F {{ a == 5, i1 == 3, i2 == 2 }}

node F {{
  next {{ a := a + i1, i1 := a, i2 := i1 }}
}}

always not_met: a != {number}
"""


def chain_sts(m, way):
    effect = "i := j" if way == "set" else "i := i + j"
    lines = ["spec Chain", "", "var i: int", "", "start -> N0 { i == 0 }", ""]
    lines += [f"node N{k} {{ step{k}(j: int) -> N{k + 1} when 1 <= j and j <= 10 {{ {effect} }} }}" for k in range(m - 1)]
    lines += [f"final node N{m - 1}", "", "always natural: i >= 0", f"always bounded: i <= {10 * m}",
              "always below: i <= 10000"]
    return "\n".join(lines) + "\n"


def main(words):
    form, claim = None, None
    if "--claim" in words:
        at = words.index("--claim")
        claim = words[at + 1]
        del words[at:at + 2]
    for word, kind in [("--horn", "nodes"), ("--horn-one", "one")]:
        if word in words:
            words.remove(word)
            form = kind
    family, rest = (words[0], words[1:]) if words else ("", [])
    if family == "specification" and len(rest) == 1 and form:
        spec = next((s for s in specifications() if s.name == rest[0]), None)
        sts = None
    elif family == "limited" and len(rest) == 1:
        spec, sts = limited(int(rest[0])), lambda: limited_sts(int(rest[0]))
    elif family == "fibonacci" and len(rest) == 1:
        spec, sts = fibonacci(int(rest[0])), lambda: fibonacci_sts(int(rest[0]))
    elif family == "chain" and len(rest) == 2 and rest[1] in ("set", "accumulate"):
        spec, sts = chain(int(rest[0]), rest[1]), lambda: chain_sts(int(rest[0]), rest[1])
    else:
        sys.exit(__doc__)
    if spec is None:
        sys.exit("the specifications are " + ", ".join(s.name for s in specifications()))
    if form is None:
        print(sts(), end="")
    else:
        name = claim or next(iter(spec.claims))
        print(Horn(spec, spec.claims[name], form).text(), end="")


if __name__ == "__main__":
    if {"-h", "--help"} & set(sys.argv[1:]):
        sys.exit(print(__doc__))
    main(sys.argv[1:])

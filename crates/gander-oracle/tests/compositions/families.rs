//! Families, indexed synchronisations and reads in a circle: texts whose states are enumerated by
//! hand-written rules.

use std::collections::{BTreeMap, BTreeSet};

use gander_oracle::{Limits, Reachable, decide};
use gander_system::System;
use gander_term::Value;

/// Values of the columns.
type Row = Vec<i64>;
type Graph = BTreeMap<Row, (u64, BTreeSet<Row>)>;

/// The reachable rows with their distance and successors.
fn enumerate(start: &[i64], next: impl Fn(&[i64]) -> Vec<Row>) -> Graph {
    let mut graph = Graph::new();
    let mut layer = BTreeSet::from([start.to_vec()]);
    let mut distance = 0;
    while !layer.is_empty() {
        let mut after = BTreeSet::new();
        for row in layer {
            let successors: BTreeSet<Row> = next(&row).into_iter().collect();
            after.extend(successors.iter().cloned());
            graph.insert(row, (distance, successors));
        }
        layer = after.into_iter().filter(|row| !graph.contains_key(row)).collect();
        distance += 1;
    }
    graph
}

fn load(text: &str) -> System {
    let loaded = gander_lang::sts::load(text, "families.sts");
    loaded.system.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics))
}

/// The graph of a system; a column is a variable, or an instance for the number of its node.
fn graph_of(system: &System, columns: &[&str]) -> Graph {
    let reachable = Reachable::explore(system, system.pool(), Limits::default()).unwrap();
    assert_eq!(system.vars().len(), columns.len());
    let column = |name: &&str| system.vars().iter().position(|v| v.name == **name).unwrap();
    let order: Vec<usize> = columns.iter().map(column).collect();
    let row = |s: usize| -> Row {
        let values = &reachable.states[s].1;
        let number = |&at: &usize| match &values[at] {
            Value::Int(i) => i64::try_from(i).unwrap(),
            Value::Enum(_, n) => i64::from(*n),
            other => panic!("{other:?}"),
        };
        order.iter().map(number).collect()
    };
    let after = |s: usize| reachable.steps(s).map(|(_, n)| row(n)).collect();
    (0..reachable.states.len()).map(|s| (row(s), (reachable.distance[s], after(s)))).collect()
}

/// The answer to a claim.
fn answer(system: &System, name: &str) -> bool {
    let at = system.claims().iter().position(|c| c.name == name).unwrap();
    decide(system, Limits::default()).unwrap()[at].clone().unwrap().holds
}

#[test]
fn indexed_synchronisations_with_a_receiver_agree_with_the_interpreter() {
    let system = load(
        "spec Station(id: int)
var v: int
start -> Idle { v == id }
node Idle {
  a(x: int 0..2) when x == v { v := 0 }
  b(x: int 0..3) when v == 0 or x > v { v := x }
  off -> Off when v == 0
}
final node Off

spec Counter
var n: int
start { n == 0 }
step c(x: int 1..2) when n < 3 { n := n + x }

system Ring = f: Station[i: 3](i) || g: Counter
  sync s(x) forall i (f[i].a, f[(i + 1) mod 3].b) to (g.c) when g.n + x < 4

always total: (sum i in f. f[i].v) <= 2
always kept: (sum i in f. f[i].v) >= 1
reachable two_off: (count i in f. f[i] in Off) == 2
reachable three_off: (count i in f. f[i] in Off) == 3
always differ: forall i, j in f where i != j. f[i].v != f[j].v or f[i].v == 0
reachable four: g.n == 4
reachable loud: s with x == 2 then s with x == 2
no deadlock
",
    );
    // v of each station, whether it is off, n.
    let columns = ["f[0].v", "f[1].v", "f[2].v", "f[0]", "f[1]", "f[2]", "g.n"];
    let graph = enumerate(&[0, 1, 2, 0, 0, 0, 0], |row| {
        let mut next = Vec::new();
        for i in 0..3 {
            let j = (i + 1) % 3;
            if row[3 + i] == 1 {
                continue;
            }
            if row[i] == 0 {
                let mut after = row.to_vec();
                after[3 + i] = 1;
                next.push(after);
            }
            let (x, n) = (row[i], row[6]);
            if row[3 + j] == 0 && (row[j] == 0 || x > row[j]) && n + x < 4 {
                let mut after = row.to_vec();
                (after[i], after[j]) = (0, x);
                after[6] += if x >= 1 && n < 3 { x } else { 0 };
                next.push(after);
            }
        }
        next
    });
    assert_eq!(graph_of(&system, &columns), graph);
    let total = |row: &Row| row[..3].iter().sum::<i64>();
    let off = |row: &Row| row[3..6].iter().sum::<i64>();
    assert_eq!(answer(&system, "total"), graph.keys().all(|r| total(r) <= 2));
    assert_eq!(answer(&system, "kept"), graph.keys().all(|r| total(r) >= 1));
    assert_eq!(answer(&system, "two_off"), graph.keys().any(|r| off(r) == 2));
    assert_eq!(answer(&system, "three_off"), graph.keys().any(|r| off(r) == 3));
    let differ = |r: &Row| (0..3).all(|i| r[i] != r[(i + 1) % 3] || r[i] == 0);
    assert_eq!(answer(&system, "differ"), graph.keys().all(differ));
    assert_eq!(answer(&system, "four"), graph.keys().any(|r| r[6] == 4));
    // The counter is never final, so a run may end nowhere.
    assert_eq!(answer(&system, "no deadlock"), graph.values().all(|(_, next)| !next.is_empty()));
}

#[test]
fn compositions_of_instances_that_read_each_other_agree_with_the_interpreter() {
    let system = load(
        "spec Cell(next: Cell, id: int)
var v: int
start -> A { v == id }
node A { copy -> B when next in A or next.v > v { v := (next.v + id) mod 3 } }
node B { back(k: int 0..1) -> A when next.v != v { v := k } }

system Circle = cells: Cell[i: 3](cells[(i + 1) mod 3], i)
  sync both forall i, j in cells where (i < j) (cells[i].copy, cells[j].back)

reachable high: (sum i in cells. cells[i].v) == 5
always some: exists i in cells. cells[i] in A
always one: (count i in cells. (cells[i] in B and cells[i].v < 2)) <= 1
infinite run
",
    );
    let columns = ["cells[0].v", "cells[1].v", "cells[2].v", "cells[0]", "cells[1]", "cells[2]"];
    let graph = enumerate(&[0, 1, 2, 0, 0, 0], |row| {
        let (v, node) = (&row[..3], &row[3..]);
        let copy = |i: usize| {
            let n = (i + 1) % 3;
            let can = node[i] == 0 && (node[n] == 0 || v[n] > v[i]);
            can.then_some((v[n] + i as i64) % 3)
        };
        let can_go_back = |i: usize| node[i] == 1 && v[(i + 1) % 3] != v[i];
        let set = |changes: &[(usize, i64, i64)]| {
            let mut after = row.to_vec();
            for &(i, v, node) in changes {
                (after[i], after[3 + i]) = (v, node);
            }
            after
        };
        let mut next = Vec::new();
        // The last cell is never the one that copies in the synchronisation, nor the first the one
        // that goes back: they do so alone.
        next.extend(copy(2).map(|v| set(&[(2, v, 1)])));
        if can_go_back(0) {
            next.extend([0, 1].map(|k| set(&[(0, k, 0)])));
        }
        for (i, j) in [(0, 1), (0, 2), (1, 2)] {
            if let (Some(copied), true) = (copy(i), can_go_back(j)) {
                next.extend([0, 1].map(|k| set(&[(i, copied, 1), (j, k, 0)])));
            }
        }
        next
    });
    assert_eq!(graph_of(&system, &columns), graph);
    let high = |r: &Row| r[..3].iter().sum::<i64>() == 5;
    assert_eq!(answer(&system, "high"), graph.keys().any(high));
    assert_eq!(answer(&system, "some"), graph.keys().all(|r| r[3..].contains(&0)));
    let low = |r: &Row| (0..3).filter(|&i| r[3 + i] == 1 && r[i] < 2).count();
    assert_eq!(answer(&system, "one"), graph.keys().all(|r| low(r) <= 1));
}

#[test]
fn a_gate_with_all_other_instances_as_receivers_agrees_with_the_interpreter() {
    let system = load(
        "spec P(deaf: int)
var h: int
start -> W { h == 0 }
node W {
  call(k: int 1..2) -> D when h < 2
  one: hear(k: int 1..1) when h == 0 and deaf == 0 { h := k }
  two: hear(z: int 0..1, k: int 1..2) when h <= 1 and deaf < k { h := h + z }
}
node D { again -> W when h > 0 { h := 0 } }

system Room = p: P[i: 3](i div 2)
  sync shout(k) forall i (p[i].call) to (p.hear)

always quiet: p[2] in W -> p[2].h <= 1
reachable all: forall i in p. p[i] in D
reachable twice: (count i in p. (p[i].h == 2)) == 2
always counted: (count i in p. (p[i].h >= 1)) + (count i in p. (p[i].h == 0)) == 3
",
    );
    let columns = ["p[0].h", "p[1].h", "p[2].h", "p[0]", "p[1]", "p[2]"];
    let graph = enumerate(&[0; 6], |row| {
        let mut next = Vec::new();
        for i in 0..3 {
            if row[3 + i] == 1 {
                if row[i] > 0 {
                    let mut after = row.to_vec();
                    (after[i], after[3 + i]) = (0, 0);
                    next.push(after);
                }
                continue;
            }
            if row[i] >= 2 {
                continue;
            }
            for k in 1..=2 {
                let mut called = row.to_vec();
                called[3 + i] = 1;
                let mut rows = vec![called];
                for j in (0..3).filter(|&j| j != i && row[3 + j] == 0) {
                    let deaf = j as i64 / 2;
                    let mut heard = BTreeSet::new();
                    if k == 1 && row[j] == 0 && deaf == 0 {
                        heard.insert(1);
                    }
                    if row[j] <= 1 && deaf < k {
                        heard.extend([row[j], row[j] + 1]);
                    }
                    if heard.is_empty() {
                        continue;
                    }
                    let with = |row: &Row, h: i64| {
                        let mut after = row.clone();
                        after[j] = h;
                        after
                    };
                    rows = rows.iter().flat_map(|r| heard.iter().map(|&h| with(r, h))).collect();
                }
                next.extend(rows);
            }
        }
        next
    });
    assert_eq!(graph_of(&system, &columns), graph);
    assert_eq!(answer(&system, "quiet"), graph.keys().all(|r| r[5] == 1 || r[2] <= 1));
    assert_eq!(answer(&system, "all"), graph.keys().any(|r| r[3..] == [1, 1, 1]));
    let twice = |r: &Row| r[..3].iter().filter(|h| **h == 2).count() == 2;
    assert_eq!(answer(&system, "twice"), graph.keys().any(twice));
    assert!(answer(&system, "counted"));
}

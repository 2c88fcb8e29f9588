//! BTOR2: random models, their text, and their meaning by the paper (Niemetz, Preiner, Wolf, Biere:
//! *Btor2, BtorMC and Boolector 3.0*, CAV 2018).
//!
//! An instant assigns values to states and inputs. A run is a sequence of instants that all satisfy
//! every `constraint`; at the first one each state with `init` has that value, and later each state
//! with `next` has the value of that expression at the previous instant. Everything else is
//! arbitrary at every instant. `bad` is reachable if some instant of a run satisfies it. `justice`
//! asks for an infinite run with each of its conditions, and each `fair` condition, infinitely
//! often.

mod read;

use std::collections::HashMap;
use std::fmt::Write as _;

use crate::languages::expression::{Expr, Op, Sort};
use crate::languages::graph::{Graph, RunFairness};
use crate::languages::random_expression::Grammar;
use crate::languages::{Expected, LIMIT, Model};
use crate::random::Random;

#[derive(Clone, Debug)]
struct State {
    sort: Sort,
    is_input: bool,
    init: Option<Expr>,
    next: Option<Expr>,
}

#[derive(Clone, Debug)]
enum Property {
    Bad(Expr),
    Justice(Vec<Expr>),
}

#[derive(Clone, Debug)]
struct Btor2 {
    states: Vec<State>,
    constraints: Vec<Expr>,
    fair: Vec<Expr>,
    properties: Vec<Property>,
}

const BIT: Sort = Sort::Bits { width: 1, signed: false };

fn grammar(states: &[State], with_inputs: bool) -> Grammar {
    let leaves: Vec<Expr> = states
        .iter()
        .enumerate()
        .filter(|(_, s)| with_inputs || !s.is_input)
        .map(|(i, s)| Expr::Var(s.sort, i))
        .collect();
    let mut widths = vec![1, 2];
    widths.extend(
        leaves.iter().map(|l| l.sort()).filter(|s| matches!(s, Sort::Bits { .. })).map(Sort::width),
    );
    Grammar {
        leaves,
        logic: vec![
            Op::BvAnd,
            Op::BvOr,
            Op::BvXor,
            Op::BvNand,
            Op::BvNor,
            Op::BvXnor,
            Op::Implies,
            Op::Iff,
        ],
        order: Vec::new(),
        bits: vec![
            Op::BvAnd,
            Op::BvOr,
            Op::BvXor,
            Op::BvNand,
            Op::BvNor,
            Op::BvXnor,
            Op::BvAdd,
            Op::BvSub,
            Op::BvMul,
            Op::BvUdiv,
            Op::BvUrem,
            Op::BvSdiv,
            Op::BvSrem,
            Op::BvSmod,
            Op::BvShl,
            Op::BvLshr,
            Op::BvAshr,
            Op::BvRol,
            Op::BvRor,
        ],
        bits_one: vec![Op::BvNot, Op::BvNeg, Op::BvInc, Op::BvDec],
        bits_order: vec![
            Op::Ult,
            Op::Ule,
            Op::Ugt,
            Op::Uge,
            Op::Slt,
            Op::Sle,
            Op::Sgt,
            Op::Sge,
            Op::Uaddo,
            Op::Saddo,
            Op::Usubo,
            Op::Ssubo,
            Op::Umulo,
            Op::Smulo,
            Op::Sdivo,
        ],
        reductions: vec![Op::BvRedand, Op::BvRedor, Op::BvRedxor],
        slices: true,
        truth: BIT,
        widths,
        ..Grammar::default()
    }
}

fn generate(random: &mut Random) -> Btor2 {
    let mut states: Vec<State> = Vec::new();
    let mut room = 6;
    for _ in 0..random.between(1, 4) {
        let is_input = room <= 3 && random.chance(50) || random.chance(15);
        let sort = match random.below(10) {
            0 if room >= 2 && !is_input => Sort::Array {
                index: 1,
                element: if room >= 4 { random.between(1, 2) as u32 } else { 1 },
            },
            1..=4 => BIT,
            _ => Sort::bits(random.between(1, 3) as u32),
        };
        if sort.width() > room {
            continue;
        }
        room -= sort.width();
        // Initial values depend on earlier states only.
        let init = (!is_input && random.chance(70)).then(|| {
            let earlier = if random.chance(70) { Vec::new() } else { states.clone() };
            match sort {
                Sort::Array { .. } => Expr::Const(sort, 0),
                _ => grammar(&earlier, false).make(random, sort, 1),
            }
        });
        let init = match (init, sort) {
            // The same element everywhere.
            (Some(_), Sort::Array { index, element }) => {
                let value = random.below(1 << element) as i64;
                Some(Expr::Const(sort, (0..1 << index).fold(0, |all, _| all << element | value)))
            }
            (init, _) => init,
        };
        states.push(State { sort, is_input, init, next: None });
    }
    let grammar = grammar(&states, true);
    for s in &mut states {
        if !s.is_input && random.chance(85) {
            let depth = random.between(1, 3) as usize;
            s.next = Some(grammar.make(random, s.sort, depth));
        }
    }
    let formulas = |random: &mut Random, most: usize, depth| -> Vec<Expr> {
        (0..random.below(most + 1)).map(|_| grammar.make(random, BIT, depth)).collect()
    };
    let constraints = if random.chance(30) { formulas(random, 2, 2) } else { Vec::new() };
    let fair = if random.chance(20) { formulas(random, 2, 2) } else { Vec::new() };
    let mut properties = Vec::new();
    for _ in 0..random.between(1, 3) {
        if random.chance(75) {
            properties.push(Property::Bad(grammar.make(random, BIT, 3)));
        } else {
            let count = 1 + random.below(2);
            properties.push(Property::Justice(
                (0..count).map(|_| grammar.make(random, BIT, 2)).collect(),
            ));
        }
    }
    Btor2 { states, constraints, fair, properties }
}

fn decide(model: &Btor2) -> Option<Vec<Expected>> {
    let mut all: Vec<Vec<i64>> = vec![Vec::new()];
    for s in &model.states {
        let count = s.sort.count()?;
        all = all
            .into_iter()
            .flat_map(|v| {
                (0..count).map(move |x| v.iter().copied().chain([x]).collect::<Vec<i64>>())
            })
            .collect();
    }
    all.retain(|v| model.constraints.iter().all(|c| c.holds(v, v)));
    let is_first = |v: &&Vec<i64>| {
        model
            .states
            .iter()
            .enumerate()
            .all(|(i, s)| s.init.as_ref().is_none_or(|e| e.value(v, v) == v[i]))
    };
    let initial: Vec<Vec<i64>> = all.iter().filter(is_first).cloned().collect();
    let successors = |v: &Vec<i64>| {
        let wanted: Vec<Option<i64>> =
            model.states.iter().map(|s| s.next.as_ref().map(|e| e.value(v, v))).collect();
        let fits = |n: &&Vec<i64>| n.iter().zip(&wanted).all(|(x, w)| w.is_none_or(|w| w == *x));
        all.iter().filter(fits).map(|n| (0, n.clone())).collect()
    };
    let (graph, states) = Graph::explore(initial, successors, LIMIT)?;
    let set = |e: &Expr| states.iter().map(|v| e.holds(v, v)).collect::<Vec<bool>>();
    let answers = model.properties.iter().map(|p| match p {
        _ if graph.initial == 0 => Expected::NoRun,
        Property::Bad(p) => Expected::of(!set(p).contains(&true)),
        Property::Justice(conditions) => {
            let fairness: Vec<RunFairness> = conditions
                .iter()
                .chain(&model.fair)
                .map(|e| RunFairness::Justice(set(e)))
                .collect();
            Expected::of(!graph.some_initial(&graph.stays(
                &vec![true; graph.len()],
                false,
                &fairness,
            )))
        }
    });
    Some(answers.collect())
}

/// Writes lines; an expression may be written once or several times.
struct Writer<'a> {
    random: &'a mut Random,
    out: String,
    last: i64,
    sorts: HashMap<Sort, i64>,
    known: HashMap<Expr, i64>,
    states: HashMap<usize, i64>,
}

impl Writer<'_> {
    fn id(&mut self) -> i64 {
        self.last += 1 + i64::from(self.random.chance(5));
        self.last
    }

    fn line(&mut self, text: String) -> i64 {
        if self.random.chance(3) {
            self.out.push_str("; a comment\n");
        }
        let id = self.id();
        let _ = writeln!(self.out, "{id} {text}");
        id
    }

    fn sort(&mut self, sort: Sort) -> i64 {
        if let Some(id) = self.sorts.get(&sort)
            && !self.random.chance(2)
        {
            return *id;
        }
        let id = match sort {
            Sort::Array { index, element } => {
                let (index, element) =
                    (self.sort(Sort::bits(index)), self.sort(Sort::bits(element)));
                self.line(format!("sort array {index} {element}"))
            }
            _ => self.line(format!("sort bitvec {}", sort.width())),
        };
        self.sorts.insert(sort, id);
        id
    }

    fn constant(&mut self, sort: Sort, value: i64) -> i64 {
        let s = self.sort(sort);
        let width = sort.width() as usize;
        let most = (1 << width) - 1;
        let text = match self.random.below(6) {
            0 if value == 0 => format!("zero {s}"),
            0 | 1 if value == 1 => format!("one {s}"),
            0 | 1 if value == most => format!("ones {s}"),
            2 => format!("constd {s} {value}"),
            3 => format!("consth {s} {value:x}"),
            4 if value > most / 2 => format!("constd {s} {}", value - most - 1),
            _ => format!("const {s} {value:0width$b}"),
        };
        self.line(text)
    }

    fn expression(&mut self, e: &Expr) -> i64 {
        if let Some(id) = self.known.get(e)
            && self.random.chance(80)
        {
            return *id;
        }
        let id = match e {
            Expr::Const(sort, value) => self.constant(*sort, *value),
            Expr::Var(_, i) | Expr::Next(_, i) => self.states[i],
            Expr::Op(_, Op::BvNot, args) if self.random.chance(50) => -self.expression(&args[0]),
            Expr::Op(sort, op, args) => {
                let ids: Vec<String> =
                    args.iter().map(|a| self.expression(a).to_string()).collect();
                let s = self.sort(*sort);
                let more = match op {
                    Op::Extract(high, low) => format!(" {high} {low}"),
                    Op::ZeroExtend(n) | Op::SignExtend(n) => format!(" {n}"),
                    _ => String::new(),
                };
                self.line(format!("{} {s} {}{more}", word(*op), ids.join(" ")))
            }
        };
        self.known.insert(e.clone(), id);
        id
    }
}

/// The tag of an operator.
fn word(op: Op) -> &'static str {
    match op {
        Op::Implies => "implies",
        Op::Iff => "iff",
        Op::Ite => "ite",
        Op::Eq => "eq",
        Op::Neq => "neq",
        Op::BvNot => "not",
        Op::BvNeg => "neg",
        Op::BvInc => "inc",
        Op::BvDec => "dec",
        Op::BvAnd => "and",
        Op::BvOr => "or",
        Op::BvXor => "xor",
        Op::BvNand => "nand",
        Op::BvNor => "nor",
        Op::BvXnor => "xnor",
        Op::BvAdd => "add",
        Op::BvSub => "sub",
        Op::BvMul => "mul",
        Op::BvUdiv => "udiv",
        Op::BvUrem => "urem",
        Op::BvSdiv => "sdiv",
        Op::BvSrem => "srem",
        Op::BvSmod => "smod",
        Op::BvShl => "sll",
        Op::BvLshr => "srl",
        Op::BvAshr => "sra",
        Op::BvRol => "rol",
        Op::BvRor => "ror",
        Op::BvRedand => "redand",
        Op::BvRedor => "redor",
        Op::BvRedxor => "redxor",
        Op::Ult => "ult",
        Op::Ule => "ulte",
        Op::Ugt => "ugt",
        Op::Uge => "ugte",
        Op::Slt => "slt",
        Op::Sle => "slte",
        Op::Sgt => "sgt",
        Op::Sge => "sgte",
        Op::Uaddo => "uaddo",
        Op::Saddo => "saddo",
        Op::Usubo => "usubo",
        Op::Ssubo => "ssubo",
        Op::Umulo => "umulo",
        Op::Smulo => "smulo",
        Op::Sdivo => "sdivo",
        Op::Concat => "concat",
        Op::Extract(..) => "slice",
        Op::ZeroExtend(_) => "uext",
        Op::SignExtend(_) => "sext",
        Op::Read => "read",
        Op::Write => "write",
        // Not generated for this language.
        _ => "invalid",
    }
}

fn text(model: &Btor2, random: &mut Random) -> String {
    let mut w = Writer {
        random,
        out: String::new(),
        last: 0,
        sorts: HashMap::new(),
        known: HashMap::new(),
        states: HashMap::new(),
    };
    for (i, s) in model.states.iter().enumerate() {
        // The value must have a smaller id than its state.
        let init = s.init.as_ref().map(|e| match (s.sort, e) {
            (Sort::Array { element, .. }, Expr::Const(_, all)) => {
                w.constant(Sort::bits(element), all & ((1 << element) - 1))
            }
            _ => w.expression(e),
        });
        let sort = w.sort(s.sort);
        let name = if w.random.chance(50) { format!(" s{i}") } else { String::new() };
        let id = w.line(format!("{} {sort}{name}", if s.is_input { "input" } else { "state" }));
        w.states.insert(i, id);
        if let Some(init) = init {
            w.line(format!("init {sort} {id} {init}"));
        }
    }
    for (i, s) in model.states.iter().enumerate() {
        if let Some(e) = &s.next {
            let (value, sort, id) = (w.expression(e), w.sort(s.sort), w.states[&i]);
            w.line(format!("next {sort} {id} {value}"));
        }
    }
    for (word, formulas) in [("constraint", &model.constraints), ("fair", &model.fair)] {
        for e in formulas {
            let id = w.expression(e);
            w.line(format!("{word} {id}"));
        }
    }
    for (i, p) in model.properties.iter().enumerate() {
        match p {
            Property::Bad(e) => {
                let id = w.expression(e);
                w.line(format!("bad {id} p{i}"));
            }
            Property::Justice(conditions) => {
                let ids: Vec<String> =
                    conditions.iter().map(|e| w.expression(e).to_string()).collect();
                w.line(format!("justice {} {} p{i}", ids.len(), ids.join(" ")));
            }
        }
    }
    w.out
}

/// The model of a seed.
pub(super) fn model(random: &mut Random) -> Option<Model> {
    let model = generate(random);
    let claims = decide(&model)?;
    let text = text(&model, random);
    Some(Model {
        text,
        claims: claims.into_iter().enumerate().map(|(i, e)| (format!("p{i}"), e)).collect(),
    })
}

/// Reads a text strictly: an error, or the answers to its claims if they can be enumerated.
pub(super) fn read(text: &str) -> Result<Vec<(String, Expected)>, String> {
    let read = read::read(text)?;
    let answers = read.model.as_ref().and_then(decide);
    let unique = read.names.iter().all(|n| read.names.iter().filter(|m| *m == n).count() == 1);
    Ok(match answers {
        Some(answers) if unique => read.names.into_iter().zip(answers).collect(),
        _ => read.names.into_iter().map(|n| (n, Expected::Unspecified)).collect(),
    })
}

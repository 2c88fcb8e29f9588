//! Random terms with every operator: real solvers and the evaluator agree on their values.
//!
//! The number of rounds is fixed, unless `GANDER_FUZZ_SECONDS` sets a time; `GANDER_FUZZ_SEED` sets
//! the seed.

mod support;

use std::time::{Duration, Instant};

use gander_runtime::Random;
use gander_smt::{Answer, Limits, Session, SessionConfig, SolverKind, StepSymbol};
use gander_term::{
    ArrayValue, BvOp, EnumId, Features, IBig, Op, Pool, RBig, Sort, SymbolId, TermId, Value, Width,
    evaluate,
};

const LIMIT: Limits = Limits { time: Some(Duration::from_secs(10)) };

/// Terms in one query.
const TERMS: usize = 12;

const BINARY: [BvOp; 14] = [
    BvOp::Add,
    BvOp::Sub,
    BvOp::Mul,
    BvOp::Udiv,
    BvOp::Urem,
    BvOp::Sdiv,
    BvOp::Srem,
    BvOp::Smod,
    BvOp::And,
    BvOp::Or,
    BvOp::Xor,
    BvOp::Shl,
    BvOp::Lshr,
    BvOp::Ashr,
];

const COMPARISONS: [BvOp; 8] =
    [BvOp::Ult, BvOp::Ule, BvOp::Ugt, BvOp::Uge, BvOp::Slt, BvOp::Sle, BvOp::Sgt, BvOp::Sge];

/// Which operators may be used.
#[derive(Clone, Copy, PartialEq)]
enum Logic {
    Linear,
    Full,
    /// All of these, and arrays.
    Arrays,
}

struct Generator {
    pool: Pool,
    random: Random,
    logic: Logic,
    colours: EnumId,
    /// Variables with their fixed values.
    variables: Vec<(SymbolId, TermId, Value)>,
}

impl Generator {
    fn new(seed: u64, logic: Logic) -> Generator {
        let mut pool = Pool::new();
        let colours = pool.declare_enum("Colour", &["red", "green", "blue"]).unwrap();
        let mut g =
            Generator { pool, random: Random::new(seed), logic, colours, variables: Vec::new() };
        for sort in g.sorts() {
            for i in 0..3 {
                let value = g.value(sort);
                let name = format!("{} {i}", sort.name(&g.pool));
                let symbol = g.pool.declare(&name, sort).unwrap();
                let term = g.pool.var(symbol);
                g.variables.push((symbol, term, value));
            }
        }
        g
    }

    fn sorts(&self) -> Vec<Sort> {
        let mut sorts = vec![
            Sort::Bool,
            Sort::Int,
            Sort::Real,
            Sort::Enum(self.colours),
            Sort::BitVec(Width::W8),
        ];
        if self.logic != Logic::Linear {
            sorts.push(Sort::String);
        }
        if self.logic == Logic::Arrays {
            let ints = self.pool.array_sort(Sort::Int, Sort::Int).unwrap();
            let colours = self.pool.array_sort(Sort::Enum(self.colours), Sort::Int).unwrap();
            let bits =
                self.pool.array_sort(Sort::BitVec(Width::W1), Sort::BitVec(Width::W8)).unwrap();
            let rows = self.pool.array_sort(Sort::Bool, ints).unwrap();
            sorts.extend([Sort::BitVec(Width::W1), ints, colours, bits, rows]);
        }
        sorts
    }

    fn any_sort(&mut self) -> Sort {
        let sorts = self.sorts();
        sorts[self.random.below(sorts.len())]
    }

    fn value(&mut self, sort: Sort) -> Value {
        let small = |random: &mut Random| IBig::from(random.between(-4, 4));
        match sort {
            Sort::Bool => Value::Bool(self.random.below(2) == 0),
            Sort::Int => Value::Int(small(&mut self.random)),
            Sort::Real => {
                let denominator = IBig::from(self.random.below(4) as i64 + 1);
                Value::Real(RBig::from(small(&mut self.random)) / RBig::from(denominator))
            }
            Sort::String => {
                Value::str(["", "a", "\"", "\\u{41}", "\u{1f600}b"][self.random.below(5)])
            }
            Sort::Enum(id) => Value::Enum(id, self.random.below(3) as u32),
            Sort::BitVec(width) => {
                Value::bits(width, self.random.below(1 << 12) as u64 >> self.random.below(12))
            }
            Sort::Array(array) => {
                let default = self.value(array.element());
                let count = self.random.below(4);
                let elements = (0..count)
                    .map(|_| (self.value(array.index()), self.value(array.element())))
                    .collect();
                Value::array(ArrayValue::new(array, default, elements).unwrap())
            }
        }
    }

    fn leaf(&mut self, sort: Sort) -> TermId {
        let known: Vec<TermId> =
            self.variables.iter().filter(|v| v.2.sort() == sort).map(|v| v.1).collect();
        if self.random.below(3) == 0 {
            let value = self.value(sort);
            self.pool.constant(value)
        } else {
            known[self.random.below(known.len())]
        }
    }

    /// A constant number, which keeps products and quotients linear.
    fn constant(&mut self, sort: Sort) -> TermId {
        let value = self.value(sort);
        self.pool.constant(value)
    }

    /// A random term; depth is at most 5, so recursion is fine.
    fn term(&mut self, sort: Sort, depth: u32) -> TermId {
        if depth == 0 {
            return self.leaf(sort);
        }
        let d = depth - 1;
        let of_it = |s: &Sort| matches!(s, Sort::Array(a) if a.element() == sort);
        let arrays: Vec<Sort> = self.sorts().into_iter().filter(of_it).collect();
        let (op, args) = match sort {
            _ if !arrays.is_empty() && self.random.below(4) == 0 => {
                let whole = arrays[self.random.below(arrays.len())];
                let Sort::Array(array) = whole else { unreachable!() };
                (Op::Select, vec![self.term(whole, d), self.term(array.index(), d)])
            }
            Sort::Array(array) => match self.random.below(6) {
                0 => self.choice(sort, d),
                1 => (Op::ConstArray(array), vec![self.term(array.element(), d)]),
                _ => {
                    let a = self.term(sort, d);
                    (Op::Store, vec![a, self.term(array.index(), d), self.term(array.element(), d)])
                }
            },
            Sort::BitVec(_) => match self.random.below(4) {
                0 => self.choice(sort, d),
                1 => {
                    (Op::Bv([BvOp::Neg, BvOp::Not][self.random.below(2)]), vec![self.term(sort, d)])
                }
                _ => (Op::Bv(BINARY[self.random.below(BINARY.len())]), self.terms(sort, d, 2)),
            },
            Sort::Bool if self.random.below(8) == 0 => {
                let op = COMPARISONS[self.random.below(COMPARISONS.len())];
                (Op::Bv(op), self.terms(Sort::BitVec(Width::W8), d, 2))
            }
            Sort::Bool => match self.random.below(10) {
                0 => (Op::Not, vec![self.term(Sort::Bool, d)]),
                1 => (Op::And, self.terms(Sort::Bool, d, 3)),
                2 => (Op::Or, self.terms(Sort::Bool, d, 2)),
                3 => (Op::Implies, self.terms(Sort::Bool, d, 2)),
                4 | 5 => {
                    let sort = self.any_sort();
                    (Op::Eq, self.terms(sort, d, 2))
                }
                n => {
                    let sort = if self.random.below(2) == 0 { Sort::Int } else { Sort::Real };
                    ([Op::Lt, Op::Le, Op::Gt, Op::Ge][n - 6], self.terms(sort, d, 2))
                }
            },
            Sort::Int | Sort::Real => match self.random.below(12) {
                0 => (Op::Neg, vec![self.term(sort, d)]),
                1 => (Op::Abs, vec![self.term(sort, d)]),
                2 => (Op::Add, self.terms(sort, d, 2)),
                3 => (Op::Sub, self.terms(sort, d, 2)),
                4 => (Op::Min, self.terms(sort, d, 3)),
                5 => (Op::Max, self.terms(sort, d, 2)),
                6 => {
                    let last = self.second(sort, d);
                    (Op::Mul, vec![self.term(sort, d), last])
                }
                7 if sort == Sort::Int => (Op::ToInt, vec![self.term(Sort::Real, d)]),
                7 => (Op::ToReal, vec![self.term(Sort::Int, d)]),
                8 | 9 => {
                    let op = match (sort, self.random.below(2)) {
                        (Sort::Real, _) => Op::Div,
                        (_, 0) => Op::IntDiv,
                        _ => Op::Mod,
                    };
                    let last = self.second(sort, d);
                    (op, vec![self.term(sort, d), last])
                }
                10 if self.logic != Logic::Linear => {
                    let exponent = self.pool.int(self.random.below(4) as i64 - 1);
                    (Op::Pow, vec![self.leaf(sort), exponent])
                }
                _ => self.choice(sort, d),
            },
            Sort::String if self.random.below(2) == 0 => (Op::Concat, self.terms(sort, d, 2)),
            Sort::String | Sort::Enum(_) => self.choice(sort, d),
        };
        self.pool.mk(op, &args).unwrap()
    }

    fn choice(&mut self, sort: Sort, depth: u32) -> (Op, Vec<TermId>) {
        let mut args = vec![self.term(Sort::Bool, depth)];
        args.extend(self.terms(sort, depth, 2));
        (Op::Ite, args)
    }

    fn terms(&mut self, sort: Sort, depth: u32, count: usize) -> Vec<TermId> {
        (0..count).map(|_| self.term(sort, depth)).collect()
    }

    fn second(&mut self, sort: Sort, depth: u32) -> TermId {
        match self.logic {
            Logic::Linear => self.constant(sort),
            Logic::Full | Logic::Arrays => self.term(sort, depth),
        }
    }
}

/// One query; true if the solver answered.
fn round(session: &mut Session, seed: u64, logic: Logic) -> bool {
    let mut g = Generator::new(seed, logic);
    let mut wanted = Vec::new();
    for i in 0..TERMS {
        let sort = g.any_sort();
        let depth = 1 + g.random.below(5) as u32;
        let term = g.term(sort, depth);
        let result = g.pool.declare(&format!("result {i}"), sort).unwrap();
        wanted.push((term, result));
    }
    let pinned = g.variables.clone();
    let mut pool = g.pool;
    session.reset();
    for (_, variable, value) in &pinned {
        let constant = pool.constant(value.clone());
        let fact = pool.mk(Op::Eq, &[*variable, constant]).unwrap();
        session.assert(&pool, fact);
    }
    for &(term, result) in &wanted {
        let variable = pool.var(result);
        let fact = pool.mk(Op::Eq, &[variable, term]).unwrap();
        session.assert(&pool, fact);
    }
    let symbols: Vec<StepSymbol> = wanted.iter().map(|w| StepSymbol::rigid(w.1)).collect();
    match session.check(&[], LIMIT) {
        Answer::Sat => {}
        Answer::Unsat => panic!("seed {seed}: no model for pinned variables"),
        Answer::Unknown(reason) => {
            let harmless =
                matches!(reason, gander_smt::Reason::Timeout | gander_smt::Reason::Incomplete(_));
            assert!(harmless, "seed {seed}: {reason}");
            return false;
        }
    }
    let values = session.values(&pool, &symbols, LIMIT).unwrap();
    let assignment = |s| pinned.iter().find(|p| p.0 == s).map(|p| p.2.clone());
    for ((term, _), value) in wanted.iter().zip(values) {
        let expected = evaluate(&pool, *term, &assignment).unwrap();
        assert_eq!(
            value,
            expected,
            "seed {seed}, {}: {}",
            session.solver().name,
            pool.display(*term)
        );
    }
    true
}

fn agree(kind: SolverKind, logic: Logic, rounds: u64) {
    let Some(solver) = support::solver(kind, "random terms") else { return };
    let number = |name: &str| std::env::var(name).ok().and_then(|v| v.parse::<u64>().ok());
    let first = number("GANDER_FUZZ_SEED").unwrap_or(1);
    let end = number("GANDER_FUZZ_SECONDS").map(|s| Instant::now() + Duration::from_secs(s));
    let solver = solver.for_features(Features { bit_vectors: true, ..Features::default() });
    let mut session = Session::start(&solver, SessionConfig::default());
    let (mut asked, mut answered) = (0, 0);
    while end.map_or(asked < rounds, |e| Instant::now() < e) {
        let seed = first + asked;
        answered += u64::from(round(&mut session, seed, logic));
        asked += 1;
    }
    assert!(answered * 10 >= asked * 9, "{}: only {answered} of {asked} answered", solver.name);
}

#[test]
fn z3_agrees() {
    agree(SolverKind::Z3, Logic::Full, 100);
}

#[test]
fn z3_agrees_about_arrays() {
    agree(SolverKind::Z3, Logic::Arrays, 150);
}

#[test]
fn yices_agrees() {
    agree(SolverKind::Yices, Logic::Linear, 300);
}

#[test]
fn cvc5_agrees() {
    agree(SolverKind::Cvc5, Logic::Full, 40);
}

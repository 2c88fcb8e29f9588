//! Random SMV models.

use super::{Assign, Kind, Module, Rhs, Role, Smv, Spec, Symbol, When};
use crate::languages::expression::{Expr, Op, Sort};
use crate::languages::random_expression::Grammar;
use crate::random::Random;

/// Limits the states, and the combinations of inputs.
const STATES: usize = 64;
const INPUTS: usize = 6;

fn grammar() -> Grammar {
    Grammar {
        logic: vec![Op::And, Op::Or, Op::Xor, Op::Xnor, Op::Iff, Op::Implies],
        arithmetic: vec![Op::Add, Op::Sub, Op::Mul, Op::Min, Op::Max],
        division: vec![Op::DivCut, Op::ModCut],
        arithmetic_one: vec![Op::Neg, Op::Neg, Op::Abs],
        bits: vec![
            Op::BvAnd,
            Op::BvOr,
            Op::BvXor,
            Op::BvXnor,
            Op::BvAdd,
            Op::BvSub,
            Op::BvMul,
            Op::BvUdiv,
            Op::BvUrem,
            Op::BvShl,
            Op::BvLshr,
        ],
        bits_one: vec![Op::BvNot, Op::BvNeg],
        bits_order: vec![Op::Ult, Op::Ule, Op::Ugt, Op::Uge],
        slices: true,
        ..Grammar::default()
    }
}

/// Makes divisors of words positive constants, and shift amounts small numbers.
fn tame(e: &Expr) -> Expr {
    let Expr::Op(sort, op, args) = e else { return e.clone() };
    let mut args: Vec<Expr> = args.iter().map(tame).collect();
    match op {
        Op::BvUdiv | Op::BvUrem | Op::BvSdiv | Op::BvSrem => {
            let width = sort.width();
            let most =
                if matches!(sort, Sort::Bits { signed: true, .. }) { width - 1 } else { width };
            if most == 0 {
                return args.remove(0);
            }
            let seed = args[1].size() as i64;
            args[1] = Expr::Const(*sort, 1 + seed % ((1 << most) - 1));
        }
        Op::BvShl | Op::BvLshr | Op::BvAshr => {
            let seed = args[1].size() as i64;
            args[1] = Expr::int(seed % (i64::from(sort.width()) + 1));
        }
        // Extension preserves the sign; an unsigned word has none.
        Op::SignExtend(n) => {
            let width = args[0].sort().width();
            let as_signed = Expr::Op(Sort::Bits { width, signed: true }, Op::Recast, args);
            let extended = Expr::Op(
                Sort::Bits { width: width + n, signed: true },
                Op::SignExtend(*n),
                vec![as_signed],
            );
            return Expr::Op(*sort, Op::Recast, vec![extended]);
        }
        _ => {}
    }
    Expr::Op(*sort, *op, args)
}

struct Maker<'a> {
    random: &'a mut Random,
    widths: Vec<u32>,
    states: usize,
    inputs: usize,
    enumerations: Vec<Vec<String>>,
}

impl Maker<'_> {
    /// The leaves for expressions over the symbols of a module.
    fn leaves(module: &Module, with_inputs: bool, with_next: bool) -> Vec<Expr> {
        let mut leaves = Vec::new();
        for (i, s) in module.symbols.iter().enumerate() {
            let input = matches!(s.role, Role::Var(Kind::Input, _));
            if input && !with_inputs {
                continue;
            }
            leaves.push(Expr::Var(s.sort, i));
            // Arguments may be constants, which have no next value.
            if with_next && !input && !matches!(s.role, Role::Parameter) {
                leaves.push(Expr::Next(s.sort, i));
            }
        }
        leaves
    }

    fn make(&mut self, leaves: Vec<Expr>, sort: Sort, depth: usize) -> Expr {
        let mut grammar = grammar().over(leaves);
        grammar.widths = self.widths.clone();
        tame(&grammar.make(self.random, sort, depth))
    }

    fn variable(&mut self, module: &mut Module, kind: Kind, name: String) {
        let room = if kind == Kind::Input { INPUTS / self.inputs } else { STATES / self.states };
        let (sort, domain, type_text): (Sort, Vec<i64>, String) =
            match self.random.weighted(&[5, 5, 1, 2, 2, 1]) {
                1 if room >= 3 => {
                    let low = self.random.between(-2, 1);
                    let high = low + self.random.between(1, (room as i64 - 1).min(4));
                    (Sort::Int, (low..=high).collect(), format!("{low}..{high}"))
                }
                2 if room >= 3 => {
                    let domain = vec![-1, 1, 3];
                    (Sort::Int, domain, "{1, 3, -1}".to_string())
                }
                3 if room >= 3 => {
                    let number = if self.enumerations.len() < 2 && self.random.chance(60) {
                        let n = self.enumerations.len();
                        let names =
                            (0..self.random.between(2, 3)).map(|k| format!("e{n}_{k}")).collect();
                        self.enumerations.push(names);
                        n
                    } else if self.enumerations.is_empty() {
                        self.enumerations.push(vec!["red".to_string(), "green".to_string()]);
                        0
                    } else {
                        self.random.below(self.enumerations.len())
                    };
                    let names = &self.enumerations[number];
                    let sort = Sort::Symbol { number, count: names.len() as i64 };
                    (sort, (0..names.len() as i64).collect(), format!("{{{}}}", names.join(", ")))
                }
                word @ (4 | 5) if room >= 4 => {
                    let width = self.random.between(1, if room >= 8 { 3 } else { 2 }) as u32;
                    let signed = word == 5;
                    let words = match (signed, self.random.chance(50)) {
                        (true, _) => "signed word",
                        (false, true) => "unsigned word",
                        (false, false) => "word",
                    };
                    self.widths.push(width);
                    (
                        Sort::Bits { width, signed },
                        (0..1 << width).collect(),
                        format!("{words}[{width}]"),
                    )
                }
                _ if room >= 2 => (Sort::Bool, vec![0, 1], "boolean".to_string()),
                _ => return,
            };
        if kind == Kind::Input {
            self.inputs *= domain.len();
        } else {
            self.states *= domain.len();
        }
        module.symbols.push(Symbol { name, sort, role: Role::Var(kind, domain), type_text });
    }

    /// An expression whose values are all within the type of a variable.
    fn value(&mut self, symbol: &Symbol, leaves: &[Expr], depth: usize) -> Expr {
        let Role::Var(_, domain) = &symbol.role else { return Expr::bool(true) };
        if symbol.sort != Sort::Int {
            return self.make(leaves.to_vec(), symbol.sort, depth);
        }
        if self.random.chance(30) {
            return Expr::int(*self.random.pick(domain));
        }
        let e = self.make(leaves.to_vec(), Sort::Int, depth);
        let is_range = domain.windows(2).all(|w| w[1] == w[0] + 1);
        let (low, high) = (domain[0], domain[domain.len() - 1]);
        let inside = if is_range {
            Expr::within(&e, low, high)
        } else {
            domain.iter().fold(Expr::bool(false), |all, v| {
                let this = Expr::two(Sort::Bool, Op::Eq, e.clone(), Expr::int(*v));
                Expr::two(Sort::Bool, Op::Or, all, this)
            })
        };
        let other = Expr::int(*self.random.pick(domain));
        Expr::Op(Sort::Int, Op::Ite, vec![inside, e, other])
    }

    fn rhs(&mut self, symbol: &Symbol, leaves: &[Expr], nested: usize) -> Rhs {
        if nested > 0 && self.random.chance(35) {
            let mut branches = Vec::new();
            for _ in 0..self.random.between(1, 2) {
                let condition = self.make(leaves.to_vec(), Sort::Bool, 2);
                branches.push((condition, self.rhs(symbol, leaves, nested - 1)));
            }
            branches.push((Expr::bool(true), self.rhs(symbol, leaves, nested - 1)));
            return Rhs::Case(branches);
        }
        // There are no sets of words.
        let several = !matches!(symbol.sort, Sort::Bits { .. }) && self.random.chance(30);
        let count = if several { self.random.between(2, 3) } else { 1 };
        Rhs::Set(
            (0..count).map(|_| self.value(symbol, leaves, if several { 1 } else { 2 })).collect(),
        )
    }

    /// Assignments and constraints of a module.
    fn body(&mut self, module: &mut Module) {
        let variables: Vec<usize> = (0..module.symbols.len())
            .filter(|&i| matches!(module.symbols[i].role, Role::Var(Kind::State | Kind::Frozen, _)))
            .collect();
        // Variables defined in every state may use only earlier variables.
        let mut earlier: Vec<Expr> = Vec::new();
        for &v in &variables {
            let symbol = module.symbols[v].clone();
            let frozen = matches!(symbol.role, Role::Var(Kind::Frozen, _));
            if !frozen && self.random.chance(8) && !earlier.is_empty() {
                let rhs = self.rhs(&symbol, &earlier, 1);
                module.assigns.push(Assign { when: When::Now, target: v, rhs });
                continue;
            }
            if self.random.chance(70) {
                let leaves = if self.random.chance(70) { Vec::new() } else { earlier.clone() };
                let rhs = self.rhs(&symbol, &leaves, 1);
                module.assigns.push(Assign { when: When::Init, target: v, rhs });
            }
            if !frozen && self.random.chance(65) {
                let mut leaves = Maker::leaves(module, true, false);
                if self.random.chance(15) {
                    let next = |e: &Expr| match e {
                        Expr::Var(sort, i) => Expr::Next(*sort, *i),
                        other => other.clone(),
                    };
                    leaves.extend(earlier.iter().map(next));
                }
                let rhs = self.rhs(&symbol, &leaves, 2);
                module.assigns.push(Assign { when: When::Next, target: v, rhs });
            }
            earlier.push(Expr::Var(symbol.sort, v));
        }
        let state = Maker::leaves(module, false, false);
        if self.random.chance(15) {
            let e = self.make(state.clone(), Sort::Bool, 3);
            module.init.push(e);
        }
        if self.random.chance(10) {
            let e = self.make(state, Sort::Bool, 2);
            module.invar.push(e);
        }
        let has_input = module.symbols.iter().any(|s| matches!(s.role, Role::Var(Kind::Input, _)));
        for _ in 0..2 {
            if self.random.chance(if has_input { 35 } else { 12 }) {
                let leaves = Maker::leaves(module, true, true);
                let e = self.make(leaves, Sort::Bool, 3);
                module.trans.push(e);
            }
        }
    }
}

pub(super) fn generate(random: &mut Random) -> Smv {
    let mut maker =
        Maker { random, widths: Vec::new(), states: 1, inputs: 1, enumerations: Vec::new() };
    let mut main = Module::default();
    for i in 0..maker.random.between(1, 3) {
        let kind = if maker.random.chance(10) { Kind::Frozen } else { Kind::State };
        maker.variable(&mut main, kind, format!("x{i}"));
    }
    if maker.random.chance(45) {
        for i in 0..maker.random.between(1, 2) {
            maker.variable(&mut main, Kind::Input, format!("i{i}"));
        }
    }
    let mut cell = None;
    let mut instances = Vec::new();
    if maker.random.chance(30) && maker.states <= 12 {
        cell = Some(maker.cell(&mut main, &mut instances));
    }
    for i in 0..maker.random.below(3) {
        let sort = *maker.random.pick(&[Sort::Bool, Sort::Bool, Sort::Int]);
        let leaves = Maker::leaves(&main, false, false);
        let e = maker.make(leaves, sort, 2);
        main.symbols.push(Symbol {
            name: format!("d{i}"),
            sort,
            role: Role::Define(e),
            type_text: String::new(),
        });
    }
    maker.body(&mut main);
    for _ in 0..maker.random.between(1, 4) {
        let spec = maker.spec(&main);
        main.specs.push(spec);
    }
    let enumerations = maker.enumerations;
    Smv { main, cell, instances, enumerations }
}

impl Maker<'_> {
    /// A module with one or two instances in `main`; adds their arguments to `instances`.
    fn cell(&mut self, main: &mut Module, instances: &mut Vec<Vec<Expr>>) -> Module {
        let mut module = Module::default();
        let parameters: Vec<Sort> = (0..self.random.below(3))
            .map(|_| {
                let state: Vec<Sort> =
                    Maker::leaves(main, false, false).iter().map(Expr::sort).collect();
                if state.is_empty() { Sort::Bool } else { *self.random.pick(&state) }
            })
            .collect();
        let before = self.states;
        self.variable(&mut module, Kind::State, "y0".to_string());
        if self.random.chance(40) && self.states * 2 <= STATES / 2 {
            self.variable(&mut module, Kind::State, "y1".to_string());
        }
        for (i, sort) in parameters.iter().enumerate() {
            let name = format!("a{i}");
            module.symbols.push(Symbol {
                name,
                sort: *sort,
                role: Role::Parameter,
                type_text: String::new(),
            });
        }
        self.body(&mut module);
        let factor = self.states / before;
        let mut count = 1;
        if self.states * factor <= STATES && self.random.chance(50) {
            self.states *= factor;
            count = 2;
        }
        for _ in 0..count {
            let leaves: Vec<Expr> = Maker::leaves(main, false, false);
            // Arguments mention variables of main that are not part of instances.
            let arguments = parameters
                .iter()
                .map(|sort| {
                    let depth = self.random.below(2);
                    self.make(leaves.clone(), *sort, depth)
                })
                .collect();
            instances.push(arguments);
        }
        for number in 0..count {
            for (i, s) in module.symbols.iter().enumerate() {
                if matches!(s.role, Role::Var(..)) {
                    let name = format!("c{number}.{}", s.name);
                    let role = Role::Of(number, i);
                    main.symbols.push(Symbol {
                        name,
                        sort: s.sort,
                        role,
                        type_text: String::new(),
                    });
                }
            }
        }
        module
    }

    /// A property of the main module.
    fn spec(&mut self, main: &Module) -> Spec {
        // `AG` must not mention inputs.
        let kind = self.random.weighted(&[4, 1, 1, 2, 2, 2]);
        let with_inputs = kind != 2 && self.random.chance(20);
        let leaves = Maker::leaves(main, with_inputs, false);
        let p = self.make(leaves.clone(), Sort::Bool, 3);
        match kind {
            0 => Spec::Invariant(p),
            1 => Spec::Globally(p),
            2 => Spec::AlwaysGlobally(p),
            3 => Spec::Finally(p),
            4 => Spec::Recurs(p),
            _ => Spec::Response(p, self.make(leaves, Sort::Bool, 2)),
        }
    }
}

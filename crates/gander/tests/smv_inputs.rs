//! Random SMV models with input variables, beside an explicit search that is written from the
//! definition alone, and beside NuSMV where `GANDER_TOOL_NUSMV` names it.
//!
//! The definition: a state has no inputs; a step has a state, inputs and a next state. INVARSPEC is
//! about reachable states, or about steps from these if it mentions inputs. LTLSPEC is about
//! infinite sequences of steps.
//!
//! `GANDER_SMV_MODELS` sets how many models; without it there are a few seconds' worth.

use std::collections::BTreeSet;
use std::fmt;
use std::process::{Command, Stdio};

use gander::{CheckOptions, check_source};
use gander_runtime::Random;

/// `x`, a bool, and `y`, which is 0, 1 or 2.
type State = (bool, u8);

/// `i`, a bool, and `j`, which is 0, 1 or 2.
type Input = (bool, u8);

const STATES: [State; 6] = [(false, 0), (false, 1), (false, 2), (true, 0), (true, 1), (true, 2)];

#[derive(Clone, Copy)]
struct Step {
    from: State,
    input: Input,
    to: State,
}

#[derive(Clone)]
enum Formula {
    X,
    Y(u8),
    NextX,
    NextY(u8),
    SameY,
    I,
    J(u8),
    YisJ,
    Not(Box<Formula>),
    Both(&'static str, Box<Formula>, Box<Formula>),
}

/// What a formula may mention.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Scope {
    State,
    StateAndInput,
    Step,
}

impl Formula {
    fn random(random: &mut Random, scope: Scope, depth: usize) -> Formula {
        if depth > 0 && random.chance(65) {
            if random.chance(25) {
                return Formula::Not(Box::new(Formula::random(random, scope, depth - 1)));
            }
            let op = ["&", "|", "->", "<->", "xor"][random.below(5)];
            let part = |random: &mut Random| Box::new(Formula::random(random, scope, depth - 1));
            return Formula::Both(op, part(random), part(random));
        }
        let value = random.below(3) as u8;
        match (scope, random.below(8)) {
            (_, 0) => Formula::X,
            (_, 1) => Formula::Y(value),
            (Scope::State, n) => {
                if n % 2 == 0 {
                    Formula::X
                } else {
                    Formula::Y(value)
                }
            }
            (_, 2) => Formula::I,
            (_, 3) => Formula::J(value),
            (_, 4) => Formula::YisJ,
            (Scope::StateAndInput, _) => Formula::I,
            (_, 5) => Formula::NextX,
            (_, 6) => Formula::NextY(value),
            _ => Formula::SameY,
        }
    }

    fn holds(&self, s: &Step) -> bool {
        match self {
            Formula::X => s.from.0,
            Formula::Y(v) => s.from.1 == *v,
            Formula::NextX => s.to.0,
            Formula::NextY(v) => s.to.1 == *v,
            Formula::SameY => s.to.1 == s.from.1,
            Formula::I => s.input.0,
            Formula::J(v) => s.input.1 == *v,
            Formula::YisJ => s.from.1 == s.input.1,
            Formula::Not(f) => !f.holds(s),
            Formula::Both(op, a, b) => {
                let (a, b) = (a.holds(s), b.holds(s));
                match *op {
                    "&" => a && b,
                    "|" => a || b,
                    "->" => !a || b,
                    "<->" => a == b,
                    _ => a != b,
                }
            }
        }
    }

    fn mentions_inputs(&self) -> bool {
        match self {
            Formula::I | Formula::J(_) | Formula::YisJ => true,
            Formula::Not(a) => a.mentions_inputs(),
            Formula::Both(_, a, b) => a.mentions_inputs() || b.mentions_inputs(),
            _ => false,
        }
    }

    fn of_state(&self, state: State) -> bool {
        self.holds(&Step { from: state, input: (false, 0), to: state })
    }
}

impl fmt::Display for Formula {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Formula::X => write!(f, "x"),
            Formula::Y(v) => write!(f, "y = {v}"),
            Formula::NextX => write!(f, "next(x)"),
            Formula::NextY(v) => write!(f, "next(y) = {v}"),
            Formula::SameY => write!(f, "next(y) = y"),
            Formula::I => write!(f, "i"),
            Formula::J(v) => write!(f, "j = {v}"),
            Formula::YisJ => write!(f, "y = j"),
            Formula::Not(a) => write!(f, "!({a})"),
            Formula::Both(op, a, b) => write!(f, "({a}) {op} ({b})"),
        }
    }
}

/// How a file asks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Invariant,
    Branching,
    Always,
    Eventually,
    Again,
    LeadsTo,
}

struct Spec {
    kind: Kind,
    p: Formula,
    q: Formula,
}

impl fmt::Display for Spec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (p, q) = (&self.p, &self.q);
        match self.kind {
            Kind::Invariant => write!(f, "INVARSPEC {p}"),
            Kind::Branching => write!(f, "CTLSPEC AG ({p})"),
            Kind::Always => write!(f, "LTLSPEC G ({p})"),
            Kind::Eventually => write!(f, "LTLSPEC F ({p})"),
            Kind::Again => write!(f, "LTLSPEC G F ({p})"),
            Kind::LeadsTo => write!(f, "LTLSPEC G (({p}) -> F ({q}))"),
        }
    }
}

struct Model {
    init: Formula,
    invar: Option<Formula>,
    trans: Vec<Formula>,
    /// Next values of `x` and `y` by a condition: what is assigned if it holds, and otherwise.
    next_x: Option<(Formula, Formula)>,
    next_y: Option<(Formula, [BTreeSet<u8>; 2])>,
    specs: Vec<Spec>,
}

impl fmt::Display for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "MODULE main\nVAR x : boolean; y : 0..2;\nIVAR i : boolean; j : 0..2;\nINIT {};",
            self.init
        )?;
        if let Some(invar) = &self.invar {
            writeln!(f, "INVAR {invar};")?;
        }
        for trans in &self.trans {
            writeln!(f, "TRANS {trans};")?;
        }
        if let Some((c, v)) = &self.next_x {
            writeln!(f, "ASSIGN next(x) := case {c} : {v}; TRUE : {{TRUE, FALSE}}; esac;")?;
        }
        if let Some((c, values)) = &self.next_y {
            let [a, b] = values.each_ref().map(|set| {
                let all: Vec<String> = set.iter().map(u8::to_string).collect();
                format!("{{{}}}", all.join(", "))
            });
            writeln!(f, "ASSIGN next(y) := case {c} : {a}; TRUE : {b}; esac;")?;
        }
        for spec in &self.specs {
            writeln!(f, "{spec};")?;
        }
        Ok(())
    }
}

/// What is true of a specification: as asked about all runs, and about infinite ones only.
struct Answer {
    all: bool,
    infinite: bool,
}

impl Model {
    fn random(random: &mut Random) -> Model {
        let mut specs = Vec::new();
        for kind in [
            Kind::Invariant,
            Kind::Branching,
            Kind::Always,
            Kind::Eventually,
            Kind::Again,
            Kind::LeadsTo,
        ] {
            let with_inputs = kind != Kind::Branching && random.chance(50);
            let scope = if with_inputs { Scope::StateAndInput } else { Scope::State };
            let (p, q) = (Formula::random(random, scope, 2), Formula::random(random, scope, 2));
            specs.push(Spec { kind, p, q });
        }
        let set = |random: &mut Random| {
            let mut set: BTreeSet<u8> = (0..3).filter(|_| random.chance(50)).collect();
            if set.is_empty() {
                set.insert(random.below(3) as u8);
            }
            set
        };
        let next_x = random.chance(50).then(|| {
            let mut part = || Formula::random(random, Scope::StateAndInput, 1);
            (part(), part())
        });
        let next_y = random.chance(50).then(|| {
            (Formula::random(random, Scope::StateAndInput, 1), [set(random), set(random)])
        });
        let trans = (0..random.below(3)).map(|_| Formula::random(random, Scope::Step, 3)).collect();
        let invar = random.chance(20).then(|| Formula::random(random, Scope::State, 2));
        Model {
            init: Formula::random(random, Scope::State, 1),
            invar,
            trans,
            next_x,
            next_y,
            specs,
        }
    }

    fn is_state(&self, s: State) -> bool {
        self.invar.as_ref().is_none_or(|f| f.of_state(s))
    }

    fn is_step(&self, s: &Step) -> bool {
        self.is_state(s.from)
            && self.is_state(s.to)
            && self.trans.iter().all(|f| f.holds(s))
            && self.next_x.as_ref().is_none_or(|(c, v)| !c.holds(s) || v.holds(s) == s.to.0)
            && self
                .next_y
                .as_ref()
                .is_none_or(|(c, v)| v[usize::from(!c.holds(s))].contains(&s.to.1))
    }

    fn starts(&self) -> Vec<State> {
        STATES.into_iter().filter(|s| self.is_state(*s) && self.init.of_state(*s)).collect()
    }

    /// Steps from reachable states, and those states.
    fn steps(&self) -> (Vec<Step>, BTreeSet<State>) {
        let mut reached: BTreeSet<State> = self.starts().into_iter().collect();
        let mut stack: Vec<State> = reached.iter().copied().collect();
        let mut steps = Vec::new();
        while let Some(from) = stack.pop() {
            for input in STATES {
                for to in STATES {
                    let step = Step { from, input, to };
                    if self.is_step(&step) {
                        steps.push(step);
                        if reached.insert(to) {
                            stack.push(to);
                        }
                    }
                }
            }
        }
        (steps, reached)
    }

    fn answers(&self) -> Vec<Answer> {
        let (steps, reached) = self.steps();
        // Those of the steps with which an infinite sequence of them can begin.
        let lasting = |mut kept: Vec<Step>| loop {
            let before = kept.len();
            let from: BTreeSet<State> = kept.iter().map(|s| s.from).collect();
            kept.retain(|s| from.contains(&s.to));
            if kept.len() == before {
                return kept;
            }
        };
        let endless = lasting(steps.clone());
        let without =
            |f: &Formula| lasting(steps.iter().copied().filter(|s| !f.holds(s)).collect());
        let starts = self.starts();
        self.specs
            .iter()
            .map(|spec| {
                let (p, q) = (&spec.p, &spec.q);
                let always = endless.iter().all(|s| p.holds(s));
                let both = |b: bool| Answer { all: b, infinite: b };
                match spec.kind {
                    Kind::Invariant if p.mentions_inputs() => {
                        both(steps.iter().all(|s| p.holds(s)))
                    }
                    Kind::Invariant => both(reached.iter().all(|s| p.of_state(*s))),
                    Kind::Always if p.mentions_inputs() => {
                        Answer { all: steps.iter().all(|s| p.holds(s)), infinite: always }
                    }
                    Kind::Branching | Kind::Always => {
                        Answer { all: reached.iter().all(|s| p.of_state(*s)), infinite: always }
                    }
                    Kind::Eventually => both(!without(p).iter().any(|s| starts.contains(&s.from))),
                    Kind::Again => both(without(p).is_empty()),
                    Kind::LeadsTo => both(!without(q).iter().any(|s| p.holds(s))),
                }
            })
            .collect()
    }
}

fn how_many() -> usize {
    std::env::var("GANDER_SMV_MODELS").ok().and_then(|n| n.parse().ok()).unwrap_or(60)
}

fn models() -> impl Iterator<Item = Model> {
    let seed = std::env::var("GANDER_SMV_SEED").ok().and_then(|n| n.parse().ok()).unwrap_or(1);
    let mut random = Random::new(seed);
    std::iter::repeat_with(move || Model::random(&mut random))
        .filter(|m| !m.starts().is_empty())
        .take(how_many())
}

#[test]
fn inputs_belong_to_steps() {
    let word = |holds: bool| if holds { "holds" } else { "fails" };
    for model in models() {
        let text = model.to_string();
        let view = check_source(&text, "m.smv", &CheckOptions::default());
        assert!(view.internal_errors.is_empty(), "{text}");
        let found: Vec<(usize, &str)> = view
            .claims
            .iter()
            .filter_map(|c| {
                Some((c.name.rsplit(' ').next()?.parse::<usize>().ok()? - 1, c.verdict.word()))
            })
            .collect();
        assert_eq!(found.len(), model.specs.len(), "{text}{:?}", view.diagnostics);
        let answers = model.answers();
        for (k, verdict) in found {
            assert_eq!(verdict, word(answers[k].all), "`{}` of\n{text}", model.specs[k]);
        }
    }
}

#[test]
fn nusmv_gives_the_same_verdicts() {
    let Some(program) = std::env::var_os("GANDER_TOOL_NUSMV") else {
        return skip("GANDER_TOOL_NUSMV does not name NuSMV");
    };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("model.smv");
    for model in models() {
        let text = model.to_string();
        std::fs::write(&file, &text).unwrap();
        let mut command = Command::new(&program);
        if let Some(folder) = std::path::Path::new(&program).parent() {
            command.env("LD_LIBRARY_PATH", folder);
        }
        let output = command.arg("-dcx").arg(&file).stdin(Stdio::null()).output().unwrap();
        let output = String::from_utf8_lossy(&output.stdout).into_owned();
        // NuSMV tells verdicts in an order of its own.
        let verdict = |kind: Kind| {
            let is_it = |l: &&str| match l.strip_prefix("-- specification ").map(str::trim_start) {
                None => kind == Kind::Invariant && l.starts_with("-- invariant"),
                Some(f) if f.starts_with("AG") => kind == Kind::Branching,
                Some(f) if f.starts_with("F ") => kind == Kind::Eventually,
                Some(f) if f.starts_with("G ( F ") => kind == Kind::Again,
                Some(f) if f.contains(" F ") => kind == Kind::LeadsTo,
                Some(_) => kind == Kind::Always,
            };
            let line = output.lines().find(is_it)?;
            line.trim_end().rsplit(' ').next().map(|last| last == "true")
        };
        let found: Vec<bool> = model.specs.iter().filter_map(|s| verdict(s.kind)).collect();
        assert_eq!(found.len(), model.specs.len(), "{text}\n{output}");
        for ((spec, answer), found) in model.specs.iter().zip(model.answers()).zip(found) {
            assert_eq!(found, answer.infinite, "`{spec}` of\n{text}");
        }
    }
}

/// Skips loudly: prints, and adds a line to the file that `GANDER_SKIP_LOG` names.
fn skip(why: &str) {
    use std::io::Write;
    let name = std::thread::current().name().unwrap_or("a test").to_string();
    let line = format!("gander: {name}: {why}\n");
    let _ = std::io::stderr().write_all(format!("SKIPPED {line}").as_bytes());
    if let Some(path) = std::env::var_os("GANDER_SKIP_LOG")
        && let Ok(mut file) = std::fs::OpenOptions::new().append(true).create(true).open(path)
    {
        let _ = file.write_all(line.as_bytes());
    }
}

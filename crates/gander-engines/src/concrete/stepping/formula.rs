//! Formulas compiled for evaluation on a step.

use gander_system::{NodeId, System};
use gander_term::{Pool, Program, Scratch, Sort, SymbolId, TermId, Value};
use rustc_hash::FxHashMap;

/// The values for evaluating a formula. Values of symbols that it does not mention may be missing.
#[derive(Clone, Copy)]
pub(crate) struct Moment<'a> {
    pub node: NodeId,
    pub current: &'a [Value],
    pub params: &'a [Value],
    pub next: &'a [Value],
}

#[derive(Clone, Copy, Debug)]
enum Source {
    Location,
    Current(usize),
    Next(usize),
    Param(usize),
}

/// The sources of the values of a system's symbols.
#[derive(Debug)]
pub(crate) struct Scope {
    sources: FxHashMap<SymbolId, Source>,
    location: gander_term::EnumId,
}

impl Scope {
    pub(crate) fn new(system: &System) -> Scope {
        let mut sources = FxHashMap::default();
        sources.insert(system.location(), Source::Location);
        for (i, v) in system.vars().iter().enumerate() {
            sources.insert(v.current, Source::Current(i));
            sources.insert(v.next, Source::Next(i));
        }
        for t in system.transitions() {
            for (i, p) in t.params.iter().enumerate() {
                sources.insert(p.symbol, Source::Param(i));
            }
        }
        let Sort::Enum(location) = system.pool().symbol(system.location()).sort else {
            unreachable!("a location is of an enumeration")
        };
        Scope { sources, location }
    }
}

/// One or more terms, compiled.
#[derive(Debug)]
pub(crate) struct Formula {
    program: Program,
    sources: Vec<Source>,
    location: gander_term::EnumId,
}

/// Working memory for evaluation.
#[derive(Default)]
pub(crate) struct Workspace {
    inputs: Vec<Value>,
    scratch: Scratch,
}

impl Formula {
    /// Compiles terms; `None` if they mention a symbol that is not in scope.
    pub(crate) fn new(scope: &Scope, pool: &Pool, terms: &[TermId]) -> Option<Formula> {
        let program = Program::compile(pool, terms);
        let sources = program
            .inputs()
            .iter()
            .map(|s| scope.sources.get(s).copied())
            .collect::<Option<Vec<_>>>()?;
        Some(Formula { program, sources, location: scope.location })
    }

    /// The values of the terms; `None` if they cannot be computed.
    pub(crate) fn values<'w>(
        &self,
        at: Moment<'_>,
        work: &'w mut Workspace,
    ) -> Option<&'w [Value]> {
        work.inputs.clear();
        for source in &self.sources {
            let value = match *source {
                Source::Location => Value::Enum(self.location, at.node.0),
                Source::Current(i) => at.current.get(i)?.clone(),
                Source::Next(i) => at.next.get(i)?.clone(),
                Source::Param(i) => at.params.get(i)?.clone(),
            };
            work.inputs.push(value);
        }
        self.program.run(&work.inputs, &mut work.scratch).ok()
    }

    /// The truth value of the first term; `None` if it cannot be computed.
    pub(crate) fn truth(&self, at: Moment<'_>, work: &mut Workspace) -> Option<bool> {
        self.values(at, work)?.first()?.as_bool()
    }
}

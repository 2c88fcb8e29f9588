//! Constrained Horn clauses for a solver with an engine for them (Z3's Spacer).
//!
//! A clause is `P(x) and constraint -> Q(y)`, over bound variables; without a body it is a fact, without a head a query.
//! Satisfiable means that predicates with these properties exist: the solver gives one formula for each, which are read
//! back into terms. Like a session, a conversation about clauses is a child process with limits that cancellation ends.

mod read;

pub use read::read_formula;

use std::io::Write;

use gander_term::{EnumId, Pool, Sort, SymbolId, TermId};
use rustc_hash::FxHashSet;

use crate::answer::{Limits, Reason};
use crate::conversation::{Conversation, Habit, Home, Shelf};
use crate::dialect::{EnumStyle, Solver, SolverKind};
use crate::names;
use crate::print;
use crate::process::ProcessLimits;
use crate::session::SessionConfig;
use crate::template::Placement;

/// A predicate applied to bound variables: its position, and the variables.
#[derive(Clone, Debug)]
pub struct Applied {
    /// The position of the predicate.
    pub predicate: usize,
    /// As many as the predicate has parameters, of their sorts.
    pub arguments: Vec<SymbolId>,
}

/// A clause; see the module's documentation.
#[derive(Clone, Debug)]
pub struct HornClause {
    /// What it starts from.
    pub body: Option<Applied>,
    /// Over bound variables ([`Pool::declare_bound`]).
    pub constraint: TermId,
    /// What follows; nothing may, if there is none.
    pub head: Option<Applied>,
}

/// The answer to clauses.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum HornAnswer {
    /// They can be satisfied, by these formulas over the predicates' parameters.
    Satisfied(Vec<TermId>),
    /// They contradict each other.
    Contradictory,
}

/// A conversation about clauses.
pub struct Horn {
    talk: Conversation,
    solver: Solver,
}

impl Horn {
    /// True if the solver has an engine for clauses.
    pub fn is_supported(solver: &Solver) -> bool {
        solver.kind == SolverKind::Z3
    }

    /// Starts a solver. If that fails, the query tells.
    pub fn start(solver: &Solver, config: &SessionConfig) -> Horn {
        let limits = ProcessLimits { memory: config.memory, output: config.output_limit };
        Horn { talk: Conversation::start(solver, limits, config.owner(), None), solver: solver.clone() }
    }

    /// [`Horn::start`] with a process that may have served before, and will serve others afterwards.
    pub(crate) fn shelved(solver: &Solver, config: &SessionConfig, shelf: Shelf) -> Horn {
        let limits = ProcessLimits { memory: None, output: config.output_limit };
        let home = Home { shelf, solver: solver.clone(), habit: Habit::Horn };
        let (talk, _) = Conversation::at_home(home, limits, config.owner());
        Horn { talk, solver: solver.clone() }
    }

    /// Records the conversation.
    pub fn set_log(&mut self, log: Box<dyn Write + Send>) {
        self.talk.set_log(log);
    }

    /// Can the clauses be satisfied? Each predicate is given by its parameters: the free symbols that its formula will
    /// speak of. To be asked once.
    pub fn solve(
        &mut self,
        pool: &mut Pool,
        predicates: &[Vec<SymbolId>],
        clauses: &[HornClause],
        limits: Limits,
    ) -> Result<HornAnswer, Reason> {
        if let Some(reason) = self.talk.failure() {
            return Err(reason.clone());
        }
        // Predicates that are inlined come back as quantifiers.
        for option in ["inline_eager", "inline_linear", "inline_linear_branch"] {
            self.talk.commands().push_str(&format!("(set-option :fp.xform.{option} false)\n"));
        }
        self.talk.commands().push_str("(set-logic HORN)\n");
        let mut enums: FxHashSet<EnumId> = FxHashSet::default();
        for (i, parameters) in predicates.iter().enumerate() {
            let sorts: Vec<Sort> = parameters.iter().map(|&s| pool.symbol(s).sort).collect();
            sorts.iter().for_each(|&sort| self.declare(pool, &mut enums, sort));
            let sorts: Vec<String> = sorts.iter().map(|&s| print::sort_name(pool, EnumStyle::Datatypes, s)).collect();
            self.talk.commands().push_str(&format!("(declare-fun p{i}@! ({}) Bool)\n", sorts.join(" ")));
        }
        for (i, clause) in clauses.iter().enumerate() {
            self.assert(pool, &mut enums, i, clause)?;
        }
        self.talk.mark();
        self.talk.commands().push_str("(check-sat)\n");
        let answer = self.talk.query(limits)?;
        match answer.atom() {
            Some("unsat") => return Ok(HornAnswer::Contradictory),
            Some("sat") => {}
            Some("unknown") => return Err(Reason::Incomplete(String::new())),
            _ => return Err(self.talk.fail(Reason::Garbage(format!("`{answer}` as an answer to check-sat")))),
        }
        self.talk.mark();
        self.talk.commands().push_str("(get-model)\n");
        let model = self.talk.query(limits)?;
        read::formulas(pool, predicates, &model).map(HornAnswer::Satisfied)
    }

    fn declare(&mut self, pool: &Pool, enums: &mut FxHashSet<EnumId>, sort: Sort) {
        for id in sort.enumerations() {
            if enums.insert(id) {
                let text = names::declare_enum(pool.enumeration(id));
                self.talk.commands().push_str(&text);
            }
        }
    }

    fn assert(
        &mut self,
        pool: &Pool,
        enums: &mut FxHashSet<EnumId>,
        number: usize,
        clause: &HornClause,
    ) -> Result<(), Reason> {
        let template = print::compile(pool, &self.solver, clause.constraint, &|_| Placement::Rigid, (0, number as u32));
        if let Some(what) = template.unsupported {
            return Err(Reason::Unsupported(what));
        }
        if !template.powers.is_empty() || !template.uses.is_empty() {
            return Err(Reason::Unsupported("powers in Horn clauses".into()));
        }
        for &id in &template.enums {
            self.declare(pool, enums, Sort::Enum(id));
        }
        let name = |s: &SymbolId| names::encode(&pool.symbol(*s).name).rigid();
        let applied = |a: &Applied| {
            let arguments: String = a.arguments.iter().map(|s| format!(" {}", name(s))).collect();
            if a.arguments.is_empty() {
                format!("p{}@!", a.predicate)
            } else {
                format!("(p{}@!{arguments})", a.predicate)
            }
        };
        let mut variables: Vec<SymbolId> =
            clause.body.iter().chain(&clause.head).flat_map(|a| a.arguments.iter().copied()).collect();
        let inside = pool.postorder(&[clause.constraint]);
        variables.extend(inside.iter().filter_map(|&t| pool.as_symbol(t)).filter(|&s| pool.symbol(s).bound));
        variables.sort_unstable();
        variables.dedup();
        let body = clause.body.as_ref().map_or("true".to_string(), applied);
        let head = clause.head.as_ref().map_or("false".to_string(), applied);
        let out = self.talk.commands();
        template.definitions.fill(out, 0, number as u64);
        out.push_str("(assert ");
        if !variables.is_empty() {
            out.push_str("(forall (");
            for s in &variables {
                let sort = print::sort_name(pool, EnumStyle::Datatypes, pool.symbol(*s).sort);
                out.push_str(&format!("({} {sort})", name(s)));
            }
            out.push_str(") ");
        }
        out.push_str("(=> (and ");
        out.push_str(&body);
        out.push(' ');
        template.root.fill(out, 0, number as u64);
        out.push_str(") ");
        out.push_str(&head);
        out.push_str(if variables.is_empty() { "))\n" } else { ")))\n" });
        Ok(())
    }
}

//! Constrained Horn clauses for a solver with an engine for them (Z3's Spacer).
//!
//! A clause is `P(x) and constraint -> Q(y)` over bound variables; without a body it is a fact,
//! without a head a query. If the clauses are satisfiable, the solver prints a formula for each
//! predicate, which is parsed into a term. As for a session, the solver is a child process with
//! limits and cancellation.

pub(crate) mod lists;
mod model;

pub use model::read_formula;

use std::io::Write;

use gander_process::InteractiveLimits;
use gander_term::smtlib::{self, EnumStyle};
use gander_term::{EnumId, Pool, Sort, SymbolId, TermId};
use rustc_hash::FxHashSet;

use crate::session::SessionConfig;
use crate::session::answer::{Limits, Reason};
use crate::session::conversation::{Conversation, PoolKey, ProcessPool, Profile};
use crate::smtlib::print;
use crate::smtlib::template::Placement;
use crate::solver::dialect::{Solver, SolverKind};

/// A predicate applied to bound variables: its position, and the variables.
#[derive(Clone, Debug)]
pub struct Applied {
    /// The position of the predicate.
    pub predicate: usize,
    /// An argument for each parameter of the predicate, of the same sort.
    pub arguments: Vec<SymbolId>,
}

/// A clause; see the module's documentation.
#[derive(Clone, Debug)]
pub struct HornClause {
    /// The body; `None` for a fact.
    pub body: Option<Applied>,
    /// The constraint, over bound variables ([`Pool::declare_bound`]).
    pub constraint: TermId,
    /// The head; `None` for a query.
    pub head: Option<Applied>,
}

/// The answer to clauses.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum HornAnswer {
    /// They are satisfied by these formulas over the predicates' parameters.
    Satisfied(Vec<TermId>),
    /// They contradict each other.
    Contradictory,
}

/// A conversation about clauses.
pub struct Horn {
    conversation: Conversation,
    solver: Solver,
}

impl Horn {
    /// True if the solver has an engine for clauses.
    pub fn is_supported(solver: &Solver) -> bool {
        solver.kind == SolverKind::Z3
    }

    /// Starts a solver. If that fails, the query returns the reason.
    pub fn start(solver: &Solver, config: &SessionConfig) -> Horn {
        let limits = InteractiveLimits { memory: config.memory, output: config.output_limit };
        Horn {
            conversation: Conversation::start(solver, limits, config.owner(), None),
            solver: solver.clone(),
        }
    }

    /// [`Horn::start`] with a process from a pool, to which it returns afterwards.
    pub(crate) fn pooled(solver: &Solver, config: &SessionConfig, processes: ProcessPool) -> Horn {
        let limits = InteractiveLimits { memory: None, output: config.output_limit };
        let key = PoolKey { processes, solver: solver.clone(), profile: Profile::Horn };
        let (conversation, _) = Conversation::pooled(key, limits, config.owner());
        Horn { conversation, solver: solver.clone() }
    }

    /// Logs the conversation.
    pub fn set_log(&mut self, log: Box<dyn Write + Send>) {
        self.conversation.set_log(log);
    }

    /// Checks whether the clauses are satisfiable. Each predicate is given by its parameters, the
    /// free symbols of its formula. Call it once.
    pub fn solve(
        &mut self,
        pool: &mut Pool,
        predicates: &[Vec<SymbolId>],
        clauses: &[HornClause],
        limits: Limits,
    ) -> Result<HornAnswer, Reason> {
        if let Some(reason) = self.conversation.failure() {
            return Err(reason.clone());
        }
        // Inlined predicates would become quantifiers in the model.
        for option in ["inline_eager", "inline_linear", "inline_linear_branch"] {
            self.conversation
                .commands()
                .push_str(&format!("(set-option :fp.xform.{option} false)\n"));
        }
        self.conversation.commands().push_str("(set-logic HORN)\n");
        let mut enums: FxHashSet<EnumId> = FxHashSet::default();
        for (i, parameters) in predicates.iter().enumerate() {
            let sorts: Vec<Sort> = parameters.iter().map(|&s| pool.symbol(s).sort).collect();
            sorts.iter().for_each(|&sort| self.declare(pool, &mut enums, sort));
            let sorts: Vec<String> =
                sorts.iter().map(|&s| smtlib::sort_name(pool, EnumStyle::Datatypes, s)).collect();
            self.conversation
                .commands()
                .push_str(&format!("(declare-fun p{i}@! ({}) Bool)\n", sorts.join(" ")));
        }
        for (i, clause) in clauses.iter().enumerate() {
            self.assert(pool, &mut enums, i, clause)?;
        }
        self.conversation.mark();
        self.conversation.commands().push_str("(check-sat)\n");
        let reply = self.conversation.query(limits)?;
        let answer = reply.root();
        match answer.atom() {
            Some("unsat") => return Ok(HornAnswer::Contradictory),
            Some("sat") => {}
            Some("unknown") => return Err(Reason::Incomplete(String::new())),
            _ => {
                return Err(self
                    .conversation
                    .fail(Reason::Garbage(format!("`{answer}` as an answer to check-sat"))));
            }
        }
        self.conversation.mark();
        self.conversation.commands().push_str("(get-model)\n");
        let model = self.conversation.query(limits)?;
        model::formulas(pool, predicates, model.root()).map(HornAnswer::Satisfied)
    }

    fn declare(&mut self, pool: &Pool, enums: &mut FxHashSet<EnumId>, sort: Sort) {
        for id in sort.enumerations() {
            if enums.insert(id) {
                let text = smtlib::declare_enum(pool.enumeration(id));
                self.conversation.commands().push_str(&text);
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
        let template = print::compile(
            pool,
            &self.solver,
            clause.constraint,
            &|_| Placement::Rigid,
            number as u32,
        );
        if let Some(what) = template.unsupported {
            return Err(Reason::Unsupported(what));
        }
        if !template.powers.is_empty() || !template.uses.is_empty() {
            return Err(Reason::Unsupported("powers in Horn clauses".into()));
        }
        for &id in &template.enums {
            self.declare(pool, enums, Sort::Enum(id));
        }
        let name = |s: &SymbolId| smtlib::encode(&pool.symbol(*s).name).rigid();
        let applied = |a: &Applied| {
            let arguments: String = a.arguments.iter().map(|s| format!(" {}", name(s))).collect();
            if a.arguments.is_empty() {
                format!("p{}@!", a.predicate)
            } else {
                format!("(p{}@!{arguments})", a.predicate)
            }
        };
        let mut variables: Vec<SymbolId> = clause
            .body
            .iter()
            .chain(&clause.head)
            .flat_map(|a| a.arguments.iter().copied())
            .collect();
        let inside = pool.postorder(&[clause.constraint]);
        variables.extend(
            inside.iter().filter_map(|&t| pool.as_symbol(t)).filter(|&s| pool.symbol(s).bound),
        );
        variables.sort_unstable();
        variables.dedup();
        let body = clause.body.as_ref().map_or("true".to_string(), applied);
        let head = clause.head.as_ref().map_or("false".to_string(), applied);
        let out = self.conversation.commands();
        template.definitions.fill(out, 0, number as u64);
        out.push_str("(assert ");
        if !variables.is_empty() {
            out.push_str("(forall (");
            for s in &variables {
                let sort = smtlib::sort_name(pool, EnumStyle::Datatypes, pool.symbol(*s).sort);
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

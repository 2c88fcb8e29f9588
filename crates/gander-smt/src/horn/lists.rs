//! Whether a path exists, as one question over lists: the *SMT-only* model checking of Rütz (2013,
//! section 4.2), after Milicevic and Kugler (*Model checking using SMT and theory of lists*, 2011).
//!
//! States are values of a data type with a constructor for each predicate of the clauses; a path is
//! a list of states of any length. A recursive function defines valid paths: consecutive states are
//! connected by steps, and the last one is a target. The solver searches a valid list whose first
//! state is initial; it alone decides how far the function is unfolded.
//!
//! ```text
//! (declare-datatypes ((Path 0)) (((end (only State) ...) (then (now State) ... (rest Path)))))
//! (define-fun-rec valid ((p Path)) Bool
//!   (ite ((_ is end) p) (target (only p) ...)
//!     (and (step (now p) ... (first (rest p))) (valid (rest p)))))
//! (assert (and (initial (first path)) (valid path)))
//! ```
//!
//! The thesis wrote the function as a quantified formula with a pattern, because its Z3 had no
//! recursion, and got `unknown`; today solvers have `define-fun-rec`. Parameters, which the thesis
//! quantifies, are parts of the list: each element has a choice, of a data type with a constructor
//! for each clause.

use std::io::Write;

use gander_process::InteractiveLimits;
use gander_term::smtlib::{self, EnumStyle};
use gander_term::{EnumId, Pool, Sort, SymbolId};
use rustc_hash::FxHashSet;

use crate::horn::{Applied, HornClause};
use crate::session::SessionConfig;
use crate::session::answer::{Limits, Reason};
use crate::session::conversation::Conversation;
use crate::smtlib::print;
use crate::smtlib::template::Placement;
use crate::solver::dialect::{Solver, SolverKind};

/// Steps of a path whose length is determined at most.
const LONGEST: u32 = 10_000;

/// A conversation about one path.
pub struct PathQuery {
    conversation: Conversation,
    solver: Solver,
}

/// Whether a path exists.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PathAnswer {
    /// One with this number of steps.
    Steps(u32),
    /// None of any length.
    None,
}

impl PathQuery {
    /// True if the solver supports lists and recursive functions.
    pub fn is_supported(solver: &Solver) -> bool {
        solver.kind == SolverKind::Z3
    }

    /// Starts a solver. If that fails, the query returns the reason.
    pub fn start(solver: &Solver, config: &SessionConfig) -> PathQuery {
        let limits = InteractiveLimits { memory: config.memory, output: config.output_limit };
        PathQuery {
            conversation: Conversation::start(solver, limits, config.owner(), None),
            solver: solver.clone(),
        }
    }

    /// Logs the conversation.
    pub fn set_log(&mut self, log: Box<dyn Write + Send>) {
        self.conversation.set_log(log);
    }

    /// Searches a path from a clause without a body, by clauses with body and head, to one without
    /// a head. Predicates are given by their parameters. Call it once.
    pub fn solve(
        &mut self,
        pool: &Pool,
        predicates: &[Vec<SymbolId>],
        clauses: &[HornClause],
        limits: Limits,
    ) -> Result<PathAnswer, Reason> {
        if let Some(reason) = self.conversation.failure() {
            return Err(reason.clone());
        }
        let text = script(pool, &self.solver, predicates, clauses)?;
        self.conversation.commands().push_str(&text);
        self.conversation.mark();
        self.conversation.commands().push_str("(check-sat)\n");
        let reply = self.conversation.query(limits)?;
        let answer = reply.root();
        match answer.atom() {
            Some("unsat") => Ok(PathAnswer::None),
            Some("sat") => self.length(limits).map(PathAnswer::Steps),
            Some("unknown") => Err(Reason::Incomplete(String::new())),
            _ => Err(self
                .conversation
                .fail(Reason::Garbage(format!("`{answer}` as an answer to check-sat")))),
        }
    }

    /// The number of steps of the list in the model.
    fn length(&mut self, limits: Limits) -> Result<u32, Reason> {
        let mut list = "path@!".to_string();
        for steps in 0..LONGEST {
            self.conversation.mark();
            self.conversation
                .commands()
                .push_str(&format!("(get-value (((_ is end@!) {list})))\n"));
            let reply = self.conversation.query(limits)?;
            let answer = reply.root();
            let value = answer
                .list()
                .and_then(|pairs| pairs.first()?.list()?.last()?.atom().map(str::to_string));
            match value.as_deref() {
                Some("true") => return Ok(steps),
                Some("false") => list = format!("(rest@! {list})"),
                _ => {
                    return Err(self
                        .conversation
                        .fail(Reason::Garbage(format!("`{answer}` as a truth value"))));
                }
            }
        }
        Err(Reason::Incomplete(format!("a path of more than {LONGEST} steps")))
    }
}

/// The parts of a disjunction.
#[derive(Default)]
struct Cases(Vec<String>);

impl Cases {
    fn text(&self) -> String {
        if self.0.is_empty() { "false".into() } else { format!("(or {})", self.0.join("\n  ")) }
    }
}

/// The declarations, and the cases of each relation, of the clauses so far.
struct Script<'p> {
    pool: &'p Pool,
    /// Declarations of enumerations, and definitions of shared terms.
    out: String,
    declared: FxHashSet<EnumId>,
    /// The constructors of the data type of choices, one for each clause.
    choices: String,
    initial: Cases,
    step: Cases,
    target: Cases,
}

impl Script<'_> {
    /// The name of a sort; declares it first if it is a new enumeration.
    fn sort(&mut self, s: Sort) -> String {
        if let Sort::Enum(id) = s
            && self.declared.insert(id)
        {
            self.out.push_str(&smtlib::declare_enum(self.pool.enumeration(id)));
        }
        smtlib::sort_name(self.pool, EnumStyle::Datatypes, s)
    }

    /// Adds clause number `i` as a case of its relation.
    fn clause(&mut self, solver: &Solver, i: usize, clause: &HornClause) -> Result<(), Reason> {
        let pool = self.pool;
        let template =
            print::compile(pool, solver, clause.constraint, &|_| Placement::Rigid, i as u32);
        if let Some(what) = template.unsupported {
            return Err(Reason::Unsupported(what));
        }
        if !template.powers.is_empty() || !template.uses.is_empty() {
            return Err(Reason::Unsupported("powers in a question over lists".into()));
        }
        for &id in &template.enums {
            self.sort(Sort::Enum(id));
        }
        // The variables of the constraint are fields of the states or fields of the choice.
        let name = |s: SymbolId| smtlib::encode(&pool.symbol(s).name).rigid();
        let (mut tests, mut bindings) = (vec![format!("((_ is c{i}@!) h)")], Vec::new());
        let mut bound: FxHashSet<SymbolId> = FxHashSet::default();
        let mut place = |a: &Option<Applied>, state: &str| {
            let Some(a) = a else { return };
            tests.push(format!("((_ is s{}@!) {state})", a.predicate));
            for (j, &s) in a.arguments.iter().enumerate() {
                bound.insert(s);
                bindings.push(format!("({} (s{}.{j}@! {state}))", name(s), a.predicate));
            }
        };
        place(&clause.body, "s");
        place(&clause.head, if clause.body.is_some() { "t" } else { "s" });
        let inside = pool.postorder(&[clause.constraint]);
        let mut chosen: Vec<SymbolId> = inside.iter().filter_map(|&t| pool.as_symbol(t)).collect();
        chosen.retain(|s| !bound.contains(s) && pool.symbol(*s).bound);
        chosen.sort_unstable();
        chosen.dedup();
        let mut fields = String::new();
        for (j, &s) in chosen.iter().enumerate() {
            let sort = self.sort(pool.symbol(s).sort);
            fields.push_str(&format!(" (c{i}.{j}@! {sort})"));
            bindings.push(format!("({} (c{i}.{j}@! h))", name(s)));
        }
        self.choices.push_str(&format!(" (c{i}@!{fields})"));
        let mut constraint = String::new();
        template.definitions.fill(&mut self.out, 0, i as u64);
        template.root.fill(&mut constraint, 0, i as u64);
        if !bindings.is_empty() {
            constraint = format!("(let ({}) {constraint})", bindings.join(" "));
        }
        let case = format!("(and {} {constraint})", tests.join(" "));
        match (&clause.body, &clause.head) {
            (None, _) => self.initial.0.push(case),
            (Some(_), Some(_)) => self.step.0.push(case),
            (Some(_), None) => self.target.0.push(case),
        }
        Ok(())
    }
}

/// The query as commands, without `check-sat`.
fn script(
    pool: &Pool,
    solver: &Solver,
    predicates: &[Vec<SymbolId>],
    clauses: &[HornClause],
) -> Result<String, Reason> {
    let mut script = Script {
        pool,
        out: String::new(),
        declared: FxHashSet::default(),
        choices: String::new(),
        initial: Cases::default(),
        step: Cases::default(),
        target: Cases::default(),
    };
    let mut states = String::new();
    for (i, parameters) in predicates.iter().enumerate() {
        let mut fields = String::new();
        for (j, &s) in parameters.iter().enumerate() {
            let sort = script.sort(pool.symbol(s).sort);
            fields.push_str(&format!(" (s{i}.{j}@! {sort})"));
        }
        states.push_str(&format!(" (s{i}@!{fields})"));
    }
    for (i, clause) in clauses.iter().enumerate() {
        script.clause(solver, i, clause)?;
    }
    let Script { mut out, choices, initial, step, target, .. } = script;
    if predicates.is_empty() || clauses.is_empty() {
        return Err(Reason::Unsupported("a system without states".into()));
    }
    out.push_str(&format!("(declare-datatypes ((State@! 0)) (({states})))\n"));
    out.push_str(&format!("(declare-datatypes ((Choice@! 0)) (({choices})))\n"));
    out.push_str(
        "(declare-datatypes ((Path@! 0)) (((end@! (only@! State@!) (meets@! Choice@!)) \
         (then@! (now@! State@!) (by@! Choice@!) (rest@! Path@!)))))\n\
         (define-fun first@! ((p Path@!)) State@! (ite ((_ is end@!) p) (only@! p) (now@! p)))\n",
    );
    let parameters = "(s State@!) (h Choice@!)";
    out.push_str(&format!("(define-fun initial@! ({parameters}) Bool {})\n", initial.text()));
    out.push_str(&format!("(define-fun step@! ({parameters} (t State@!)) Bool {})\n", step.text()));
    out.push_str(&format!("(define-fun target@! ({parameters}) Bool {})\n", target.text()));
    out.push_str(
        "(define-fun-rec valid@! ((p Path@!)) Bool (ite ((_ is end@!) p) (target@! (only@! p) (meets@! p)) \
         (and (step@! (now@! p) (by@! p) (first@! (rest@! p))) (valid@! (rest@! p)))))\n\
         (declare-fun path@! () Path@!)\n(declare-fun begin@! () Choice@!)\n\
         (assert (initial@! (first@! path@!) begin@!))\n(assert (valid@! path@!))\n",
    );
    Ok(out)
}

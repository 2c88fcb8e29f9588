//! Finite instantiation of parametric systems: bounded model checking for small values of the
//! constants that bound quantifiers.
//!
//! An array whose size is a constant without a value, as in a parametric Lustre program, is defined
//! by formulas like `forall i. 0 <= i and i < n => a[i] == ...`. Solvers rarely find models of
//! these. So the constants (variables that no step changes) get small values, quantifiers become
//! conjunctions, and runs are searched depth by depth, with the sizes in turn. Every run found is a
//! run of the system. Nothing is proved, and a run is shortest only for its size.

mod limits;

use std::time::{Duration, Instant};

use gander_smt::{Limits, Reason};
use gander_system::{ClaimId, ClaimKind, VarId};
use gander_term::Features;

use crate::core::{Advance, Engine, EngineContext, EngineInfo, Method, Purpose, steps};
use crate::encode::forward_search::{Found, Search, system_features};
use crate::encode::narrowing::{self, Narrowing};
use crate::encode::question::{Question, Target, is_question};
use crate::encode::view::View;
use limits::LIMITS;

/// The entry in the list of engines.
pub(crate) const INFO: EngineInfo = EngineInfo {
    name: "sizes",
    about: "runs for small sizes of arrays whose size is an unknown constant",
    decides,
    finds_shortest: false,
    begins_at_once: false,
    open: |context| Box::new(Sizes::new(context)),
};

fn decides(kind: &ClaimKind) -> bool {
    // Whether a start is satisfiable does not depend on sizes.
    is_question(kind) && !View::needs_chain(kind) && !matches!(kind, ClaimKind::StartSatisfiable(_))
}

/// See the module's documentation.
struct Sizes {
    searches: Vec<OfSize>,
    obstacle: String,
}

/// Whether targets contain quantifiers after instantiation. Targets with quantifiers are searched
/// for separately, because they may cost the solver much time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Quantifiers {
    Gone,
    Left,
}

/// The search for one size.
struct OfSize {
    value: i64,
    view: View,
    search: Search,
    questions: Vec<Question>,
    /// The targets of all questions, and for each the index of its question.
    targets: Vec<Target>,
    owners: Vec<usize>,
    depth: u32,
    used: Duration,
}

impl Sizes {
    fn new(context: &EngineContext) -> Sizes {
        let mut sizes = Sizes { searches: Vec::new(), obstacle: String::new() };
        let bounds = narrowing::sizes(context.system());
        if !bounds.is_empty() && context.config().options.uses(Method::Sizes) {
            let kinds = LIMITS
                .sizes
                .iter()
                .flat_map(|&value| [(value, Quantifiers::Gone), (value, Quantifiers::Left)]);
            let searches = kinds.map(|(value, kind)| OfSize::new(context, &bounds, value, kind));
            sizes.searches = searches.filter(|s| !s.targets.is_empty()).collect();
        }
        // Report this obstacle only if no other engine runs.
        let alone = context
            .config()
            .engines
            .as_ref()
            .is_some_and(|e| e.iter().all(|name| name == INFO.name));
        if sizes.searches.is_empty() && alone {
            sizes.obstacle = "no constant without a value bounds a quantifier".into();
        }
        sizes
    }
}

impl OfSize {
    fn new(context: &EngineContext, bounds: &[VarId], value: i64, kind: Quantifiers) -> OfSize {
        let mut view = View::plain(context);
        let narrowing = Narrowing::new(&mut view.encoding, bounds, value);
        view.encoding.narrowing = Some(narrowing);
        let mut features = system_features(&mut view.encoding);
        features.quantifiers = false;
        let left = view.encoding.leaves_quantifiers();
        let (mut questions, mut targets, mut owners) = (Vec::new(), Vec::new(), Vec::new());
        for &claim in context.claims() {
            let Some(mut question) = view.question(claim) else { continue };
            let mut own = Features::default();
            for target in &mut question.targets {
                target.formula = view.encoding.narrowed(target.formula);
                own = own.join(view.encoding.pool.features(&[target.formula]));
            }
            if own.quantifiers != (kind == Quantifiers::Left) {
                continue;
            }
            features = features.join(own);
            targets.extend_from_slice(&question.targets);
            owners.resize(targets.len(), questions.len());
            questions.push(question);
        }
        // Quantifiers that are left need a solver that supports them.
        features.quantifiers |= left;
        let purpose = Purpose { part: "size", claims: questions.iter().map(|q| q.claim).collect() };
        let search = Search::new(features, purpose);
        OfSize { value, view, search, questions, targets, owners, depth: 0, used: Duration::ZERO }
    }

    /// Searches one depth. Returns an error if there is nothing more to search.
    fn search(&mut self, context: &EngineContext) -> Result<(), String> {
        let depth = self.depth;
        if context.config().options.max_depth.is_some_and(|max| depth > max)
            || self.search.is_beyond(&mut self.view.encoding, context, depth)
        {
            return Err(format!("no run with sizes of {}", self.value));
        }
        loop {
            if context.is_cancelled() {
                return Ok(());
            }
            let asked = |t: &usize| context.is_open(self.questions[self.owners[*t]].claim);
            let now: Vec<usize> = (0..self.targets.len()).filter(asked).collect();
            if now.is_empty() {
                return Err("nothing is open".into());
            }
            let limits = Limits::time(LIMITS.query);
            match self.search.ask(
                &mut self.view.encoding,
                context,
                &self.targets,
                &now,
                depth,
                limits,
            ) {
                Found::Met(target, path) => {
                    let question = &self.questions[self.owners[target]];
                    let Some(verdict) =
                        path.into_run().and_then(|run| self.view.met(question, run))
                    else {
                        return Err("a run that could not be read".into());
                    };
                    context.propose(question.claim, verdict);
                    // Do not search for this claim again, whether or not the proposal is accepted.
                    let owner = self.owners[target];
                    let keep: Vec<bool> = self.owners.iter().map(|&o| o != owner).collect();
                    let mut kept = keep.iter();
                    self.targets.retain(|_| *kept.next().unwrap_or(&true));
                    let mut kept = keep.iter();
                    self.owners.retain(|_| *kept.next().unwrap_or(&true));
                }
                Found::Nothing => {
                    self.depth += 1;
                    return Ok(());
                }
                Found::Unknown(Reason::Interrupted) => return Ok(()),
                Found::Unknown(reason) => {
                    return Err(format!("with sizes of {} at depth {depth}: {reason}", self.value));
                }
            }
        }
    }
}

impl Engine for Sizes {
    fn advance(&mut self, context: &EngineContext) -> Advance {
        // The search with the least time used.
        let Some(at) = (0..self.searches.len()).min_by_key(|&i| self.searches[i].used) else {
            return Advance::Finished;
        };
        let begun = Instant::now();
        let search = &mut self.searches[at];
        let result = search.search(context);
        search.used += begun.elapsed();
        match result {
            Ok(()) => {
                self.obstacle =
                    format!("no run of {} with sizes of {}", steps(search.depth), search.value);
            }
            Err(why) => {
                self.obstacle = why;
                self.searches.swap_remove(at);
            }
        }
        Advance::Again
    }

    fn obstacle(&self, _claim: ClaimId) -> Option<String> {
        (!self.obstacle.is_empty()).then(|| self.obstacle.clone())
    }
}

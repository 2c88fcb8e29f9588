//! Bounded model checking for small values of the constants that bound quantifiers.
//!
//! An array whose size is a constant without a value, as in a parametric Lustre program, is defined by formulas like `forall i.
//! 0 <= i and i < n => a[i] == ...`. Solvers seldom find models of them. Here the constants (variables that no step changes) get
//! one small value after the other, the quantifiers become conjunctions, and runs are searched for depth by depth, each size in
//! its turn. This is the finite instantiation of parametric systems: every run that is found is a run of the system, and
//! nothing is ever shown to hold. A run is a shortest one for its size only.

use std::time::{Duration, Instant};

use gander_smt::{Limits, Reason};
use gander_system::{ClaimId, ClaimKind, VarId};
use gander_term::Features;

use crate::core::{Advance, Engine, EngineContext, EngineInfo, Purpose};
use crate::encode::forward_search::{Found, Search, system_features};
use crate::encode::narrowing::{self, Narrowing};
use crate::encode::question::{Question, Target, is_question};
use crate::encode::view::View;

/// The entry in the list of engines.
pub(crate) const INFO: EngineInfo = EngineInfo {
    name: "sizes",
    about: "runs for small sizes of arrays whose size is an unknown constant",
    decides,
    finds_shortest: false,
    begins_at_once: false,
    open: |context| Box::new(Sizes::new(context)),
};

/// The values that are tried.
const VALUES: [i64; 4] = [2, 3, 1, 4];

/// Time for one query.
const PATIENCE: Duration = Duration::from_secs(5);

fn decides(kind: &ClaimKind) -> bool {
    // Whether a start has a state at all is not a matter of sizes.
    is_question(kind) && !View::needs_chain(kind) && !matches!(kind, ClaimKind::StartSatisfiable(_))
}

/// See the module's documentation.
struct Sizes {
    searches: Vec<OfSize>,
    obstacle: String,
}

/// What became of the quantifiers in what is searched for. Questions in which some are left are asked for themselves: they may
/// take a solver all its time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Quantifiers {
    Gone,
    Left,
}

/// The search with one value.
struct OfSize {
    value: i64,
    view: View,
    search: Search,
    questions: Vec<Question>,
    /// Targets of all questions, with the question each belongs to.
    targets: Vec<Target>,
    owners: Vec<usize>,
    depth: u32,
    used: Duration,
}

impl Sizes {
    fn new(context: &EngineContext) -> Sizes {
        let mut sizes = Sizes { searches: Vec::new(), obstacle: String::new() };
        let bounds = narrowing::sizes(context.system());
        if !bounds.is_empty() {
            let kinds = VALUES.iter().flat_map(|&value| [(value, Quantifiers::Gone), (value, Quantifiers::Left)]);
            let searches = kinds.map(|(value, kind)| OfSize::new(context, &bounds, value, kind));
            sizes.searches = searches.filter(|s| !s.targets.is_empty()).collect();
            #[cfg(test)]
            if context.config().options.bug == Some(crate::seeded_bugs::SeededBug::SizeSkipped) {
                sizes.searches.retain(|s| s.value > 1);
            }
        }
        // Nobody else wants to hear of it for every system without such constants.
        let alone = context.config().engines.as_ref().is_some_and(|e| e.iter().all(|name| name == INFO.name));
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
        // What could not be instantiated needs a solver that knows quantifiers.
        features.quantifiers |= left;
        let purpose = Purpose { part: "size", claims: questions.iter().map(|q| q.claim).collect() };
        let search = Search::new(features, purpose);
        OfSize { value, view, search, questions, targets, owners, depth: 0, used: Duration::ZERO }
    }

    /// Searches one depth; says why if that was the last one.
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
            let limits = Limits::time(PATIENCE);
            match self.search.ask(&mut self.view.encoding, context, &self.targets, &now, depth, limits) {
                Found::Met(target, path) => {
                    let question = &self.questions[self.owners[target]];
                    let Some(verdict) = path.into_run().and_then(|run| self.view.met(question, run)) else {
                        return Err("a run that could not be read".into());
                    };
                    context.propose(question.claim, verdict);
                    // It is not asked for again here, whatever becomes of the proposal.
                    let owner = self.owners[target];
                    let keep: Vec<bool> = self.owners.iter().map(|&o| o != owner).collect();
                    let mut kept = keep.iter();
                    self.targets.retain(|_| *kept.next().unwrap_or(&true));
                    let mut kept = keep.iter();
                    self.owners.retain(|_| *kept.next().unwrap_or(&true));
                }
                Found::Nothing => {
                    self.depth += 1;
                    #[cfg(test)]
                    if self.view.encoding.bug == Some(crate::seeded_bugs::SeededBug::DepthSkipped) {
                        self.depth += 1;
                    }
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
        // The one that used least so far.
        let Some(at) = (0..self.searches.len()).min_by_key(|&i| self.searches[i].used) else {
            return Advance::Finished;
        };
        let begun = Instant::now();
        let search = &mut self.searches[at];
        let result = search.search(context);
        search.used += begun.elapsed();
        match result {
            Ok(()) => {
                self.obstacle = format!("no run of {} steps with sizes of {}", search.depth, search.value);
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

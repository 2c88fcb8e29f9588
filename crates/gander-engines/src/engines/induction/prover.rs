//! The prover of a batch of claims, which share one step case.
//!
//! For each depth `k`, `prove_at` computes the greatest set of candidates that the step case
//! preserves and that the base case (`base_case`) does not violate, and turns it into lemmas.

mod base_case;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use gander_smt::{Limits, Reason, Solver};
use gander_system::{ClaimId, ClaimKind, Evidence, NodeFormulas, NodeId, Verdict};
use gander_term::{Features, TermId};

use crate::core::{Cursor, EngineContext, Fact, ProvedInvariant, Purpose};
use crate::encode::batch::Batch;
use crate::encode::forward_search::Search;
use crate::encode::question::TargetMeaning;
use crate::encode::unrolling::{Origin, Unrolling};
use crate::encode::view::View;

use super::candidate::{Candidate, Source, hints};
use super::conjecture::{Guess, invariants};
use super::forward::Forward;
use super::lemma::{Lemma, beyond, close};
use super::limits::LIMITS;
use super::ranges::Ranges;
use super::step_case::{Assumable, Claimed, Preserved, RestsOn, StepCase};

/// See the module's documentation.
pub(super) struct Prover {
    view: View,
    /// The nodes that are reachable in the control graph.
    nodes: Vec<NodeId>,
    /// The claims of the batch.
    claims: Vec<ClaimId>,
    candidates: Vec<Candidate>,
    lemmas: Vec<Lemma>,
    features: Features,
    /// Selected on the first call of `advance`.
    solvers: Option<Vec<Solver>>,
    step: Option<StepCase>,
    base: Search,
    forward: Option<Forward>,
    cursor: Cursor,
    /// The next depth to try; 0: check whether claims follow from lemmas alone.
    k: u32,
    used: Duration,
    over: bool,
    /// The number of consecutive step-case queries that all solvers failed on, and the last reason.
    failures: u32,
    failure: Option<String>,
    /// The time for one query of the step case.
    query_time: Duration,
    /// True if a query took longer than that.
    ran_out: bool,
}

impl Prover {
    /// A prover for the claims of a batch.
    pub(super) fn new(context: &EngineContext, batch: Batch) -> Prover {
        let Batch { mut view, questions, mut features } = batch;
        let mut candidates: Vec<Candidate> =
            questions.into_iter().map(|q| Candidate::claimed(&mut view, q)).collect();
        let hints = hints(context, &mut view);
        let formulas: Vec<TermId> = hints.iter().map(|h| h.1).collect();
        let with_hints = features.join(view.encoding.pool.features(&formulas));
        let solvers = &context.config().solvers;
        // Skip hints that would need another solver than the claims.
        if solvers.choose(with_hints) == solvers.choose(features) {
            features = with_hints;
            candidates
                .extend(hints.into_iter().map(|(n, hint)| Candidate::hinted(&mut view, n, hint)));
        }
        let claims: Vec<ClaimId> = candidates.iter().filter_map(Candidate::claim).collect();
        Prover {
            nodes: view.encoding.reachable_nodes(),
            base: Search::new(features, Purpose { part: "base", claims: claims.clone() }),
            claims,
            features,
            solvers: None,
            view,
            candidates,
            lemmas: Vec::new(),
            step: None,
            forward: None,
            cursor: Cursor::default(),
            k: 0,
            used: Duration::ZERO,
            over: false,
            failures: 0,
            failure: None,
            query_time: LIMITS.step_query,
            ran_out: false,
        }
    }

    /// The time spent so far.
    pub(super) fn used(&self) -> Duration {
        self.used
    }

    /// Drops claims that are settled.
    pub(super) fn forget_settled(&mut self, context: &EngineContext) {
        for c in &mut self.candidates {
            c.open &= c.claim().is_none_or(|claim| context.is_open(claim));
        }
    }

    /// True if no claim is left to prove.
    pub(super) fn is_over(&self) -> bool {
        self.over || !self.candidates.iter().any(|c| c.open && c.claim().is_some())
    }

    /// Why each open claim is not proved yet.
    pub(super) fn obstacles(&self) -> Vec<(ClaimId, String)> {
        let open = self.candidates.iter().filter(|c| c.open);
        open.filter_map(|c| Some((c.claim()?, self.why(c)))).collect()
    }

    /// Why a claim is not proved yet; `None` if it is not an open claim of this prover.
    pub(super) fn obstacle(&self, claim: ClaimId) -> Option<String> {
        let candidate = self.candidates.iter().find(|c| c.open && c.claim() == Some(claim))?;
        // At the first depth nothing is known yet.
        (candidate.why.is_some() || self.k > 1).then(|| self.why(candidate))
    }

    fn why(&self, candidate: &Candidate) -> String {
        candidate.why.clone().unwrap_or_else(|| {
            format!(
                "not {}-inductive; an invariant as a hint in a node would help",
                self.k.saturating_sub(1)
            )
        })
    }

    /// Conjectures that claims are inductive as they stand, except those that a known run decides.
    pub(super) fn conjecture(&mut self, context: &EngineContext) {
        let stands = |c: &Candidate| match &c.source {
            Source::Claim(q) => {
                let never_met = c.exclusion.as_ref().is_some_and(Vec::is_empty);
                c.open
                    && !context.blackboard().has_run(q.claim)
                    && (q.meaning == TargetMeaning::Refutes || never_met)
            }
            Source::Hint => true,
        };
        let standing: Vec<&Candidate> =
            self.candidates.iter().filter(|c| stands(c) && c.exclusion.is_some()).collect();
        let claims = context.system().claims();
        let always = |c: ClaimId| matches!(claims[c.index()].kind, ClaimKind::Always(_));
        let mut guesses = Vec::new();
        for c in &standing {
            let by_node = c.exclusion.as_deref().unwrap_or(&[]);
            let (supports, wanted) = (c.claim().is_none_or(always), c.claim().is_some());
            guesses.push(Guess { by_node, supports, wanted });
        }
        let offered = invariants(&mut self.view.encoding, &self.nodes, &guesses);
        let mut answers = Vec::new();
        for (candidate, invariants) in standing.into_iter().zip(offered) {
            let Source::Claim(q) = &candidate.source else { continue };
            for invariant in invariants {
                answers
                    .push((q.claim, q.never_met(self.view.proof(Evidence::Invariant(invariant)))));
            }
        }
        // First what is checked fast: a claim that it settles is not conjectured again.
        self.conjecture_ranges(context, answers.is_empty());
        if !answers.is_empty() {
            context.conjecture(answers);
        }
    }

    /// Conjectures that ranges of ints exclude the targets of claims; with `all`, one invariant for
    /// all claims if there are many.
    fn conjecture_ranges(&mut self, context: &EngineContext, all: bool) {
        let many = context.claims().len() >= context.config().options.many_claims;
        if !many && self.view.encoding.system.vars().len() < LIMITS.ranged_variables {
            return;
        }
        let is_open = |c: &&Candidate| {
            c.open && c.claim().is_some_and(|claim| !context.blackboard().has_run(claim))
        };
        let open: Vec<&Candidate> = self.candidates.iter().filter(is_open).collect();
        let few = open.len() <= LIMITS.single_ranges;
        if open.is_empty() || !(few || all) {
            return;
        }
        let e = &mut self.view.encoding;
        let Some(ranges) = Ranges::of(e) else { return };
        // By the variables in the invariant, all if there is no list.
        let mut invariants: BTreeMap<Option<Vec<usize>>, Option<NodeFormulas>> = BTreeMap::new();
        let mut found = Vec::new();
        for c in open {
            let Source::Claim(q) = &c.source else { continue };
            let needed = match (&c.exclusion, few) {
                (Some(by_node), true) => ranges.needed(&mut e.pool, by_node),
                _ => None,
            };
            if needed.is_none() && !(many && all) {
                continue;
            }
            let invariant = invariants.entry(needed).or_insert_with_key(|variables| {
                ranges.invariant(e, &self.nodes, variables.as_deref())
            });
            found.extend(invariant.clone().map(|i| (q, i)));
        }
        let answers: Vec<(ClaimId, Verdict)> = found
            .into_iter()
            .map(|(q, i)| (q.claim, q.never_met(self.view.proof(Evidence::Invariant(i)))))
            .collect();
        if !answers.is_empty() {
            context.conjecture(answers);
        }
    }

    /// Tries the next depth.
    pub(super) fn advance(&mut self, context: &EngineContext) {
        let begun = Instant::now();
        let (all, features) = (&context.config().solvers, self.features);
        let solvers = self
            .solvers
            .get_or_insert_with(|| all.candidates(features).into_iter().cloned().collect());
        if solvers.is_empty() || self.failures >= LIMITS.failures {
            let why = self.failure.clone().unwrap_or_else(|| "no solver for this was found".into());
            for c in self.candidates.iter_mut().filter(|c| c.open) {
                c.why.get_or_insert_with(|| why.clone());
            }
            self.over = true;
            return;
        }
        if self.read_facts(context) && self.k > 0 {
            self.settle_implied(context);
            self.begin_again(context);
        }
        let options = &context.config().options.induction;
        if self.k == 0 {
            self.settle_implied(context);
            self.k = options.first_k.max(1);
        }
        if options.max_k.is_some_and(|max| self.k > self.view.depth(max)) {
            self.over = true;
            let (max, open) =
                (options.max_k.unwrap_or(0), self.candidates.iter_mut().filter(|c| c.open));
            open.for_each(|c| {
                c.why = Some(format!("not inductive up to depth {max}, which is the limit"))
            });
        } else {
            if self.prove_at(context, self.k) {
                // New lemmas may imply other claims.
                self.settle_implied(context);
            }
            self.catch_up(context);
            let open = self.candidates.iter().any(|c| c.open && c.claim().is_some());
            if options.forward && open && self.k >= LIMITS.first_forward && !context.is_cancelled()
            {
                self.look_forward(context);
            }
            context.progress(Some(self.k), format!("k = {}", self.k));
            self.k += 1;
        }
        self.used += begun.elapsed();
    }

    /// Adds invariants from the blackboard as lemmas; true if there are new ones. Conjuncts of
    /// earlier lemmas are left out: the new lemma depends on those lemmas.
    fn read_facts(&mut self, context: &EngineContext) -> bool {
        let before = self.lemmas.len();
        for fact in context.blackboard().facts_since(&mut self.cursor) {
            let Fact::Invariant(found) = &*fact else { continue };
            if found.engine == context.engine
                && self.view.is_plain()
                && self.lemmas.len() > LIMITS.own_lemmas
            {
                continue;
            }
            if let Some(lemma) = self.view.lemma(found) {
                let (by_node, rests_on) = beyond(&mut self.view.encoding, &self.lemmas, &lemma);
                self.lemmas.push(Lemma {
                    by_node,
                    k: found.k,
                    loop_free: found.loop_free,
                    no_restart: found.no_restart,
                    rests_on,
                });
            }
        }
        self.lemmas.len() > before
    }

    /// With new lemmas, tries small depths again: such proofs are cheap to find and to check.
    fn begin_again(&mut self, context: &EngineContext) {
        for k in 1..self.k.min(LIMITS.retried_depth + 1) {
            let open = self.candidates.iter().any(|c| c.open && c.claim().is_some());
            if !open || context.is_cancelled() {
                return;
            }
            if self.prove_at(context, k) {
                self.settle_implied(context);
            }
        }
    }

    /// Proves claims that follow from lemmas. Only claims without an `exclusion`: the others are
    /// proved by the first step case.
    fn settle_implied(&mut self, context: &EngineContext) {
        let able = |c: &Candidate| c.open && c.exclusion.is_none();
        let open: Vec<usize> =
            (0..self.candidates.len()).filter(|&c| able(&self.candidates[c])).collect();
        for c in self.preserved(context, &[], open, 0) {
            let Ok(rests_on) = self.proof_core(context, &[], c, 0) else { continue };
            let closed =
                close(&mut self.view.encoding, &self.nodes, &self.lemmas, &rests_on.lemmas);
            self.conclude(context, c, &closed);
        }
    }

    /// Proves the candidates that are `k`-inductive; true if there are any. Those that are easy
    /// come first, in one set: with a hard one among them, no query about all may ever end.
    fn prove_at(&mut self, context: &EngineContext, k: u32) -> bool {
        let open = self.candidates.iter().filter(|c| c.open && c.exclusion.is_some()).count();
        if open > 1 {
            (self.query_time, self.ran_out) = (LIMITS.brief_query, false);
            let found = self.prove_set(context, k);
            self.query_time = LIMITS.step_query;
            if found || !self.ran_out {
                return found;
            }
        }
        self.prove_set(context, k)
    }

    fn prove_set(&mut self, context: &EngineContext, k: u32) -> bool {
        let able = |c: &Candidate| c.open && c.exclusion.is_some();
        let mut set: Vec<usize> =
            (0..self.candidates.len()).filter(|&c| able(&self.candidates[c])).collect();
        loop {
            set = self.preserved(context, &set.clone(), set, k);
            if set.is_empty() || context.is_cancelled() {
                return false;
            }
            let clear = self.clear_base(context, &set, k);
            if clear.len() == set.len() {
                break;
            }
            set = clear;
        }
        self.add_lemmas(context, &set, k)
    }

    /// The greatest subset of `set` that holds in a state if the assumed candidates of the subset
    /// hold in the `k` states before. For `k = 0`, nothing is assumed.
    fn preserved(
        &mut self,
        context: &EngineContext,
        assumed: &[usize],
        mut set: Vec<usize>,
        k: u32,
    ) -> Vec<usize> {
        let mut assumed = assumed.to_vec();
        while !set.is_empty() && !context.is_cancelled() {
            match self.ask_step(context, &assumed, &set, k) {
                Ok(Preserved::Yes) => return set,
                Ok(Preserved::No(c)) => {
                    set.retain(|&s| s != c);
                    assumed.retain(|&s| s != c);
                }
                Err(reason) if set.len() == 1 => {
                    self.candidates[set[0]].why = Some(format!("stopped at depth {k}: {reason}"));
                    return Vec::new();
                }
                Err(_) => {
                    // One of them is too hard: try each candidate alone. Drop those that are not
                    // shown, and then show the others again under fewer assumptions.
                    let mut kept = Vec::new();
                    for &c in &set {
                        match self.ask_step(context, &assumed, &[c], k) {
                            Ok(Preserved::Yes) => kept.push(c),
                            Ok(Preserved::No(_)) => {}
                            Err(reason) => {
                                self.candidates[c].why =
                                    Some(format!("stopped at depth {k}: {reason}"))
                            }
                        }
                    }
                    if kept.len() == set.len() {
                        return kept;
                    }
                    assumed.retain(|c| kept.contains(c));
                    set = kept;
                }
            }
        }
        Vec::new()
    }

    /// Queries the step case; tries the next solver if one fails.
    fn ask_step(
        &mut self,
        context: &EngineContext,
        assumed: &[usize],
        shown: &[usize],
        k: u32,
    ) -> Result<Preserved, Reason> {
        // Otherwise everything would be encoded again for a session that may not start.
        if context.is_cancelled() {
            return Err(Reason::Interrupted);
        }
        let options = &context.config().options.induction;
        let assumable = Assumable {
            loop_free: options.loop_free,
            compress: options.compress,
            no_restart: options.no_restart,
        };
        let mut failure = Reason::NotStarted("no solver for this was found".into());
        for solver in self.solvers.iter().flatten() {
            let step = self.step.get_or_insert_with(|| {
                let session = context.session_with_cores(
                    solver,
                    &Purpose { part: "step", claims: self.claims.clone() },
                );
                let e = &mut self.view.encoding;
                let unrolling = match options.abstraction {
                    true => Unrolling::abstracted(e, session, Origin::Anywhere),
                    false => Unrolling::new(e, session, Origin::Anywhere),
                };
                StepCase::new(unrolling, self.candidates.len())
            });
            let all: Vec<Claimed<'_>> = self
                .candidates
                .iter()
                .map(|c| Claimed {
                    exclusion: c.exclusion.as_deref().unwrap_or(&[]),
                    targets: &c.targets,
                })
                .collect();
            let limits = Limits::time(self.query_time);
            let e = &mut self.view.encoding;
            match step.ask(e, &self.lemmas, &all, assumed, shown, k, assumable, limits) {
                Ok(answer) => {
                    self.failures = 0;
                    return Ok(answer);
                }
                Err(reason) => {
                    self.step = None;
                    failure = reason;
                    if failure == Reason::Interrupted || context.is_cancelled() {
                        break;
                    }
                }
            }
        }
        self.ran_out = true;
        // A longer query may have an answer.
        if self.query_time == LIMITS.step_query || failure != Reason::Timeout {
            self.failures += 1;
            self.failure = Some(failure.to_string());
        }
        Err(failure)
    }

    /// The assumptions that the proof of candidate `c` of a preserved set needs, from the core.
    fn proof_core(
        &mut self,
        context: &EngineContext,
        set: &[usize],
        c: usize,
        k: u32,
    ) -> Result<RestsOn, Reason> {
        match self.ask_step(context, set, &[c], k)? {
            Preserved::No(_) => Err(Reason::Garbage("the solver changed its mind".into())),
            Preserved::Yes if self.nothing_to_show(c, k) => Ok(RestsOn::default()),
            Preserved::Yes => match &mut self.step {
                Some(step) => step.rests_on(),
                None => Err(Reason::NotAvailable("core")),
            },
        }
    }

    /// True if the control graph is at no node of the candidate's targets after `k` steps, so that
    /// there was no query.
    fn nothing_to_show(&mut self, c: usize, k: u32) -> bool {
        let mut nodes = self.nodes.clone();
        for _ in 0..k {
            nodes = self.view.encoding.successors(&nodes);
        }
        let targets = self.candidates[c].targets.clone();
        targets.iter().all(|t| t.meaning(&mut self.view.encoding, &nodes).is_none())
    }

    /// Adds the candidates of a set that passed step case and base case as lemmas; true unless
    /// cancelled.
    fn add_lemmas(&mut self, context: &EngineContext, set: &[usize], k: u32) -> bool {
        let first = self.lemmas.len();
        let mut found = Vec::new();
        for &c in set {
            let rests_on = self.proof_core(context, set, c, k).unwrap_or_else(|_| RestsOn {
                // Without a core, assume that everything is needed.
                candidates: set.to_vec(),
                lemmas: (0..first).collect(),
                loop_free: true,
                no_restart: true,
            });
            found.push(rests_on);
        }
        if context.is_cancelled() {
            return false;
        }
        for (&c, on) in set.iter().zip(&found) {
            let others = on
                .candidates
                .iter()
                .filter_map(|d| set.iter().position(|s| s == d))
                .map(|i| first + i);
            self.lemmas.push(Lemma {
                by_node: self.candidates[c].exclusion.clone().unwrap_or_default(),
                k,
                loop_free: on.loop_free,
                no_restart: on.no_restart,
                rests_on: on.lemmas.iter().copied().chain(others).collect(),
            });
        }
        for (i, &c) in set.iter().enumerate() {
            let closed = close(&mut self.view.encoding, &self.nodes, &self.lemmas, &[first + i]);
            self.conclude(context, c, &closed);
        }
        self.publish(context, first);
        true
    }

    /// Closes a candidate; if it is a claim, proposes its proof.
    fn conclude(&mut self, context: &EngineContext, c: usize, closed: &super::lemma::Closed) {
        let candidate = &mut self.candidates[c];
        candidate.open = false;
        let Source::Claim(q) = &candidate.source else { return };
        let Ok(invariant) = closed.portable(&self.view.encoding) else { return };
        let (k, loop_free, no_restart) = (closed.k, closed.loop_free, closed.no_restart);
        let evidence = if k == 1 && !loop_free && !no_restart {
            Evidence::Invariant(invariant)
        } else {
            Evidence::KInductive { k, invariant, loop_free, no_restart }
        };
        let verdict: Verdict = q.never_met(self.view.proof(evidence));
        context.propose(q.claim, verdict);
    }

    /// Publishes the lemmas from `first` on.
    fn publish(&mut self, context: &EngineContext, first: usize) {
        if !self.view.is_plain() {
            return;
        }
        let roots: Vec<usize> = (first..self.lemmas.len()).collect();
        let closed = close(&mut self.view.encoding, &self.nodes, &self.lemmas, &roots);
        let Ok(formulas) = closed.portable(&self.view.encoding) else { return };
        let (k, loop_free, no_restart) = (closed.k, closed.loop_free, closed.no_restart);
        let invariant = ProvedInvariant {
            formulas,
            k,
            loop_free,
            no_restart,
            engine: context.engine.to_string(),
        };
        context
            .publish(Fact::Invariant(invariant), format!("{} invariants at k = {k}", roots.len()));
        // Skip the engine's own facts.
        let _ = context.blackboard().facts_since(&mut self.cursor);
    }
}

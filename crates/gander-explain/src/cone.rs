//! Which laws formulas depend on.
//!
//! The *cone* of some formulas has the laws that define their variables, those that define the variables of these laws, and so on.
//! Around it are rings: what limits the values of variables in the cone (a *limit*: an assertion, say), with a cone of its own, then
//! what limits the variables that came in with it, and so on. A variable that most limits depend on brings in none.
//!
//! That is a guess of what a proof rests on. A refutation that needs no more than these laws stands, but a path that obeys them
//! may be none of the system.

use gander_system::VarId;
use gander_term::{Op, Pool, SymbolId, TermId};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::laws::{Laws, When, defined_symbol};

/// Something that is demanded of states, as laws say together: `assert a`, or what `a == (b and c)` makes of that, of `b`.
pub(crate) struct Limit {
    /// The states: those at the beginning of runs, or those behind steps.
    first: bool,
    /// The laws that say so.
    by: Vec<u32>,
    /// What it depends on, but for variables that most limits depend on.
    on: Vec<VarId>,
}

/// Limits are many if more than this depend on a variable, and more than a part of them.
const MANY: usize = 8;
const PART_OF_LIMITS: usize = 5;

/// How many variables are looked at to find out what limits depend on; those that are left then bring in nothing.
const MOST_LOOKS: usize = 4_000_000;

/// Rings around a cone; what is further away is no nearer than anything else.
pub(crate) const MOST_RINGS: u32 = 3;

/// What limits states.
pub(crate) fn limits(laws: &Laws, pool: &Pool) -> Vec<Limit> {
    let mut found = Vec::new();
    for (when, first) in [(When::First, true), (When::Step, false)] {
        let (definition, mut limits) = (definitions(laws, when), Vec::new());
        let symbols = if first { &laws.current } else { &laws.next };
        for (i, law) in laws.list.iter().enumerate() {
            let here = law.when == When::State || (law.when == when && law.defines.is_none());
            if here && law.element.is_some() {
                divide(laws, pool, &definition, symbols, (i as u32, law.said), &mut limits);
            }
        }
        let mut supports =
            Supports { laws, definition: &definition, met: vec![0; laws.about.len()], question: 0, looks: 0 };
        let supports: Vec<Vec<VarId>> = limits.iter().map(|(_, vars)| supports.of(vars)).collect();
        let mut dependent = vec![0usize; laws.about.len()];
        supports.iter().flatten().for_each(|v| dependent[v.index()] += 1);
        let most = MANY.max(limits.len() / PART_OF_LIMITS);
        for ((by, _), mut on) in limits.into_iter().zip(supports) {
            on.retain(|v| dependent[v.index()] <= most);
            found.push(Limit { first, by, on });
        }
    }
    found
}

/// By variable: the law that defines it there, if it is one.
fn definitions(laws: &Laws, when: When) -> Vec<Option<u32>> {
    let mut definition = vec![None; laws.about.len()];
    let mut several = vec![false; laws.about.len()];
    for (i, law) in laws.list.iter().enumerate().filter(|(_, law)| law.when == when) {
        if let Some(v) = law.defines {
            several[v.index()] |= definition[v.index()].replace(i as u32).is_some();
        }
    }
    definition.iter_mut().zip(several).filter(|(_, several)| *several).for_each(|(d, _)| *d = None);
    definition
}

/// The conjuncts of what a law says, those of definitions of variables that have to be true among them.
fn divide(
    laws: &Laws,
    pool: &Pool,
    definition: &[Option<u32>],
    here: &FxHashMap<SymbolId, VarId>,
    (law, said): (u32, TermId),
    found: &mut Vec<(Vec<u32>, Vec<VarId>)>,
) {
    let var = |t: TermId| pool.as_symbol(t).and_then(|s| laws.current.get(&s).or_else(|| laws.next.get(&s)).copied());
    let mut met: FxHashSet<VarId> = FxHashSet::default();
    let mut stack = vec![(said, vec![law])];
    while let Some((t, by)) = stack.pop() {
        if pool.op(t) == Op::And {
            stack.extend(pool.args(t).iter().map(|&a| (a, by.clone())));
            continue;
        }
        let defining = var(t).and_then(|v| definition[v.index()].map(|d| (v, d)));
        if let Some((v, d)) = defining {
            let said = laws.list[d as usize].said;
            let value = match (pool.op(said), pool.args(said)) {
                (Op::Eq, &[a, b]) if var(a) == Some(v) => Some(b),
                (Op::Eq, &[a, b]) if var(b) == Some(v) => Some(a),
                _ => None,
            };
            // A value of the state before is as it was.
            let is_here = |e: TermId| pool.as_symbol(e).is_some_and(|s| here.contains_key(&s));
            if let Some(value) = value.filter(|&e| pool.op(e) == Op::And || is_here(e)) {
                if met.insert(v) {
                    let mut by = by;
                    by.push(d);
                    stack.push((value, by));
                }
                continue;
            }
        }
        let symbols = pool.free_symbols(&[t]);
        let known = |s| laws.current.get(s).or_else(|| laws.next.get(s)).copied();
        found.push((by, symbols.iter().filter_map(known).collect()));
    }
}

/// What variables depend on within a state.
struct Supports<'l> {
    laws: &'l Laws,
    definition: &'l [Option<u32>],
    /// By variable: the last question that it was met in.
    met: Vec<u32>,
    question: u32,
    looks: usize,
}

impl Supports<'_> {
    /// The variables that these depend on, themselves among them; none if too many were looked at.
    fn of(&mut self, vars: &[VarId]) -> Vec<VarId> {
        if self.looks > MOST_LOOKS {
            return Vec::new();
        }
        self.question += 1;
        let question = self.question;
        let mut all: Vec<VarId> = Vec::new();
        let mut at = 0;
        let mut add = |v: VarId, all: &mut Vec<VarId>| {
            if std::mem::replace(&mut self.met[v.index()], question) != question {
                all.push(v);
            }
        };
        vars.iter().for_each(|&v| add(v, &mut all));
        while let Some(&v) = all.get(at) {
            at += 1;
            if let Some(d) = self.definition[v.index()] {
                self.laws.list[d as usize].here.iter().for_each(|&w| add(w, &mut all));
            }
        }
        self.looks += all.len();
        all
    }
}

/// What a cone is made around.
pub(crate) struct Centre<'c> {
    /// Formulas over one state.
    pub goal: &'c [TermId],
    /// The steps of paths that may break them.
    pub steps: u32,
    /// Formulas that may be assumed of the states before.
    pub lemmas: &'c [TermId],
    /// The number of rings.
    pub rings: u32,
}

/// What formulas depend on; see the module's documentation.
pub(crate) struct Cone {
    /// Laws by their position, in order.
    pub laws: Vec<u32>,
    /// Lemmas by their position, in order: those that speak of nothing else than the cone does.
    pub lemmas: Vec<usize>,
}

impl Cone {
    /// The cone of formulas, and rings around it.
    pub(crate) fn around(laws: &Laws, pool: &Pool, centre: &Centre<'_>) -> Cone {
        let vars = |t: TermId| -> Vec<VarId> {
            pool.free_symbols(&[t]).iter().filter_map(|s| laws.current.get(s).copied()).collect()
        };
        let n = laws.about.len();
        let mut search = Search {
            laws,
            reached: FxHashSet::default(),
            ahead: Wave::new(n),
            before: Wave::new(n),
            first: Wave::new(n),
            // The states between are both behind a step and before one.
            long: centre.steps > 1,
        };
        for &t in centre.goal {
            vars(t).into_iter().for_each(|v| {
                search.ahead.add(v);
                search.before.add(v);
                search.first.add(v);
            });
        }
        let is_var = |s| laws.current.contains_key(&s);
        let candidates: Vec<(Option<VarId>, Vec<VarId>)> = centre
            .lemmas
            .iter()
            .map(|&t| (defined_symbol(pool, t, is_var).and_then(|s| laws.current.get(&s).copied()), vars(t)))
            .collect();
        let mut defining: FxHashMap<VarId, Vec<usize>> = FxHashMap::default();
        for (i, (v, _)) in candidates.iter().enumerate() {
            if let Some(v) = v {
                defining.entry(*v).or_default().push(i);
            }
        }
        let mut chosen = vec![false; candidates.len()];
        for ring in 0..=centre.rings.min(MOST_RINGS) {
            if ring > 0 {
                // What steps define, lemmas may say of the state before.
                for v in search.surround() {
                    defining.get(&v).into_iter().flatten().for_each(|&i| chosen[i] = true);
                }
            }
            loop {
                search.follow();
                let Some(v) = search.before.pop() else { break };
                // What a lemma gives the value of is as good as known from what it mentions.
                for &i in defining.get(&v).into_iter().flatten() {
                    chosen[i] = true;
                    candidates[i].1.iter().for_each(|&w| search.before.add(w));
                }
                search.limit(v);
            }
            search.begin();
        }
        for (i, (_, mentioned)) in candidates.iter().enumerate() {
            chosen[i] |= mentioned.iter().all(|v| search.before.seen[v.index()]);
        }
        let lemmas = (0..candidates.len()).filter(|&i| chosen[i]).collect();
        let mut laws: Vec<u32> = search.reached.into_iter().collect();
        laws.sort_unstable();
        Cone { laws, lemmas }
    }
}

/// Variables that were reached and are not yet looked at.
struct Wave {
    seen: Vec<bool>,
    open: Vec<VarId>,
}

impl Wave {
    fn new(n: usize) -> Wave {
        Wave { seen: vec![false; n], open: Vec::new() }
    }

    fn add(&mut self, v: VarId) {
        if !std::mem::replace(&mut self.seen[v.index()], true) {
            self.open.push(v);
        }
    }

    fn pop(&mut self) -> Option<VarId> {
        self.open.pop()
    }
}

struct Search<'l> {
    laws: &'l Laws,
    reached: FxHashSet<u32>,
    /// Variables of the states behind steps.
    ahead: Wave,
    /// Variables of the state before them.
    before: Wave,
    /// Variables of a start.
    first: Wave,
    long: bool,
}

impl Search<'_> {
    /// What limits variables that were reached so far; gives the variables whose definitions limit the state before steps.
    fn surround(&mut self) -> Vec<VarId> {
        let laws = self.laws;
        let (ahead, before, first) = (self.ahead.seen.clone(), self.before.seen.clone(), self.first.seen.clone());
        let mut defined = Vec::new();
        for limit in &laws.limits {
            let about = |seen: &[bool]| limit.on.iter().any(|v| seen[v.index()]);
            if about(if limit.first { &first } else { &ahead }) {
                self.reached.extend(&limit.by);
                let wave = if limit.first { &mut self.first } else { &mut self.ahead };
                limit.on.iter().for_each(|&v| wave.add(v));
            }
            if !limit.first && about(&before) {
                defined.extend(limit.by.iter().filter_map(|&i| laws.list[i as usize].defines));
                limit.on.iter().for_each(|&v| self.before.add(v));
            }
        }
        defined
    }

    /// Follows all variables behind a step.
    fn follow(&mut self) {
        while let Some(v) = self.ahead.pop() {
            for &i in &self.laws.about[v.index()] {
                let law = &self.laws.list[i as usize];
                let applies = law.when != When::First && (law.defines.is_some() || law.here.contains(&v));
                if applies {
                    self.reach(i);
                }
            }
        }
    }

    fn reach(&mut self, i: u32) {
        let law = &self.laws.list[i as usize];
        self.reached.insert(i);
        law.here.iter().for_each(|&w| self.ahead.add(w));
        for &w in &law.before {
            self.before.add(w);
            if self.long {
                self.ahead.add(w);
            }
        }
    }

    /// Laws that limit the state before the steps, and the steps from it, by one of its variables.
    fn limit(&mut self, v: VarId) {
        if self.long {
            self.first.add(v);
        }
        for &i in &self.laws.about[v.index()] {
            let law = &self.laws.list[i as usize];
            match law.when {
                When::First => {}
                When::State => {
                    self.reached.insert(i);
                    law.here.iter().for_each(|&w| self.before.add(w));
                }
                When::Step if law.defines.is_none() => self.reach(i),
                When::Step => {}
            }
        }
    }

    /// Follows all variables of a start.
    fn begin(&mut self) {
        while let Some(v) = self.first.pop() {
            for &i in &self.laws.about[v.index()] {
                let law = &self.laws.list[i as usize];
                if law.when != When::Step {
                    self.reached.insert(i);
                    law.here.iter().for_each(|&w| self.first.add(w));
                }
            }
        }
    }
}

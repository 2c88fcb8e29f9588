//! The first proof, from formulas that are known to prove the claim.
//!
//! Evidence often has hundreds of formulas, and a model a thousand laws, of which a claim needs some dozens. So solvers are told of the
//! cone of the claim and of rings around it ([`crate::cone`]) until the claim follows, then of what the formulas need that it follows
//! from, and so on. What a formula was found to follow from is remembered for later claims about the same model.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::cone::MOST_RINGS;
use crate::explainer::{Explainer, Stop};
use crate::path::{Found, From, Grounds, Wanted, WatchId};
use crate::proof::{Proof, Used};

/// What shows that no path breaks a formula, by the formula, the beginning of the path and its steps.
pub(crate) type Shown = FxHashMap<(WatchId, From, u32), Arc<Grounds>>;

/// What a proof is looked for in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Reach {
    /// The cone of what is to be shown, and so many rings around it.
    Rings(u32),
    /// All laws and formulas.
    Everything,
}

impl Explainer<'_> {
    /// A small proof of the claim from formulas that are k-inductive in the whole model; none if solvers do not agree with that.
    pub(crate) fn reduce_first(&mut self, k: u32, formulas: &[WatchId]) -> Result<Option<Proof>, Stop> {
        let Some(property) = self.property else { return Ok(None) };
        let none = || Used { parts: self.all().complement(), laws: self.path.no_laws() };
        let (mut needed, mut open, mut rough) = (vec![property], vec![property], none());
        while !open.is_empty() {
            let Some(grounds) = self.step_grounds(k, &needed, &open, formulas)? else { return Ok(None) };
            for f in open.drain(..) {
                self.path.shown.insert((f, From::Anywhere, k), Arc::clone(&grounds));
            }
            // What these rest on has to be shown as well, unless that is done.
            let mut found = vec![grounds];
            while let Some(grounds) = found.pop() {
                rough = rough.and(&Used { parts: grounds.parts.clone(), laws: grounds.laws.clone() });
                for &f in &grounds.watched {
                    if needed.contains(&f) {
                        continue;
                    }
                    needed.push(f);
                    match self.path.shown.get(&(f, From::Anywhere, k)) {
                        Some(known) => found.push(Arc::clone(known)),
                        None => open.push(f),
                    }
                }
            }
        }
        for steps in 0..k {
            let known = |e: &Self, f: WatchId| e.path.shown.get(&(f, From::Start, steps)).cloned();
            let open: Vec<WatchId> = needed.iter().copied().filter(|&f| known(self, f).is_none()).collect();
            if !open.is_empty() {
                let Some(grounds) = self.base_grounds(steps, &open, &rough)? else { return Ok(None) };
                for f in open {
                    self.path.shown.insert((f, From::Start, steps), Arc::clone(&grounds));
                }
            }
            for grounds in needed.iter().filter_map(|&f| known(self, f)) {
                rough = rough.and(&Used { parts: grounds.parts.clone(), laws: grounds.laws.clone() });
            }
        }
        self.refine(k, &needed, rough)
    }

    /// Why formulas hold behind k steps along which these and others do.
    fn step_grounds(
        &mut self,
        k: u32,
        needed: &[WatchId],
        open: &[WatchId],
        formulas: &[WatchId],
    ) -> Result<Option<Arc<Grounds>>, Stop> {
        let all = self.all();
        let (mut reach, mut before) = (Reach::Rings(self.path.rings), (0, 0));
        loop {
            let near = match reach {
                Reach::Rings(rings) => self.path.tell_cone(open, k, formulas, rings),
                Reach::Everything => {
                    self.path.tell_all();
                    formulas.to_vec()
                }
            };
            let mut along = needed.to_vec();
            along.extend(near.into_iter().filter(|w| !needed.contains(w)));
            // A ring that adds little is not worth a question.
            let now = (self.path.size(), along.len());
            let is_more = |a: usize, b: usize| a > b + b / 4;
            let grown = is_more(now.0, before.0) || is_more(now.1, before.1);
            if grown || reach == Reach::Everything {
                before = now;
                let wanted = Wanted { kept: &all, from: From::Anywhere, steps: k, along: &along, broken: open };
                if let Found::None(grounds) = self.ask(&wanted)? {
                    if let Reach::Rings(rings) = reach {
                        self.path.rings = rings;
                    }
                    return Ok(Some(Arc::new(grounds)));
                }
            }
            reach = match reach {
                Reach::Rings(rings) if rings < MOST_RINGS => Reach::Rings(rings + 1),
                Reach::Rings(_) => Reach::Everything,
                Reach::Everything => return Ok(None),
            };
        }
    }

    /// Why formulas hold behind so many steps from a start; what is used anyway is preferred.
    fn base_grounds(&mut self, steps: u32, open: &[WatchId], used: &Used) -> Result<Option<Arc<Grounds>>, Stop> {
        let all = self.all();
        for kept in [&used.parts, &all, &all] {
            let wanted = Wanted { kept, from: From::Start, steps, along: &[], broken: open };
            if let Found::None(grounds) = self.ask(&wanted)? {
                return Ok(Some(Arc::new(grounds)));
            }
            if *kept == all {
                self.path.tell_all();
            }
        }
        Ok(None)
    }
}

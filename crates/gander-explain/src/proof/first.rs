//! Reduces the first proof, from formulas that are known to prove the claim.
//!
//! Evidence often has hundreds of formulas, and a model a thousand constraints, of which a claim
//! needs some dozens. So only the cone of the claim and rings around it
//! ([`crate::unrolling::cone`]) are asserted until the claim follows, then the cones of the
//! formulas that it follows from, and so on. The grounds of each formula are kept for later claims
//! about the same model.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::explainer::{Explainer, Stop};
use crate::proof::{Proof, Used};
use crate::unrolling::cone::MAX_RINGS;
use crate::unrolling::path::{From, Grounds, PathAnswer, PathQuery, WatchId};

/// The grounds on which no path violates a formula, by the formula, the start of the path and its
/// length.
pub(crate) type KnownGrounds = FxHashMap<(WatchId, From, u32), Arc<Grounds>>;

/// The constraints and formulas available for a step case.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Reach {
    /// The cone of the goal, and this number of rings around it.
    Rings(u32),
    /// All constraints and formulas.
    Everything,
}

impl Explainer<'_> {
    /// A small proof of the claim from formulas that are k-inductive in the whole model; `None` if
    /// a solver does not confirm it.
    pub(crate) fn reduce_first(
        &mut self,
        k: u32,
        formulas: &[WatchId],
    ) -> Result<Option<Proof>, Stop> {
        let Some(property) = self.property else { return Ok(None) };
        let none =
            || Used { parts: self.all().complement(), constraints: self.path.no_constraints() };
        let (mut needed, mut open, mut rough) = (vec![property], vec![property], none());
        while !open.is_empty() {
            let Some(grounds) = self.step_grounds(k, &needed, &open, formulas)? else {
                return Ok(None);
            };
            for f in open.drain(..) {
                self.path.known_grounds.insert((f, From::Anywhere, k), Arc::clone(&grounds));
            }
            // The formulas that were used need grounds as well, unless they are known.
            let mut found = vec![grounds];
            while let Some(grounds) = found.pop() {
                rough = rough.union(&Used {
                    parts: grounds.parts.clone(),
                    constraints: grounds.constraints.clone(),
                });
                for &f in &grounds.watched {
                    if needed.contains(&f) {
                        continue;
                    }
                    needed.push(f);
                    match self.path.known_grounds.get(&(f, From::Anywhere, k)) {
                        Some(known) => found.push(Arc::clone(known)),
                        None => open.push(f),
                    }
                }
            }
        }
        for steps in 0..k {
            let known =
                |e: &Self, f: WatchId| e.path.known_grounds.get(&(f, From::Start, steps)).cloned();
            let open: Vec<WatchId> =
                needed.iter().copied().filter(|&f| known(self, f).is_none()).collect();
            if !open.is_empty() {
                let Some(grounds) = self.base_grounds(steps, &open, &rough)? else {
                    return Ok(None);
                };
                for f in open {
                    self.path.known_grounds.insert((f, From::Start, steps), Arc::clone(&grounds));
                }
            }
            for grounds in needed.iter().filter_map(|&f| known(self, f)) {
                rough = rough.union(&Used {
                    parts: grounds.parts.clone(),
                    constraints: grounds.constraints.clone(),
                });
            }
        }
        self.refine(k, &needed, rough)
    }

    /// The grounds on which `open` holds after k steps along which `needed` and some of `formulas`
    /// hold.
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
                Reach::Rings(rings) => self.path.assert_cone(open, k, formulas, rings),
                Reach::Everything => {
                    self.path.assert_all();
                    formulas.to_vec()
                }
            };
            let mut along = needed.to_vec();
            along.extend(near.into_iter().filter(|w| !needed.contains(w)));
            // Skip the query if the ring adds less than a quarter.
            let now = (self.path.size(), along.len());
            let is_more = |a: usize, b: usize| a > b + b / 4;
            let grown = is_more(now.0, before.0) || is_more(now.1, before.1);
            if grown || reach == Reach::Everything {
                before = now;
                let query = PathQuery {
                    kept: &all,
                    from: From::Anywhere,
                    steps: k,
                    along: &along,
                    violated: open,
                };
                if let PathAnswer::Refuted(grounds) = self.query(&query)? {
                    if let Reach::Rings(rings) = reach {
                        self.path.rings = rings;
                    }
                    return Ok(Some(Arc::new(grounds)));
                }
            }
            reach = match reach {
                Reach::Rings(rings) if rings < MAX_RINGS => Reach::Rings(rings + 1),
                Reach::Rings(_) => Reach::Everything,
                Reach::Everything => return Ok(None),
            };
        }
    }

    /// The grounds on which formulas hold after this many steps from a start. The parts already
    /// used are tried first.
    fn base_grounds(
        &mut self,
        steps: u32,
        open: &[WatchId],
        used: &Used,
    ) -> Result<Option<Arc<Grounds>>, Stop> {
        let all = self.all();
        for kept in [&used.parts, &all, &all] {
            let query = PathQuery { kept, from: From::Start, steps, along: &[], violated: open };
            if let PathAnswer::Refuted(grounds) = self.query(&query)? {
                return Ok(Some(Arc::new(grounds)));
            }
            if *kept == all {
                self.path.assert_all();
            }
        }
        Ok(None)
    }
}

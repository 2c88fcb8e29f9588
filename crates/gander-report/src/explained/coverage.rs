//! Coverage of a model by its properties: which elements proofs rest on (definitions 9 to 13 of E.
//! Ghassabani, Inductive Validity Cores, 2020).
//!
//! The definitions are about all minimal cores. As long as some may be missing, a core that was
//! found gives bounds: an element of a minimal core is in some core; an element that some core
//! lacks is not in every core; of other elements nothing is known.

use super::completeness::{Completeness, Share};
use super::{CoreStatus, ExplainView, NoCore, UnexplainedView};

/// How an element relates to the minimal cores of a property.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mark {
    /// In every core.
    Must,
    /// In some core, and not in every one.
    May,
    /// In some core, and perhaps in every one.
    Some,
    /// In no core, but the property itself refers to it.
    Claimed,
    /// In no core.
    Untouched,
    /// Not known: not all cores are known.
    Open,
}

/// The mark of each element for one of the results.
pub fn marks(view: &ExplainView, result: usize) -> Vec<Mark> {
    let r = &view.results[result];
    let n = view.elements.len();
    let (mut in_some, mut lacking) = (vec![false; n], vec![false; n]);
    for core in r.cores.iter().filter(|c| c.status != CoreStatus::Unchecked) {
        if core.status == CoreStatus::Minimal {
            core.elements.iter().for_each(|&e| in_some[e] = true);
        }
        let members: Vec<bool> = {
            let mut members = vec![false; n];
            core.elements.iter().for_each(|&e| members[e] = true);
            members
        };
        (0..n).filter(|&e| !members[e]).for_each(|e| lacking[e] = true);
    }
    let mut marks: Vec<Mark> = (0..n)
        .map(|e| match (in_some[e], lacking[e]) {
            (true, true) => Mark::May,
            (true, false) => Mark::Some,
            (false, _) if r.complete && r.about.contains(&e) => Mark::Claimed,
            (false, _) if r.complete => Mark::Untouched,
            (false, _) => Mark::Open,
        })
        .collect();
    r.must.iter().for_each(|&e| marks[e] = Mark::Must);
    marks
}

/// The coverage by one property.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PropertyCoverage {
    /// Its name.
    pub property: String,
    /// It is proved that the property fails.
    pub is_refuted: bool,
    /// The size of its first core.
    pub ivc: Share,
    /// Elements in some core.
    pub may: Share,
    /// Elements in every core; this is also non-deterministic coverage.
    pub must: Share,
}

/// Coverage of a model by one or all properties. Every number is a [`Share`], which says whether
/// it is exact.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Coverage {
    /// By property with a core.
    pub properties: Vec<PropertyCoverage>,
    /// Properties without a core, which cover nothing or may cover something.
    pub without_core: Vec<UnexplainedView>,
    /// Elements in some core of some property, or that a property itself refers to (MODEL).
    pub model: Share,
    /// Elements in no core of any property, and that no property refers to.
    pub uncovered: Vec<usize>,
    /// Elements of which it is not known whether some core of some property contains them.
    pub open: Vec<usize>,
    /// By node or transition: its name, those of its elements that some property touches.
    pub owners: Vec<(String, Share)>,
    /// Whether all this is exact.
    pub completeness: Completeness,
}

/// The coverage of a model.
pub fn coverage(view: &ExplainView) -> Coverage {
    let n = view.elements.len();
    let (mut touched, mut open) = (vec![false; n], vec![false; n]);
    let mut properties = Vec::new();
    for (i, r) in view.results.iter().enumerate() {
        let marks = marks(view, i);
        for (e, mark) in marks.iter().enumerate() {
            match mark {
                Mark::Must | Mark::May | Mark::Some | Mark::Claimed => touched[e] = true,
                Mark::Open => open[e] = true,
                Mark::Untouched => {}
            }
        }
        // Whether they are in a core or not.
        r.about.iter().for_each(|&e| touched[e] = true);
        let count = |wanted: &[Mark]| marks.iter().filter(|m| wanted.contains(m)).count();
        let (must, some, all) = (
            count(&[Mark::Must]),
            count(&[Mark::Must, Mark::May, Mark::Some]),
            count(&[Mark::Must, Mark::May, Mark::Some, Mark::Open]),
        );
        let ivc = match r.cores.first() {
            Some(core) if core.status == CoreStatus::Minimal => {
                Share::exact(core.elements.len(), n)
            }
            Some(core) if core.status == CoreStatus::Enough => {
                Share::between(must, core.elements.len(), n)
            }
            _ => Share::between(must, n, n),
        };
        properties.push(PropertyCoverage {
            property: r.title(),
            is_refuted: r.is_refuted(),
            ivc,
            may: Share::between(some, all, n),
            must: Share::between(must, must_at_most(view, i, must), n),
        });
    }
    // A property that is not decided may have any element in a core.
    let without_core = view.unexplained.clone();
    if without_core.iter().any(|u| u.status == NoCore::Undecided) {
        open.fill(true);
    }
    let open = |e: usize| open[e] && !touched[e];
    let mut owners: Vec<(String, usize, usize, usize)> = Vec::new();
    for (e, element) in view.elements.iter().enumerate() {
        let at =
            owners.iter().position(|(name, ..)| *name == element.owner).unwrap_or(owners.len());
        if at == owners.len() {
            owners.push((element.owner.clone(), 0, 0, 0));
        }
        owners[at].1 += usize::from(touched[e]);
        owners[at].2 += usize::from(touched[e] || open(e));
        owners[at].3 += 1;
    }
    let least = touched.iter().filter(|t| **t).count();
    let open: Vec<usize> = (0..n).filter(|&e| open(e)).collect();
    let mut coverage = Coverage {
        model: Share::between(least, least + open.len(), n),
        uncovered: (0..n).filter(|e| !touched[*e] && !open.contains(e)).collect(),
        owners: owners
            .into_iter()
            .map(|(name, least, most, of)| (name, Share::between(least, most, of)))
            .collect(),
        open,
        properties,
        without_core,
        completeness: view.completeness(),
    };
    let exact = |p: &PropertyCoverage| [p.ivc, p.may, p.must].iter().all(|s| s.is_exact());
    if !coverage.model.is_exact() || !coverage.properties.iter().all(exact) {
        coverage.completeness = coverage.completeness.max(Completeness::Bound);
    }
    coverage
}

/// An upper bound on the number of elements in every core: those that no core lacks.
fn must_at_most(view: &ExplainView, result: usize, known: usize) -> usize {
    let r = &view.results[result];
    if r.complete {
        return known;
    }
    let mut checked = r.cores.iter().filter(|c| c.status != CoreStatus::Unchecked);
    let Some(first) = checked.next() else { return view.elements.len() };
    let mut common = first.elements.clone();
    for core in checked {
        common.retain(|e| core.elements.contains(e));
    }
    common.len().max(known)
}

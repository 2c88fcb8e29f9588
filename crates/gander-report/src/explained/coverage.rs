//! Coverage of a model by its properties: which elements proofs rest on (definitions 9 to 13 of E. Ghassabani, Inductive
//! Validity Cores, 2020).

use super::ExplainView;

/// What an element is to a property.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mark {
    /// In every core.
    Must,
    /// In some core.
    May,
    /// In none that was found.
    Untouched,
}

/// By element: what it is to one of the properties.
pub fn marks(view: &ExplainView, result: usize) -> Vec<Mark> {
    let r = &view.results[result];
    let mut marks = vec![Mark::Untouched; view.elements.len()];
    for core in &r.cores {
        core.iter().for_each(|&e| marks[e] = Mark::May);
    }
    r.may.iter().for_each(|&e| marks[e] = Mark::May);
    r.must.iter().for_each(|&e| marks[e] = Mark::Must);
    marks
}

/// How much of a model a property, or all properties, rest on: numbers of elements.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Coverage {
    /// All elements.
    pub elements: usize,
    /// For each property: its name, the size of its first core (IVC), elements in some core (MAY), in every core (MUST,
    /// which is also non-deterministic coverage).
    pub properties: Vec<(String, usize, usize, usize)>,
    /// Elements in some core of some property (MODEL).
    pub model: usize,
    /// Elements in no core of any property.
    pub untouched: Vec<usize>,
    /// By node or transition: its name, its elements, those that some property touches.
    pub owners: Vec<(String, usize, usize)>,
}

/// The coverage of a model.
pub fn coverage(view: &ExplainView) -> Coverage {
    let mut touched = vec![false; view.elements.len()];
    let mut properties = Vec::new();
    for (i, r) in view.results.iter().enumerate() {
        let marks = marks(view, i);
        for (e, mark) in marks.iter().enumerate() {
            touched[e] |= *mark != Mark::Untouched;
        }
        let count = |wanted: &[Mark]| marks.iter().filter(|m| wanted.contains(m)).count();
        let one = r.cores.first().map_or(0, Vec::len);
        properties.push((r.property.clone(), one, count(&[Mark::May, Mark::Must]), count(&[Mark::Must])));
    }
    let mut owners: Vec<(String, usize, usize)> = Vec::new();
    for (e, element) in view.elements.iter().enumerate() {
        let at = owners.iter().position(|(name, ..)| *name == element.owner).unwrap_or(owners.len());
        if at == owners.len() {
            owners.push((element.owner.clone(), 0, 0));
        }
        owners[at].1 += 1;
        owners[at].2 += usize::from(touched[e]);
    }
    Coverage {
        elements: view.elements.len(),
        properties,
        model: touched.iter().filter(|t| **t).count(),
        untouched: (0..touched.len()).filter(|&e| !touched[e]).collect(),
        owners,
    }
}

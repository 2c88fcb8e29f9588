//! Sets of parts of a model.

/// A set of the parts of a model, by their position.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct PartSet(Vec<bool>);

impl PartSet {
    /// All of `n` parts.
    pub fn all(n: usize) -> PartSet {
        PartSet(vec![true; n])
    }

    /// None of `n` parts.
    pub fn none(n: usize) -> PartSet {
        PartSet(vec![false; n])
    }

    /// These of `n` parts.
    pub fn of(n: usize, members: impl IntoIterator<Item = usize>) -> PartSet {
        let mut set = PartSet::none(n);
        for m in members {
            set.insert(m);
        }
        set
    }

    /// The number of parts in the model.
    pub fn universe(&self) -> usize {
        self.0.len()
    }

    /// The number of parts in the set.
    pub fn len(&self) -> usize {
        self.0.iter().filter(|b| **b).count()
    }

    /// True if the set is empty.
    pub fn is_empty(&self) -> bool {
        !self.0.contains(&true)
    }

    /// True if the part is in the set.
    pub fn has(&self, part: usize) -> bool {
        self.0[part]
    }

    /// Adds a part.
    pub fn insert(&mut self, part: usize) {
        self.0[part] = true;
    }

    /// Removes a part.
    pub fn remove(&mut self, part: usize) {
        self.0[part] = false;
    }

    /// The set with one more part.
    pub fn with(&self, part: usize) -> PartSet {
        let mut more = self.clone();
        more.insert(part);
        more
    }

    /// The set without a part.
    pub fn without(&self, part: usize) -> PartSet {
        let mut fewer = self.clone();
        fewer.remove(part);
        fewer
    }

    /// The members, ascending.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.iter().enumerate().filter(|(_, b)| **b).map(|(i, _)| i)
    }

    /// The parts that are not in the set.
    pub fn complement(&self) -> PartSet {
        PartSet(self.0.iter().map(|b| !b).collect())
    }

    /// True if every member is one of `other`.
    pub fn is_subset(&self, other: &PartSet) -> bool {
        self.0.iter().zip(&other.0).all(|(a, b)| !a || *b)
    }

    /// Members of either.
    pub fn union(&self, other: &PartSet) -> PartSet {
        PartSet(self.0.iter().zip(&other.0).map(|(a, b)| *a || *b).collect())
    }

    /// Members of both.
    pub fn intersection(&self, other: &PartSet) -> PartSet {
        PartSet(self.0.iter().zip(&other.0).map(|(a, b)| *a && *b).collect())
    }
}

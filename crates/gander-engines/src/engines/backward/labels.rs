//! Sets of questions, as sorted lists of their indices.

/// A set of indices.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Labels(Vec<u32>);

impl Labels {
    pub(super) fn one(label: u32) -> Labels {
        Labels(vec![label])
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn contains(&self, label: u32) -> bool {
        self.0.binary_search(&label).is_ok()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.0.iter().copied()
    }

    pub(super) fn retain(&mut self, keep: impl Fn(u32) -> bool) {
        self.0.retain(|&l| keep(l));
    }

    /// Adds the others.
    pub(super) fn add(&mut self, others: &Labels) {
        if self.0.last() < others.0.first() {
            self.0.extend_from_slice(&others.0);
        } else if !others.0.is_empty() {
            self.0.extend_from_slice(&others.0);
            self.0.sort_unstable();
            self.0.dedup();
        }
    }

    /// Removes the others.
    pub(super) fn remove(&mut self, others: &Labels) {
        if others.0.is_empty() {
            return;
        }
        if others.0.len() > 8 * self.0.len() {
            self.0.retain(|l| others.0.binary_search(l).is_err());
            return;
        }
        let mut at = 0;
        self.0.retain(|l| {
            while at < others.0.len() && others.0[at] < *l {
                at += 1;
            }
            others.0.get(at) != Some(l)
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(labels: &[u32]) -> Labels {
        Labels(labels.to_vec())
    }

    #[test]
    fn labels_are_added_and_removed_as_sets() {
        let mut a = set(&[1, 4, 7]);
        a.add(&set(&[2, 4, 9]));
        assert_eq!(a, set(&[1, 2, 4, 7, 9]));
        a.add(&set(&[10]));
        a.add(&set(&[]));
        assert_eq!(a, set(&[1, 2, 4, 7, 9, 10]));
        a.remove(&set(&[0, 2, 7, 11]));
        assert_eq!(a, set(&[1, 4, 9, 10]));
        let mut few = set(&[5, 50]);
        few.remove(&set(&(10..60).collect::<Vec<u32>>()));
        assert_eq!(few, set(&[5]));
        assert!(few.contains(5) && !few.contains(50));
    }
}

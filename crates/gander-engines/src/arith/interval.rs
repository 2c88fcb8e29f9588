//! Intervals of numbers, with ends that belong to them or not.

/// An end of an interval.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct End<N> {
    pub value: N,
    /// The end does not belong to the interval.
    pub strict: bool,
}

impl<N> End<N> {
    /// An end that belongs to the interval.
    pub(crate) fn closed(value: N) -> End<N> {
        End { value, strict: false }
    }
}

/// From one end to the other; none: not bounded on this side.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Interval<N> {
    pub lower: Option<End<N>>,
    pub upper: Option<End<N>>,
}

impl<N> Default for Interval<N> {
    /// All numbers.
    fn default() -> Interval<N> {
        Interval { lower: None, upper: None }
    }
}

impl<N: Ord + Clone> Interval<N> {
    /// One number.
    pub(crate) fn point(value: N) -> Interval<N> {
        let end = End::closed(value);
        Interval { lower: Some(end.clone()), upper: Some(end) }
    }

    /// The numbers from the first to the second.
    pub(crate) fn closed(from: N, to: N) -> Interval<N> {
        Interval { lower: Some(End::closed(from)), upper: Some(End::closed(to)) }
    }

    /// All numbers from this end on.
    pub(crate) fn from(end: End<N>) -> Interval<N> {
        Interval { lower: Some(end), upper: None }
    }

    /// All numbers up to this end.
    pub(crate) fn to(end: End<N>) -> Interval<N> {
        Interval { lower: None, upper: Some(end) }
    }

    /// What is in both.
    #[must_use]
    pub(crate) fn meet(mut self, other: &Interval<N>) -> Interval<N> {
        if tighter_lower(&other.lower, &self.lower) {
            self.lower.clone_from(&other.lower);
        }
        if tighter_upper(&other.upper, &self.upper) {
            self.upper.clone_from(&other.upper);
        }
        self
    }

    /// The least interval that contains both.
    #[must_use]
    pub(crate) fn hull(mut self, other: &Interval<N>) -> Interval<N> {
        if tighter_lower(&self.lower, &other.lower) {
            self.lower.clone_from(&other.lower);
        }
        if tighter_upper(&self.upper, &other.upper) {
            self.upper.clone_from(&other.upper);
        }
        self
    }

    /// True if no rational number is in it.
    pub(crate) fn is_empty(&self) -> bool {
        exclude_each_other(&self.lower, &self.upper)
    }

    /// True if everything in it is in the other, which is not empty.
    pub(crate) fn is_within(&self, other: &Interval<N>) -> bool {
        !tighter_lower(&other.lower, &self.lower) && !tighter_upper(&other.upper, &self.upper)
    }

    /// True if everything in it is below everything in the other one.
    pub(crate) fn is_below(&self, other: &Interval<N>) -> bool {
        exclude_each_other(&other.lower, &self.upper)
    }
}

fn exclude_each_other<N: Ord>(lower: &Option<End<N>>, upper: &Option<End<N>>) -> bool {
    match (lower, upper) {
        (Some(l), Some(u)) => l.value > u.value || (l.value == u.value && (l.strict || u.strict)),
        _ => false,
    }
}

fn tighter_lower<N: Ord>(a: &Option<End<N>>, b: &Option<End<N>>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => a.value > b.value || (a.value == b.value && a.strict && !b.strict),
        (Some(_), None) => true,
        _ => false,
    }
}

fn tighter_upper<N: Ord>(a: &Option<End<N>>, b: &Option<End<N>>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => a.value < b.value || (a.value == b.value && a.strict && !b.strict),
        (Some(_), None) => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ends(lower: Option<(i32, bool)>, upper: Option<(i32, bool)>) -> Interval<i32> {
        let end = |e: Option<(i32, bool)>| e.map(|(value, strict)| End { value, strict });
        Interval { lower: end(lower), upper: end(upper) }
    }

    /// Membership in quarters decides what the operations must say.
    #[test]
    fn operations_agree_with_membership() {
        let mut all = Vec::new();
        let options: Vec<Option<(i32, bool)>> = [None]
            .into_iter()
            .chain([0, 4].map(|v| [Some((v, false)), Some((v, true))]).concat())
            .collect();
        for &lower in &options {
            for &upper in &options {
                all.push(ends(lower, upper));
            }
        }
        let has = |i: &Interval<i32>, x: i32| {
            i.lower.as_ref().is_none_or(|l| l.value < x || (l.value == x && !l.strict))
                && i.upper.as_ref().is_none_or(|u| x < u.value || (u.value == x && !u.strict))
        };
        let points = |i: &Interval<i32>| (-2..=6).filter(|&x| has(i, x)).collect::<Vec<i32>>();
        for a in &all {
            assert_eq!(a.is_empty(), points(a).is_empty(), "{a:?}");
            for b in &all {
                let (both, hull) = (a.clone().meet(b), a.clone().hull(b));
                assert!((-2..=6).all(|x| has(&both, x) == (has(a, x) && has(b, x))));
                assert!((-2..=6).all(|x| has(&hull, x) || !(has(a, x) || has(b, x))));
                if a.is_empty() || b.is_empty() {
                    continue;
                }
                assert_eq!(a.is_within(b), points(a).iter().all(|&x| has(b, x)), "{a:?} {b:?}");
                let below = points(a).iter().all(|x| points(b).iter().all(|y| x < y));
                assert_eq!(a.is_below(b), below, "{a:?} {b:?}");
            }
        }
    }
}

//! Boolean candidates: constants, equivalences and implications, from bit signatures.
//!
//! The signature of a term has one bit per sampled state. Terms with equal (or opposite) signatures
//! form a class; between classes, inclusion of signatures is the implication order. As in Kahsai,
//! Ge and Tinelli, *Instantiation-based invariant discovery* (2011), a large order is represented
//! by its transitive reduction.

use gander_term::{Pool, TermId};
use rustc_hash::FxHashMap;

/// One bit per state.
pub(super) type Signature = Vec<u64>;

/// A signature from truth values.
pub(super) fn signature(bits: impl Iterator<Item = bool>) -> Signature {
    let mut words = Vec::new();
    for (i, bit) in bits.enumerate() {
        if i % 64 == 0 {
            words.push(0);
        }
        if bit && let Some(last) = words.last_mut() {
            *last |= 1 << (i % 64);
        }
    }
    words
}

/// The complement, for `count` states.
pub(super) fn complement(s: &[u64], count: usize) -> Signature {
    let mut words: Signature = s.iter().map(|w| !w).collect();
    if !count.is_multiple_of(64)
        && let Some(last) = words.last_mut()
    {
        *last &= (1 << (count % 64)) - 1;
    }
    words
}

pub(super) fn included(a: &[u64], b: &[u64]) -> bool {
    a.iter().zip(b).all(|(a, b)| a & !b == 0)
}

pub(super) fn ones(s: &[u64]) -> u32 {
    s.iter().map(|w| w.count_ones()).sum()
}

/// A term or its negation, with its signature.
#[derive(Clone, Debug)]
pub(super) struct Literal {
    pub term: TermId,
    pub signature: Signature,
}

/// The implication order of Boolean terms in the sampled states.
#[derive(Debug, Default)]
pub(super) struct Order {
    /// Terms that were true in all states, and negations of those that were false in all.
    pub constant: Vec<TermId>,
    /// Pairs of terms that had the same value in all states.
    pub equal: Vec<(TermId, TermId)>,
    /// One term of each class, each followed by its negation.
    pub literals: Vec<Literal>,
}

impl Order {
    /// Builds the order from terms with their signatures over `count` states, simplest first.
    pub(super) fn new(pool: &mut Pool, terms: &[(TermId, Signature)], count: usize) -> Order {
        let mut order = Order::default();
        let mut classes: FxHashMap<Signature, TermId> = FxHashMap::default();
        for (term, signature) in terms {
            let negation = complement(signature, count);
            let not = pool.not(*term);
            if ones(&negation) == 0 {
                order.constant.push(*term);
            } else if ones(signature) == 0 {
                order.constant.push(not);
            } else if let Some(&first) = classes.get(signature) {
                order.equal.push((first, *term));
            } else {
                classes.insert(signature.clone(), *term);
                classes.insert(negation.clone(), not);
                order.literals.push(Literal { term: *term, signature: signature.clone() });
                order.literals.push(Literal { term: not, signature: negation });
            }
        }
        order
    }

    /// The implications between literals of different terms that held in all states; of each
    /// contrapositive pair only one. If there are more than `most`, only the transitive reduction,
    /// truncated to `most`.
    pub(super) fn implications(&self, most: usize) -> Vec<(usize, usize)> {
        let n = self.literals.len();
        let holds =
            |a: usize, b: usize| included(&self.literals[a].signature, &self.literals[b].signature);
        let mut all = Vec::new();
        for a in 0..n {
            for b in 0..n {
                // `a -> b` is `not b -> not a`.
                if a / 2 != b / 2 && (a, b) <= (b ^ 1, a ^ 1) && holds(a, b) {
                    all.push((a, b));
                }
            }
        }
        if all.len() > most {
            let sizes: Vec<u32> = self.literals.iter().map(|l| ones(&l.signature)).collect();
            let mut above: Vec<Vec<usize>> = vec![Vec::new(); n];
            for &(a, b) in &all {
                above[a].push(b);
                above[b ^ 1].push(a ^ 1);
            }
            let direct = |&(a, b): &(usize, usize)| {
                !above[a]
                    .iter()
                    .any(|&c| c != b && c / 2 != b / 2 && sizes[c] < sizes[b] && holds(c, b))
            };
            all.retain(direct);
            all.truncate(most);
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gander_term::Sort;

    fn terms(pool: &mut Pool, rows: &[(&str, &[u8])]) -> Vec<(TermId, Signature)> {
        let of = |bits: &[u8]| signature(bits.iter().map(|b| *b == 1));
        rows.iter().map(|(name, bits)| (pool.variable(name, Sort::Bool), of(bits))).collect()
    }

    #[test]
    fn signatures_give_classes_and_the_implication_order() {
        let mut pool = Pool::new();
        let rows: [(&str, &[u8]); 6] = [
            ("a", &[0, 0, 0, 1]),
            ("b", &[0, 0, 1, 1]),
            ("c", &[0, 1, 1, 1]),
            ("d", &[0, 0, 0, 1]),
            ("e", &[1, 1, 0, 0]),
            ("f", &[1, 1, 1, 1]),
        ];
        let terms = terms(&mut pool, &rows);
        let order = Order::new(&mut pool, &terms, 4);
        let name = |t: TermId| pool.display(t).to_string();
        assert_eq!(order.constant.iter().map(|&t| name(t)).collect::<Vec<_>>(), ["f"]);
        let equal: Vec<_> = order.equal.iter().map(|&(a, b)| (name(a), name(b))).collect();
        assert_eq!(equal, [("a".into(), "d".into()), ("not b".into(), "e".into())]);
        let show = |pairs: Vec<(usize, usize)>| -> Vec<String> {
            pairs
                .iter()
                .map(|&(a, b)| {
                    format!("{} -> {}", name(order.literals[a].term), name(order.literals[b].term))
                })
                .collect()
        };
        assert_eq!(show(order.implications(100)), ["a -> b", "a -> c", "b -> c"]);
        // The reduction omits implied implications.
        assert_eq!(show(order.implications(2)), ["a -> b", "b -> c"]);
    }

    #[test]
    fn complements_have_no_bits_beyond_the_states() {
        let s = signature([true, false, true].into_iter());
        assert_eq!(complement(&s, 3), vec![0b010]);
        let long = signature((0..64).map(|_| true));
        assert_eq!(complement(&long, 64), vec![0]);
    }
}

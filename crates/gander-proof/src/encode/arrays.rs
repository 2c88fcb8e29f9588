//! Elements of arrays. Trusted.
//!
//! A read is resolved through stores, conditionals and constant arrays down to an uninterpreted
//! array. For every pair of indices at which such an array is read, a clause says that elements at
//! equal indices are equal. Equality of arrays is a fresh literal.

use gander_term::{Op, Sort, TermId};
use rustc_hash::FxHashMap;

use super::{Encoder, Linear, Meaning};
use crate::literal::Literal;

/// The number of reads of one formula; with more it is not encoded.
const MAX_READS: usize = 4_000;

/// The number of pairs of reads that are compared; with more the formula is not encoded.
const MAX_PAIRS: usize = 20_000;

/// The elements of arrays that were read, by array and index.
#[derive(Default)]
pub(super) struct Reads {
    values: FxHashMap<(TermId, TermId), Meaning>,
    /// Reads of uninterpreted arrays, in order of occurrence.
    opaque: Vec<(TermId, TermId)>,
}

impl Encoder<'_> {
    /// The encoding of `a[i]`.
    pub(super) fn element(&mut self, t: TermId) -> Option<Meaning> {
        let [array, index] = *self.pool.args(t) else { return None };
        self.read(array, index)
    }

    /// The element of an array at an index; not recursive.
    fn read(&mut self, array: TermId, index: TermId) -> Option<Meaning> {
        let mut open = vec![array];
        while let Some(&a) = open.last() {
            if self.reads.values.contains_key(&(a, index)) {
                open.pop();
                continue;
            }
            if self.reads.values.len() > MAX_READS {
                return None;
            }
            let args = self.pool.args(a).to_vec();
            let known = |encoder: &Self, a: TermId| encoder.reads.values.get(&(a, index)).cloned();
            let value = match (self.pool.op(a), &args[..]) {
                (Op::Store, &[before, at, value]) => match known(self, before) {
                    None => {
                        open.push(before);
                        continue;
                    }
                    Some(old) => {
                        let hit = self.equal(at, index);
                        let new = self.meanings.get(&value)?.clone();
                        self.choose(hit, &new, &old)?
                    }
                },
                (Op::Ite, &[c, yes, no]) => match (known(self, yes), known(self, no)) {
                    (Some(yes), Some(no)) => {
                        let c = self.truth(c)?;
                        self.choose(c, &yes, &no)?
                    }
                    (None, _) => {
                        open.push(yes);
                        continue;
                    }
                    (_, None) => {
                        open.push(no);
                        continue;
                    }
                },
                (Op::ConstArray(_), &[value]) => self.meanings.get(&value)?.clone(),
                _ => {
                    self.reads.opaque.push((a, index));
                    self.any_element(a)?
                }
            };
            self.reads.values.insert((a, index), value);
            open.pop();
        }
        self.reads.values.get(&(array, index)).cloned()
    }

    /// A fresh element of an array.
    fn any_element(&mut self, array: TermId) -> Option<Meaning> {
        let Sort::Array(sort) = self.pool.sort(array) else { return None };
        let element = sort.element();
        Some(match element {
            Sort::Bool => Meaning::Truth(self.circuit.fresh()),
            Sort::Int | Sort::Real => {
                Meaning::Number(Linear::number(self.bounds.new_number(element == Sort::Int)))
            }
            Sort::Enum(_) | Sort::BitVec(_) => Meaning::Word(self.any_word(element)?),
            Sort::String | Sort::Array(_) => Meaning::Opaque,
        })
    }

    /// One of two values of one sort.
    fn choose(&mut self, condition: Literal, yes: &Meaning, no: &Meaning) -> Option<Meaning> {
        Some(match (yes, no) {
            (Meaning::Truth(a), Meaning::Truth(b)) => {
                Meaning::Truth(self.circuit.mux(condition, *a, *b))
            }
            (Meaning::Word(a), Meaning::Word(b)) => {
                Meaning::Word(self.circuit.mux_words(condition, a, b))
            }
            (Meaning::Number(a), Meaning::Number(b)) => {
                let is_int = a.of.keys().chain(b.of.keys()).all(|&n| self.bounds.is_int(n));
                let choice =
                    Linear::number(self.bounds.new_number(is_int && is_whole(a) && is_whole(b)));
                self.require_equal_if(condition, &choice, a);
                self.require_equal_if(!condition, &choice, b);
                Meaning::Number(choice)
            }
            _ => Meaning::Opaque,
        })
    }

    /// Adds that elements of one array at equal indices are equal.
    pub(super) fn relate_reads(&mut self) -> Option<()> {
        let mut by_array: Vec<(TermId, Vec<TermId>)> = Vec::new();
        for &(array, index) in &self.reads.opaque {
            match by_array.iter_mut().find(|(a, _)| *a == array) {
                Some((_, indices)) => indices.push(index),
                None => by_array.push((array, vec![index])),
            }
        }
        let mut pairs = 0;
        for (array, indices) in by_array {
            for (at, &i) in indices.iter().enumerate() {
                for &j in &indices[..at] {
                    pairs += 1;
                    if pairs > MAX_PAIRS {
                        return None;
                    }
                    let (a, b) = (
                        self.reads.values.get(&(array, i))?.clone(),
                        self.reads.values.get(&(array, j))?.clone(),
                    );
                    let Some(equal) = self.equal_meanings(&a, &b) else { continue };
                    let same = self.equal(i, j);
                    self.circuit.require(&[!same, equal]);
                }
            }
        }
        Some(())
    }
}

/// True if all factors and the constant are integers.
fn is_whole(linear: &Linear) -> bool {
    linear.constant.is_int() && linear.of.values().all(|c| c.is_int())
}

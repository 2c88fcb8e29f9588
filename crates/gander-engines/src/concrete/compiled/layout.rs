//! Packed states: the node and every variable in as few bits as they need, in 64-bit words.
//!
//! Ints get as many bits as the values so far need. A value that does not fit is reported, and all
//! states are packed again with more bits.

use gander_system::{NodeId, System};
use gander_term::{Pool, Sort};

use super::super::limits::LIMITS;

/// The position of a field; no field crosses a word boundary.
#[derive(Clone, Copy, Debug)]
struct Field {
    word: u32,
    shift: u32,
    bits: u32,
    signed: bool,
}

impl Field {
    #[inline]
    fn get(self, words: &[u64]) -> i64 {
        let unused = 64 - self.bits;
        let up = words[self.word as usize] << (unused - self.shift);
        if self.signed { (up as i64) >> unused } else { (up >> unused) as i64 }
    }

    /// False if the value does not fit.
    #[inline]
    fn put(self, words: &mut [u64], value: i64) -> bool {
        let unused = 64 - self.bits;
        let low = (value as u64) << unused >> unused;
        let back = if self.signed { ((low << unused) as i64) >> unused } else { low as i64 };
        words[self.word as usize] |= low << self.shift;
        back == value
    }
}

/// See the module's documentation.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    node: Field,
    vars: Vec<Field>,
    words: usize,
    widths: Vec<(u32, bool)>,
    node_bits: u32,
}

fn bits_for(count: u64) -> u32 {
    (64 - count.saturating_sub(1).leading_zeros()).max(1)
}

impl Layout {
    /// The smallest layout for a system.
    pub(crate) fn new(system: &System) -> Layout {
        let pool: &Pool = system.pool();
        let width = |sort: Sort| match sort {
            Sort::Bool => (1, false),
            Sort::Enum(id) => (bits_for(pool.enumeration(id).variants.len() as u64), false),
            Sort::BitVec(w) => (w.bits().min(64), false),
            Sort::Int => (LIMITS.int_first_bits, true),
            // Systems with such variables are rejected before.
            Sort::Real | Sort::String | Sort::Array(_) => (LIMITS.int_first_bits, true),
        };
        let widths = system.vars().iter().map(|v| width(v.sort)).collect();
        Layout::of(bits_for(system.nodes().len() as u64), widths)
    }

    fn of(node_bits: u32, widths: Vec<(u32, bool)>) -> Layout {
        // Place the widest first, to waste few bits at word boundaries.
        let mut order: Vec<usize> = (0..widths.len()).collect();
        order.sort_by_key(|&i| std::cmp::Reverse(widths[i].0));
        let (mut word, mut shift) = (0, 0);
        let mut place = |bits: u32, signed: bool| {
            if shift + bits > 64 {
                word += 1;
                shift = 0;
            }
            let field = Field { word, shift, bits, signed };
            shift += bits;
            field
        };
        let node = place(node_bits, false);
        let mut vars = vec![node; widths.len()];
        for i in order {
            vars[i] = place(widths[i].0, widths[i].1);
        }
        Layout { node, vars, words: word as usize + 1, widths, node_bits }
    }

    /// The layout with twice the bits for a variable.
    pub(crate) fn wider(&self, var: usize) -> Layout {
        let mut widths = self.widths.clone();
        widths[var].0 = (widths[var].0 * 2).min(64);
        Layout::of(self.node_bits, widths)
    }

    /// The number of words of a state.
    pub(crate) fn words(&self) -> usize {
        self.words
    }

    /// Packs a state; the error is the index of a variable whose value does not fit.
    #[inline]
    pub(crate) fn pack(
        &self,
        node: NodeId,
        values: impl Iterator<Item = i64>,
        words: &mut [u64],
    ) -> Result<(), usize> {
        words.fill(0);
        self.node.put(words, i64::from(node.0));
        for (i, (field, value)) in self.vars.iter().zip(values).enumerate() {
            if !field.put(words, value) {
                return Err(i);
            }
        }
        Ok(())
    }

    #[inline]
    pub(crate) fn node(&self, words: &[u64]) -> NodeId {
        NodeId(self.node.get(words) as u32)
    }

    /// The values of the variables, in order.
    #[inline]
    pub(crate) fn values<'a>(&'a self, words: &'a [u64]) -> impl Iterator<Item = i64> + 'a {
        self.vars.iter().map(|f| f.get(words))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_values_are_restored_and_misfits_reported() {
        let layout = Layout::of(
            3,
            vec![(1, false), (8, true), (64, true), (7, false), (64, false), (33, true)],
        );
        let mut words = vec![0; layout.words()];
        let values = [1, -128, i64::MIN, 127, -1, 1 << 31];
        layout.pack(NodeId(5), values.into_iter(), &mut words).unwrap();
        assert_eq!(layout.node(&words), NodeId(5));
        assert_eq!(layout.values(&words).collect::<Vec<_>>(), values);
        let too_large = [1, 128, 0, 0, 0, 0];
        assert_eq!(layout.pack(NodeId(5), too_large.into_iter(), &mut words), Err(1));
        assert!(layout.wider(1).pack(NodeId(5), too_large.into_iter(), &mut [0; 8]).is_ok());
    }
}

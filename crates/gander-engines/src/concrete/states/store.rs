//! The store of states: an arena of words, and an index from contents to position.
//!
//! Positions are assigned in order of insertion. The index is a hash table with linear probing. An
//! entry has 32 bits of the hash and the position, so most probes do not access the arena, and the
//! table grows without it.

/// The position of no state.
pub(crate) const NONE: u32 = u32::MAX;

/// The greatest number of states.
const MOST: usize = (u32::MAX - 1) as usize;

/// See the module's documentation.
#[derive(Debug)]
pub(crate) struct Store {
    words: usize,
    arena: Vec<u64>,
    /// The predecessor of each state; [`NONE`] for start states.
    parents: Vec<u32>,
    /// `hash bits << 32 | position + 1`, 0 if free. The length is a power of two.
    table: Vec<u64>,
    shift: u32,
}

/// A hash with well-mixed high bits.
#[inline]
pub(crate) fn hash(words: &[u64]) -> u64 {
    let mut h: u64 = 0x51_7c_c1_b7_27_22_0a_95;
    for &w in words {
        h = (h.rotate_left(29) ^ w).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        h ^= h >> 32;
    }
    h.wrapping_mul(0xD6E8_FEB8_6659_FD93)
}

impl Store {
    /// An empty store for states of this many words.
    pub(crate) fn new(words: usize) -> Store {
        let bits = 10;
        Store {
            words,
            arena: Vec::new(),
            parents: Vec::new(),
            table: vec![0; 1 << bits],
            shift: 32 - bits,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.parents.len()
    }

    #[inline]
    pub(crate) fn state(&self, at: u32) -> &[u64] {
        let from = at as usize * self.words;
        &self.arena[from..from + self.words]
    }

    pub(crate) fn parent(&self, at: u32) -> u32 {
        self.parents[at as usize]
    }

    /// Bytes in use.
    pub(crate) fn bytes(&self) -> u64 {
        8 * (self.arena.capacity() + self.table.capacity()) as u64
            + 4 * self.parents.capacity() as u64
    }

    /// Bytes in use after this many insertions, at the peak while growing.
    pub(crate) fn bytes_after(&self, more: usize) -> u64 {
        let mut bytes = self.bytes();
        if (self.len() + more) * 4 > self.table.len() * 3 {
            bytes += 16 * self.table.len() as u64;
        }
        if (self.len() + more) * self.words > self.arena.capacity() {
            bytes += 16 * self.arena.capacity() as u64 + 8 * self.parents.capacity() as u64;
        }
        bytes
    }

    /// The position of a state, if it is stored.
    #[inline]
    pub(crate) fn find(&self, words: &[u64], hash: u64) -> Option<u32> {
        let tag = hash >> 32;
        let mask = self.table.len() - 1;
        let mut at = (tag >> self.shift) as usize;
        loop {
            let entry = self.table[at];
            if entry == 0 {
                return None;
            }
            if entry >> 32 == tag {
                let position = entry as u32 - 1;
                if self.state(position) == words {
                    return Some(position);
                }
            }
            at = (at + 1) & mask;
        }
    }

    /// Inserts a state; true if it is new. `None` if all positions are used.
    #[inline]
    pub(crate) fn insert(&mut self, words: &[u64], hash: u64, parent: u32) -> Option<bool> {
        if self.find(words, hash).is_some() {
            return Some(false);
        }
        if self.len() >= MOST {
            return None;
        }
        if (self.len() + 1) * 4 > self.table.len() * 3 {
            self.grow();
        }
        let position = self.len() as u64;
        self.arena.extend_from_slice(words);
        self.parents.push(parent);
        place(&mut self.table, self.shift, (hash >> 32) << 32 | (position + 1));
        Some(true)
    }

    fn grow(&mut self) {
        let old = std::mem::take(&mut self.table);
        self.table = vec![0; old.len() * 2];
        self.shift -= 1;
        for entry in old.into_iter().filter(|&e| e != 0) {
            place(&mut self.table, self.shift, entry);
        }
    }
}

fn place(table: &mut [u64], shift: u32, entry: u64) {
    let mask = table.len() - 1;
    let mut at = (entry >> 32 >> shift) as usize;
    while table[at] != 0 {
        at = (at + 1) & mask;
    }
    table[at] = entry;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_state_is_stored_once() {
        let mut store = Store::new(2);
        let state = |i: u64| [i / 7, i % 7];
        for round in 0..2 {
            for i in 0..20_000 {
                let s = state(i);
                assert_eq!(store.insert(&s, hash(&s), i as u32), Some(round == 0));
            }
        }
        assert_eq!(store.len(), 20_000);
        for i in 0..20_000 {
            let s = state(i);
            assert_eq!(store.find(&s, hash(&s)), Some(i as u32));
            assert_eq!(store.state(i as u32), s);
            assert_eq!(store.parent(i as u32), i as u32);
        }
        assert_eq!(store.find(&[9, 9], hash(&[9, 9])), None);
    }
}

//! The store of one pool: its own terms and the hash table that finds them.
//!
//! The layout avoids cache misses: an entry contains up to three arguments, and the hash table
//! stores the hash beside the position, so that growing it reads no entry.

use hashbrown::HashTable;

use crate::op::Op;
use crate::pool::TermId;
use crate::sort::Sort;
use gander_runtime::check_before_allocating;

const INLINE: usize = 3;

/// From this number of terms on (about 10 MB of table), growing the table first checks the memory
/// limit.
const LARGE: usize = 1 << 20;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    pub op: Op,
    pub sort: Sort,
    len: u32,
    /// The arguments if there are at most three, else the position of the first in `Store::long`.
    few: [TermId; INLINE],
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Store {
    entries: Vec<Entry>,
    long: Vec<TermId>,
    table: HashTable<Slot>,
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    hash: u32,
    position: u32,
}

/// The hash of a term; the same in every pool.
#[inline]
pub(crate) fn term_hash(op: Op, args: &[TermId]) -> u32 {
    const K: u64 = 0xf135_7aea_2e62_a9c5;
    let (kind, parameter) = op.code();
    let mut h = (u64::from(parameter) << 8 | u64::from(kind)).wrapping_mul(K);
    for pair in args.chunks(2) {
        let second = pair.get(1).map_or(u32::MAX, |a| a.0);
        h = (h.rotate_left(20) ^ (u64::from(pair[0].0) << 32 | u64::from(second))).wrapping_mul(K);
    }
    ((h ^ (h >> 32)).wrapping_mul(K) >> 32) as u32
}

/// hashbrown takes the bucket from the low bits and the tag from the high bits.
#[inline]
fn widen(hash: u32) -> u64 {
    u64::from(hash) | u64::from(hash) << 32
}

impl Store {
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    #[inline]
    pub(crate) fn entry(&self, position: u32) -> &Entry {
        &self.entries[position as usize]
    }

    #[inline]
    pub(crate) fn args(&self, position: u32) -> &[TermId] {
        let e = &self.entries[position as usize];
        let len = e.len as usize;
        if len <= INLINE {
            &e.few[..len]
        } else {
            let start = e.few[0].0 as usize;
            &self.long[start..start + len]
        }
    }

    /// The position of `op(args)`, if it is stored.
    #[inline]
    pub(crate) fn find(&self, hash: u32, op: Op, args: &[TermId]) -> Option<u32> {
        let is_it = |s: &Slot| {
            s.hash == hash && self.entry(s.position).op == op && self.args(s.position) == args
        };
        self.table.find(widen(hash), is_it).map(|s| s.position)
    }

    /// Adds `op(args)`, which must not be stored yet; returns its position.
    pub(crate) fn insert(&mut self, hash: u32, op: Op, sort: Sort, args: &[TermId]) -> u32 {
        if self.table.len() == self.table.capacity() && self.table.len() >= LARGE {
            // The new table has twice the slots, each with a control byte, and exists beside the
            // old one.
            check_before_allocating((self.table.capacity() * 2 * (size_of::<Slot>() + 1)) as u64);
        }
        let position =
            u32::try_from(self.entries.len()).expect("a pool holds fewer than 2^32 terms");
        let mut few = [TermId(0); INLINE];
        if args.len() <= INLINE {
            few[..args.len()].copy_from_slice(args);
        } else {
            few[0] = TermId(
                u32::try_from(self.long.len()).expect("a pool holds fewer than 2^32 arguments"),
            );
            self.long.extend_from_slice(args);
        }
        self.entries.push(Entry { op, sort, len: args.len() as u32, few });
        self.table.insert_unique(widen(hash), Slot { hash, position }, |s| widen(s.hash));
        position
    }
}

//! A set of states, with interned values: per variable every value has a number, and a state is a
//! row of numbers.

use std::hash::{Hash, Hasher};

use gander_system::NodeId;
use gander_term::Value;
use rustc_hash::{FxHashMap, FxHasher};

use super::Values;
use crate::rejection::{Rejection, undecided};

/// See the module's documentation. States are numbered in the order of insertion.
#[derive(Debug)]
pub(super) struct States {
    vars: usize,
    numbers: Vec<FxHashMap<Value, u32>>,
    values: Vec<Vec<Value>>,
    /// The node and the numbers of each state.
    rows: Vec<u32>,
    /// By hash of the row: the states with that hash.
    index: FxHashMap<u64, Vec<u32>>,
}

impl States {
    pub(super) fn new(vars: usize) -> States {
        let numbers = vec![FxHashMap::default(); vars];
        States {
            vars,
            numbers,
            values: vec![Vec::new(); vars],
            rows: Vec::new(),
            index: FxHashMap::default(),
        }
    }

    pub(super) fn len(&self) -> u32 {
        (self.rows.len() / (self.vars + 1)) as u32
    }

    fn row(&self, i: u32) -> &[u32] {
        let width = self.vars + 1;
        &self.rows[i as usize * width..][..width]
    }

    pub(super) fn get(&self, i: u32) -> (NodeId, Values) {
        let row = self.row(i);
        let values =
            self.values.iter().zip(&row[1..]).map(|(of, &n)| of[n as usize].clone()).collect();
        (NodeId(row[0]), values)
    }

    pub(super) fn find(&self, node: NodeId, values: &[Value]) -> Option<u32> {
        let mut row = vec![node.0];
        for (numbers, value) in self.numbers.iter().zip(values) {
            row.push(*numbers.get(value)?);
        }
        self.position(&row)
    }

    fn position(&self, row: &[u32]) -> Option<u32> {
        self.index.get(&hash(row))?.iter().copied().find(|&i| self.row(i) == row)
    }

    /// Adds a state unless the set has it.
    pub(super) fn insert(&mut self, node: NodeId, values: &[Value]) -> Result<(), Rejection> {
        let mut row = Vec::with_capacity(self.vars + 1);
        row.push(node.0);
        for ((numbers, all), value) in self.numbers.iter_mut().zip(&mut self.values).zip(values) {
            row.push(match numbers.get(value) {
                Some(&n) => n,
                None => {
                    let n = all.len() as u32;
                    numbers.insert(value.clone(), n);
                    all.push(value.clone());
                    n
                }
            });
        }
        if self.position(&row).is_none() {
            let i = self.len();
            if i == u32::MAX - 1 {
                return Err(undecided("there are too many states to be enumerated"));
            }
            self.index.entry(hash(&row)).or_default().push(i);
            self.rows.extend_from_slice(&row);
        }
        Ok(())
    }
}

fn hash(row: &[u32]) -> u64 {
    let mut hasher = FxHasher::default();
    row.hash(&mut hasher);
    hasher.finish()
}

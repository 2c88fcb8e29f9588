//! Names for shared subterms, so that the text of a formula is linear in its size.
//!
//! A term is a graph; its text is a tree, which can be exponentially larger. A subterm that occurs
//! more than once gets a definition, unless it is small or has a variable that an enclosing
//! quantifier binds.

use gander_term::{Op, Pool, TermId};
use rustc_hash::{FxHashMap, FxHashSet};

/// A subterm of this many operators or fewer is written out.
const SMALL: usize = 3;

/// Formulas with shared subterms replaced by symbols.
pub(super) struct Shared {
    /// The pool of the definitions and formulas.
    pub(super) pool: Pool,
    /// Names and terms; each uses only those before it.
    pub(super) definitions: Vec<(String, TermId)>,
    /// The formulas, in the order in which they were given.
    pub(super) formulas: Vec<TermId>,
    /// The number of operators and leaves in the text of all.
    pub(super) size: usize,
}

/// Replaces the shared subterms of `roots` by symbols.
pub(super) fn share(pool: Pool, roots: &[TermId]) -> Shared {
    let order = pool.postorder(roots);
    let mut uses: FxHashMap<TermId, u32> = FxHashMap::default();
    for t in order.iter().flat_map(|&t| pool.args(t).iter()).chain(roots) {
        *uses.entry(*t).or_default() += 1;
    }
    let open = open_terms(&pool, &order);
    let mut shared = Shared { pool, definitions: Vec::new(), formulas: Vec::new(), size: 0 };
    let mut new: FxHashMap<TermId, TermId> = FxHashMap::default();
    let mut sizes: FxHashMap<TermId, usize> = FxHashMap::default();
    let mut args = Vec::new();
    for t in order {
        let op = shared.pool.op(t);
        let size = shared.pool.args(t).iter().fold(1, |n: usize, a| n.saturating_add(sizes[a]));
        args.clear();
        args.extend(shared.pool.args(t).iter().map(|a| new[a]));
        let written = if args == shared.pool.args(t) {
            t
        } else {
            shared.pool.mk(op, &args).expect("definitions have the sorts of what they define")
        };
        if uses[&t] > 1 && size > SMALL && !open.contains(&t) {
            let name = format!("part{}", shared.definitions.len() + 1);
            let symbol = shared.pool.declare_fresh(&name, shared.pool.sort(t));
            shared.definitions.push((shared.pool.symbol(symbol).name.clone(), written));
            shared.size = shared.size.saturating_add(size);
            new.insert(t, shared.pool.var(symbol));
            sizes.insert(t, 1);
        } else {
            new.insert(t, written);
            sizes.insert(t, size);
        }
    }
    for r in roots {
        shared.size = shared.size.saturating_add(sizes[r]);
        shared.formulas.push(new[r]);
    }
    shared
}

/// The terms with a variable that an enclosing quantifier binds.
fn open_terms(pool: &Pool, order: &[TermId]) -> FxHashSet<TermId> {
    let mut open: FxHashMap<TermId, FxHashSet<TermId>> = FxHashMap::default();
    for &t in order {
        let mut bound: FxHashSet<TermId> = FxHashSet::default();
        match pool.op(t) {
            Op::Symbol(s) if pool.symbol(s).bound => {
                bound.insert(t);
            }
            Op::Forall | Op::Exists => {
                if let Some((body, variables)) = pool.args(t).split_last() {
                    bound.extend(
                        open.get(body).into_iter().flatten().filter(|v| !variables.contains(v)),
                    );
                }
            }
            _ => bound.extend(pool.args(t).iter().filter_map(|a| open.get(a)).flatten()),
        }
        if !bound.is_empty() {
            open.insert(t, bound);
        }
    }
    open.into_keys().collect()
}

/// Replaces names by their definitions.
#[derive(Default)]
pub(super) struct Expansion {
    expanded: FxHashMap<TermId, TermId>,
}

impl Expansion {
    /// Defines the symbol `name` as `meaning`, which has no defined names.
    pub(super) fn define(&mut self, name: TermId, meaning: TermId) {
        self.expanded.insert(name, meaning);
    }

    /// The term without defined names.
    pub(super) fn apply(&mut self, pool: &mut Pool, t: TermId) -> TermId {
        let mut stack = vec![t];
        while let Some(&top) = stack.last() {
            let before = stack.len();
            if !self.expanded.contains_key(&top) {
                stack.extend(pool.args(top).iter().filter(|a| !self.expanded.contains_key(a)));
            }
            if stack.len() > before {
                continue;
            }
            stack.pop();
            if self.expanded.contains_key(&top) {
                continue;
            }
            let args: Vec<TermId> = pool.args(top).iter().map(|a| self.expanded[a]).collect();
            let same = args == pool.args(top);
            let new = if same {
                top
            } else {
                pool.mk(pool.op(top), &args).expect("definitions keep sorts")
            };
            self.expanded.insert(top, new);
        }
        self.expanded[&t]
    }
}

//! The permutations of instances that are tried.
//!
//! Instances are alike if their specifications have the same nodes, transitions and variables. A
//! *block* is one instance, or one of each of several families of the same size, with one index:
//! a philosopher and the fork beside it. Blocks are permuted as a whole.
//!
//! For each list of blocks, transpositions are tried first, of each block with the first block of
//! each class known so far. If all are automorphisms, they generate all permutations. If there are
//! several classes, rotations by each divisor of the length are tried until one is an automorphism,
//! and then a reflection.

use rustc_hash::FxHashMap;

use super::{Automorphism, Search};
use crate::system::{Instance, System};

/// The largest number of classes with which each further block is compared.
const MAX_CLASSES: usize = 4;

/// After this many transpositions in a row that are no automorphisms, no more are tried.
const MAX_FAILURES: usize = 12;

/// Rotations of one list of blocks that are tried.
const MAX_ROTATIONS: usize = 8;

/// Generators of a group of automorphisms.
pub(super) fn generators(search: &mut Search<'_>) -> Vec<Automorphism> {
    let mut found = Vec::new();
    let lists = block_lists(search.parts.system);
    // By list: true if a permutation that moves every block was found.
    let mut permuted = vec![false; lists.len()];
    for (at, list) in lists.iter().enumerate() {
        // Families that are permuted alone are not permuted together, too.
        if !list.together.is_empty() && list.together.iter().all(|&part| permuted[part]) {
            continue;
        }
        permuted[at] = transpositions(search, &list.blocks, &mut found)
            || (list.blocks.len() > 2 && rotations(search, &list.blocks, &mut found));
    }
    found
}

/// Blocks that may be permuted.
struct BlockList {
    blocks: Vec<Vec<usize>>,
    /// The lists that this one combines.
    together: Vec<usize>,
}

/// What instances that are alike have in common.
type Shape<'s> = (Vec<(&'s str, bool)>, Vec<&'s str>, Vec<(&'s str, usize, usize)>, usize, bool);

fn shape(instance: &Instance) -> Shape<'_> {
    (
        instance.nodes.iter().map(|n| (n.name.as_str(), n.is_final)).collect(),
        instance.starts.iter().map(|s| s.name.as_str()).collect(),
        instance.transitions.iter().map(|t| (t.name.as_str(), t.source, t.target)).collect(),
        instance.vars.len(),
        instance.location.is_some(),
    )
}

/// The family of an instance, from its name `family[index]`.
fn family(name: &str) -> Option<&str> {
    let (family, index) = name.strip_suffix(']')?.rsplit_once('[')?;
    index.bytes().all(|b| b.is_ascii_digit()).then_some(family)
}

/// Each family; the instances of one shape that are in no family, or in several; families of one
/// size together.
fn block_lists(system: &System) -> Vec<BlockList> {
    let mut families: Vec<(&str, Vec<usize>)> = Vec::new();
    let mut by_name: FxHashMap<&str, usize> = FxHashMap::default();
    let mut shapes: Vec<Vec<usize>> = Vec::new();
    let mut by_shape: FxHashMap<Shape<'_>, usize> = FxHashMap::default();
    for (i, instance) in system.instances.iter().enumerate() {
        if let Some(name) = family(&instance.name) {
            let at = *by_name.entry(name).or_insert_with(|| {
                families.push((name, Vec::new()));
                families.len() - 1
            });
            families[at].1.push(i);
        }
        let at = *by_shape.entry(shape(instance)).or_insert_with(|| {
            shapes.push(Vec::new());
            shapes.len() - 1
        });
        shapes[at].push(i);
    }
    let single = |list: &[usize]| list.iter().map(|&i| vec![i]).collect::<Vec<_>>();
    let mut lists: Vec<BlockList> = Vec::new();
    for list in &shapes {
        if list.len() > 1 {
            lists.push(BlockList { blocks: single(list), together: Vec::new() });
        }
    }
    let of_one_shape = |list: &[usize]| {
        list.windows(2).all(|w| shape(&system.instances[w[0]]) == shape(&system.instances[w[1]]))
    };
    let mut sizes: Vec<(usize, Vec<usize>)> = Vec::new();
    for (_, list) in &families {
        if list.len() < 2 || !of_one_shape(list) {
            continue;
        }
        let at = match shapes.iter().position(|s| s == list) {
            Some(_) => lists.iter().position(|l| l.blocks == single(list)),
            None => {
                lists.push(BlockList { blocks: single(list), together: Vec::new() });
                Some(lists.len() - 1)
            }
        };
        let Some(at) = at else { continue };
        match sizes.iter_mut().find(|(size, _)| *size == list.len()) {
            Some((_, same)) => same.push(at),
            None => sizes.push((list.len(), vec![at])),
        }
    }
    for (size, same) in sizes {
        if same.len() > 1 {
            let blocks = (0..size)
                .map(|index| same.iter().map(|&l| lists[l].blocks[index][0]).collect())
                .collect();
            lists.push(BlockList { blocks, together: same });
        }
    }
    lists
}

/// Adds the permutation of the blocks to `found` if it is an automorphism.
fn attempt(
    search: &mut Search<'_>,
    blocks: &[Vec<usize>],
    image: impl Fn(usize) -> usize,
    found: &mut Vec<Automorphism>,
) -> bool {
    gander_runtime::check_cancelled();
    let mut permutation: Vec<usize> = (0..search.parts.system.instances.len()).collect();
    for (i, block) in blocks.iter().enumerate() {
        for (&from, &to) in block.iter().zip(&blocks[image(i)]) {
            permutation[from] = to;
        }
    }
    match search.verify(&permutation) {
        Some(automorphism) => {
            found.push(automorphism);
            true
        }
        None => false,
    }
}

/// Tries transpositions; true if they generate all permutations.
fn transpositions(
    search: &mut Search<'_>,
    blocks: &[Vec<usize>],
    found: &mut Vec<Automorphism>,
) -> bool {
    let mut classes: Vec<usize> = Vec::new();
    let mut failures = 0;
    for at in 0..blocks.len() {
        let joined = classes.iter().any(|&class| {
            let swapped = |i: usize| match i {
                _ if i == at => class,
                _ if i == class => at,
                _ => i,
            };
            let joined = attempt(search, blocks, swapped, found);
            failures = if joined { 0 } else { failures + 1 };
            joined
        });
        if failures > MAX_FAILURES {
            return false;
        }
        if !joined && classes.len() < MAX_CLASSES {
            classes.push(at);
        } else if !joined {
            return false;
        }
    }
    classes.len() == 1
}

/// Tries rotations and a reflection; true if a rotation was found.
fn rotations(
    search: &mut Search<'_>,
    blocks: &[Vec<usize>],
    found: &mut Vec<Automorphism>,
) -> bool {
    let length = blocks.len();
    let divisors = (1..=length / 2).filter(|d| length.is_multiple_of(*d)).take(MAX_ROTATIONS);
    let mut rotated = false;
    for by in divisors {
        if attempt(search, blocks, |i| (i + by) % length, found) {
            rotated = true;
            break;
        }
    }
    attempt(search, blocks, |i| (length - i) % length, found);
    rotated
}

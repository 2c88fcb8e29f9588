//! Which systems and properties of two versions of a model correspond.
//!
//! A system corresponds to the one of the same name. A name that is derived from the name of the
//! file says nothing: such systems correspond to each other. The two systems of a script with
//! `MAXSTEPS` have the same name; one has the bound, the other has none.

use gander_system::{Claim, ClaimOrigin, System};

use crate::model::Model;

/// A rule for an old and a new system.
type Corresponds<'c> = dyn Fn(&System, &System) -> bool + 'c;

/// By system of the new model: the position of its counterpart in the old one.
pub(super) fn counterparts(old: &Model, new: &Model) -> Vec<Option<usize>> {
    let mut found: Vec<Option<usize>> = vec![None; new.systems.len()];
    let single = old.systems.len() == 1 && new.systems.len() == 1;
    let same_name = |o: &System, n: &System| is_bounded(o) == is_bounded(n) && o.name() == n.name();
    let same_file = |o: &System, n: &System| {
        is_bounded(o) == is_bounded(n) && is_named_by_file(old, o) && is_named_by_file(new, n)
    };
    let same_role = |_: &System, _: &System| single;
    let rules: [&Corresponds<'_>; 3] = [&same_name, &same_file, &same_role];
    for corresponds in rules {
        for (i, system) in new.systems.iter().enumerate() {
            if found[i].is_none() {
                found[i] = (0..old.systems.len())
                    .find(|j| !found.contains(&Some(*j)) && corresponds(&old.systems[*j], system));
            }
        }
    }
    found
}

/// True if the author bounds the length of its runs.
fn is_bounded(system: &System) -> bool {
    system.step_limit().is_some()
}

/// True if the name of the system may be derived from the name of its file: front-ends take the
/// part before the first or the last dot, or a fixed word if that is empty.
fn is_named_by_file(model: &Model, system: &System) -> bool {
    let path = model.source().name();
    let file = path.rsplit(['/', '\\']).next().unwrap_or(path);
    let before_first = file.split('.').next().unwrap_or(file);
    let before_last = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
    let name = system.name();
    name == before_first
        || name == before_last
        || (before_first.is_empty() && matches!(name, "spec" | "script" | "system"))
}

/// True for the properties that are compared.
pub(super) fn is_compared(claim: &Claim) -> bool {
    claim.origin != ClaimOrigin::Structural
}

/// The position of a property.
pub(super) fn property(system: &System, name: &str) -> Option<usize> {
    system.claims().iter().position(|c| is_compared(c) && c.name == name)
}

//! Values of variables as authors see them. A variable of a family of any size is an array of the
//! system; it is shown for each instance that exists, under the name that it has there.

use gander_system::{Family, ShownVar, System, VarId};
use gander_term::{IBig, Sort, Value, evaluate};

/// Families of more instances are shown as arrays.
const MAX_INSTANCES: usize = 64;

/// The variables with their values.
pub(super) fn shown_values(
    system: &System,
    var: &ShownVar<'_>,
    values: &[Value],
) -> Vec<(String, String)> {
    instances(system, var, values, |_| true).unwrap_or_else(|| vec![show_var(system, var, values)])
}

/// The same of the variables whose value differs from the one before.
pub(super) fn shown_changes(
    system: &System,
    var: &ShownVar<'_>,
    before: &[Value],
    now: &[Value],
) -> Vec<(String, String)> {
    if var.parts().all(|v| before.get(v.index()) == now.get(v.index())) {
        return Vec::new();
    }
    let element = |values: &[Value], k: &Value| match values.get(var.first.index()) {
        Some(Value::Array(array)) => Some(array.get(k).clone()),
        _ => None,
    };
    let changes = |k: &Value| element(before, k) != element(now, k);
    instances(system, var, now, changes).unwrap_or_else(|| vec![show_var(system, var, now)])
}

fn show_var(system: &System, var: &ShownVar<'_>, values: &[Value]) -> (String, String) {
    let scalar = |v: Option<VarId>, value: &Value| match v {
        Some(v) => system.show_value(v, value),
        None => system.pool().show_decimal(value),
    };
    (var.name.to_owned(), system.show_var(var, values, &scalar))
}

/// The values at the chosen instances of a family; `None` if the variable belongs to no family of
/// any size, or if this has too many instances. Nothing for auxiliary arrays, such as partial sums.
fn instances(
    system: &System,
    var: &ShownVar<'_>,
    values: &[Value],
    is_chosen: impl Fn(&Value) -> bool,
) -> Option<Vec<(String, String)>> {
    let info = system.var(var.first);
    if system.sizes().is_empty() || var.width != 1 || !matches!(info.sort, Sort::Array(_)) {
        return None;
    }
    let Some(family) = system.families().iter().find(|f| f.arrays.contains(&var.first)) else {
        return info.span.is_none().then(Vec::new);
    };
    let Some(Value::Array(array)) = values.get(var.first.index()) else { return None };
    let own = var.name.strip_prefix(family.name.as_str())?;
    let indices = (0..size(system, family, values)?).map(|k| (k, Value::Int(IBig::from(k))));
    let shown = indices.filter(|(_, k)| is_chosen(k)).map(|(number, k)| {
        let value = system.show_value(var.first, array.get(&k));
        (format!("{}[{number}]{own}", family.name), value)
    });
    Some(shown.collect())
}

fn size(system: &System, family: &Family, values: &[Value]) -> Option<usize> {
    let look = |s| {
        let var = system.vars().iter().position(|v| v.current == s)?;
        values.get(var).cloned()
    };
    let Ok(Value::Int(size)) = evaluate(system.pool(), family.size.term(), &look) else {
        return None;
    };
    usize::try_from(&size).ok().filter(|n| *n <= MAX_INSTANCES)
}

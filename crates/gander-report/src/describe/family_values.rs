//! Values of variables as authors see them. A variable of a family of any size is an array of the
//! system; it is shown for each instance that exists, under the name that it has there.

use std::collections::HashSet;

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

/// The values of a variable at the instances of a family of any size; `None` if it belongs to none.
pub fn instance_values(
    system: &System,
    var: &ShownVar<'_>,
    values: &[Value],
) -> Option<Vec<(String, String)>> {
    instances(system, var, values, |_| true)
}

/// A formula about families of any size as authors write it: `p[i].x` for the array `p.x` at `i`,
/// and bound variables without the numbers that tell them from others of the same name.
pub fn family_text(system: &System, text: String) -> String {
    if system.sizes().is_empty() {
        return text;
    }
    let mut text = without_numbers(&text);
    for family in system.families() {
        for &array in &family.arrays {
            let name = &system.var(array).name;
            let Some(own) = name.strip_prefix(family.name.as_str()) else { continue };
            if !own.is_empty() {
                text = index_first(&text, &family.name, own);
            }
        }
    }
    text
}

/// Replaces `family.own[index]` by `family[index].own`.
fn index_first(text: &str, family: &str, own: &str) -> String {
    let pattern = format!("{family}{own}[");
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(&pattern) {
        let (before, behind) = (&rest[..at], &rest[at + pattern.len()..]);
        let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.');
        let mut depth = 1;
        let end = behind.char_indices().find_map(|(i, c)| {
            depth += match c {
                '[' => 1,
                ']' => -1,
                _ => 0,
            };
            (depth == 0).then_some(i)
        });
        out.push_str(before);
        match end.filter(|_| !before.ends_with(is_name)) {
            Some(end) => {
                let index = index_first(&behind[..end], family, own);
                out.push_str(&format!("{family}[{index}]{own}"));
                rest = &behind[end + 1..];
            }
            None => {
                out.push_str(&pattern);
                rest = behind;
            }
        }
    }
    out.push_str(rest);
    out
}

/// The text without the numbers of bound variables (`i~22`), where the names stay different.
fn without_numbers(text: &str) -> String {
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    let words: HashSet<&str> = text.split(|c: char| !is_name(c) && c != '~').collect();
    let mut known: Vec<(String, String)> = Vec::new();
    for (at, _) in text.match_indices('~') {
        let start = text[..at]
            .rfind(|c| !is_name(c))
            .map_or(0, |i| i + text[i..].chars().next().map_or(1, char::len_utf8));
        let number: String = text[at + 1..].chars().take_while(char::is_ascii_digit).collect();
        let name = &text[start..at];
        if name.is_empty() || number.is_empty() {
            continue;
        }
        let whole = format!("{name}~{number}");
        if known.iter().all(|(w, _)| *w != whole) {
            let numbered = (2_u64..).map(|n| format!("{name}{n}"));
            let is_free = |short: &String| {
                !words.contains(short.as_str()) && known.iter().all(|(_, k)| k != short)
            };
            if let Some(short) = std::iter::once(name.to_string()).chain(numbered).find(is_free) {
                known.push((whole, short));
            }
        }
    }
    // Longer names first, as `i~2` begins `i~22`.
    known.sort_by_key(|(whole, _)| std::cmp::Reverse(whole.len()));
    let mut out = text.to_string();
    for (whole, short) in known {
        out = out.replace(&whole, &short);
    }
    out
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_array_of_a_family_is_written_behind_its_index() {
        let text = "N >= i + 1 and p.visits[q.x[i]] <= p.visits[i] and app.visits[0] == 1";
        assert_eq!(
            index_first(text, "p", ".visits"),
            "N >= i + 1 and p[q.x[i]].visits <= p[i].visits and app.visits[0] == 1"
        );
        assert_eq!(index_first("p.visits[p.visits[i]]", "p", ".visits"), "p[p[i].visits].visits");
    }

    #[test]
    fn bound_variables_lose_their_numbers_where_they_stay_different() {
        let text = "forall i~2: int. forall i~22: int. i~2 == i~22 or j~3 > 0";
        assert_eq!(without_numbers(text), "forall i: int. forall i2: int. i == i2 or j > 0");
        let text = "forall i: int. exists i~22: int. x[i] < x[i~22] + i2";
        assert_eq!(without_numbers(text), "forall i: int. exists i3: int. x[i] < x[i3] + i2");
    }
}

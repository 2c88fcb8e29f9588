//! What the model and an earlier run request: `--%IVC` annotations and earlier cores.

use std::collections::BTreeMap;

use gander_explain::Part;
use gander_lang::language_for;

/// The cores in the JSON of an earlier run, by property; none if it is another text.
pub(super) fn earlier_cores(text: &str) -> Option<BTreeMap<String, Vec<String>>> {
    let value: serde_json::Value = serde_json::from_str(text).ok()?;
    if value.get("schema")?.as_str()? != gander_report::EXPLAIN_SCHEMA {
        return None;
    }
    let mut cores = BTreeMap::new();
    for result in value.get("results")?.as_array()? {
        let smallest = result
            .get("cores")?
            .as_array()?
            .iter()
            .filter_map(|c| c.as_array())
            .min_by_key(|c| c.len());
        let names = |c: &Vec<serde_json::Value>| {
            c.iter().filter_map(|n| n.as_str().map(str::to_string)).collect()
        };
        if let Some(core) = smallest {
            cores.insert(result.get("property")?.as_str()?.to_string(), names(core));
        }
    }
    Some(cores)
}

/// The variables that `--%IVC` names in a Lustre text, by node; none if there is no such
/// annotation.
pub(super) fn annotated(source: &str, file_name: &str) -> Option<Vec<(String, String)>> {
    use gander_lang::lustre::ast::{Item, Statement};
    if language_for(file_name, source).is_none_or(|l| l.name != "lustre")
        || !source.contains("%IVC")
    {
        return None;
    }
    let file = gander_lang::lustre::parse(source).file;
    let mut named = Vec::new();
    for item in &file.items {
        let Item::Node(node) = item else { continue };
        let owner = source.get(node.name.span.range()).unwrap_or_default();
        for statement in &node.body {
            let Statement::Ivc(list) = statement else { continue };
            named.extend(list.iter().filter_map(|(_, span)| {
                let name: String = source.get(span.range())?.split_whitespace().collect();
                Some((owner.to_string(), name))
            }));
        }
    }
    (!named.is_empty()).then_some(named)
}

/// True if an annotation names the part.
pub(super) fn is_asked_for(part: &Part, asked: &[(String, String)]) -> bool {
    let stem = |name: &str| name.split(['[', '.']).next().unwrap_or_default().to_string();
    let prefix = format!("{}.", part.owner);
    part.defines.iter().any(|name| {
        let name = name.strip_prefix(&prefix).unwrap_or(name);
        // All elements of an array are defined together.
        let whole = name.split('[').next().unwrap_or(name);
        let is = |wanted: &str| wanted == name || wanted == whole;
        let matches = |wanted: &str| is(wanted) || is(&stem(wanted));
        asked.iter().any(|(node, wanted)| *node == part.owner && matches(wanted))
    })
}

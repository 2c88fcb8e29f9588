//! The report of a run as files: CSV for programs, Markdown for reading, SVG plots.

mod findings;
mod tables;

use crate::plot::{cactus, scatter};
use crate::results::folder::{Contents, Folder};
use crate::score::Scoreboard;

pub use tables::{files_csv, rows_csv};

/// Files and folders of a report, by name, with their text.
pub type Documents = Vec<(String, String)>;

/// The report of a folder.
pub fn documents(contents: &Contents) -> Result<Documents, String> {
    let scoreboard = Scoreboard::new(contents);
    let mut documents = vec![
        ("report.md".to_string(), markdown(contents, &scoreboard)),
        ("results.csv".to_string(), rows_csv(&scoreboard)?),
        ("files.csv".to_string(), files_csv(&scoreboard)?),
    ];
    let live = scoreboard.live();
    let all: Vec<usize> = (0..scoreboard.suite.benchmarks.len()).collect();
    documents.push(("plots/cactus.svg".into(), cactus(&scoreboard, &live, &all)));
    let mut tables = 0;
    for (recorded, files) in tables::recorded_groups(&scoreboard) {
        tables += 1;
        let contenders: Vec<usize> = live.iter().chain(&recorded).copied().collect();
        documents.push((
            format!("plots/cactus-recorded-{tables}.svg"),
            cactus(&scoreboard, &contenders, &files),
        ));
    }
    if let Some(&first) = live.first() {
        for other in (0..scoreboard.contenders.len()).filter(|c| *c != first) {
            let name = |c: usize| file_name(&scoreboard.contenders[c].label);
            let title = format!("plots/scatter-{}-{}.svg", name(other), name(first));
            documents.push((title, scatter(&scoreboard, other, first, &all)));
        }
    }
    Ok(documents)
}

/// Writes the report of a folder into it; returns the names of the files.
pub fn write(folder: &Folder) -> Result<Vec<String>, String> {
    let mut names = Vec::new();
    for (name, text) in documents(&folder.load()?)? {
        folder.write(&name, &text)?;
        names.push(name);
    }
    Ok(names)
}

/// The report as Markdown.
pub fn markdown(contents: &Contents, scoreboard: &Scoreboard) -> String {
    let mut out = tables::introduction(contents, scoreboard);
    out += &tables::overall(scoreboard);
    out += &tables::by_set(scoreboard);
    out += &tables::recorded(contents, scoreboard);
    out += &findings::engines(scoreboard);
    out += &findings::disagreements(scoreboard);
    out += &findings::crashes(scoreboard);
    out += &findings::rejections(scoreboard);
    out += &findings::vacuous(scoreboard);
    out += &findings::unsolved(scoreboard);
    out
}

fn file_name(label: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    let name: String = label.chars().map(plain).collect();
    name.split('-').filter(|p| !p.is_empty()).collect::<Vec<_>>().join("-")
}

/// Text in a cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace(['\n', '\r'], " ")
}

#[cfg(test)]
mod tests;

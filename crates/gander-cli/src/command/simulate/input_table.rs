//! Inputs of a dataflow program from comma-separated values (RFC 4180): a header with names of
//! streams, a row for each instant. The value of an empty cell is chosen by the simulator. The
//! `csv` crate is not used for reading: it skips empty lines, which are rows of a table with one
//! column, and accepts quotes that are not closed.

use gander::StreamSimulator;
use gander::lang::nearest;
use gander::system::{Instant, System, VarId};
use gander::term::{Sort, Value, parse_value};

/// Values for the free streams, instant by instant.
#[derive(Debug)]
pub struct InputTable {
    /// For each instant: streams with their values.
    pub rows: Vec<Vec<(VarId, Value)>>,
}

/// The meaning of a column.
#[derive(Clone, Copy)]
enum Column {
    /// Values of this stream.
    Input(VarId),
    /// The program computes it, or it is the number of the step.
    Ignored,
}

impl InputTable {
    /// Reads a table for a program. Columns of streams that have an equation are ignored.
    pub fn read(text: &str, simulator: &StreamSimulator) -> Result<InputTable, String> {
        let system = simulator.system();
        let mut records = records(text)?.into_iter();
        let header = records
            .next()
            .ok_or("the file is empty: a row with the names of the inputs was expected")?;
        let mut columns = Vec::new();
        for (i, name) in header.iter().enumerate() {
            let name = name.trim();
            if header[..i].iter().any(|other| other.trim() == name) {
                return Err(format!("row 1: the column `{name}` is there twice"));
            }
            columns.push(column(name, simulator).map_err(|e| format!("row 1: {e}"))?);
        }
        for v in simulator.inputs() {
            if !columns.iter().any(|c| matches!(c, Column::Input(w) if *w == v)) {
                return Err(format!(
                    "row 1: there is no column for the input `{}`",
                    system.var(v).name
                ));
            }
        }
        let mut rows: Vec<Vec<(VarId, Value)>> = Vec::new();
        for (r, record) in records.enumerate() {
            let place = format!("row {}", r + 2);
            if record.len() != columns.len() {
                let (found, wanted) = (record.len(), columns.len());
                let values = if found == 1 { "value" } else { "values" };
                let columns = if wanted == 1 { "column" } else { "columns" };
                return Err(format!(
                    "{place}: {found} {values} where the header has {wanted} {columns}"
                ));
            }
            let mut row = Vec::new();
            for (cell, column) in record.iter().zip(&columns) {
                let Column::Input(v) = *column else { continue };
                let cell = cell.trim();
                if cell.is_empty() {
                    continue;
                }
                let var = system.var(v);
                let value = read_value(system, v, cell)
                    .map_err(|e| format!("{place}, column `{}`: {e}", var.name))?;
                if r > 0 && !simulator.flow().is_free(Instant::Later, v) {
                    let first = rows[0].iter().find(|(w, _)| *w == v).map(|(_, x)| x);
                    if first.is_some_and(|x| *x != value) {
                        return Err(format!(
                            "{place}, column `{}`: a constant keeps its first value",
                            var.name
                        ));
                    }
                    continue;
                }
                row.push((v, value));
            }
            rows.push(row);
        }
        Ok(InputTable { rows })
    }
}

fn column(name: &str, simulator: &StreamSimulator) -> Result<Column, String> {
    let system = simulator.system();
    let found = system.var_ids().find(|v| system.var(*v).name == name);
    match found {
        Some(v) if simulator.flow().is_free(Instant::First, v) => Ok(Column::Input(v)),
        // The stream is free at later instants only. `save` writes it, but its first value cannot
        // be given.
        Some(_) => Ok(Column::Ignored),
        None if name == "step" => Ok(Column::Ignored),
        None => {
            let near = nearest(name, system.vars().iter().map(|v| v.name.as_str()));
            let help = near.map_or(String::new(), |n| format!("; did you mean `{n}`?"));
            Err(format!("there is no stream `{name}`{help}"))
        }
    }
}

/// Reads a value; bools may also be `1` or `0`, in any case.
pub fn read_value(system: &System, v: VarId, text: &str) -> Result<Value, String> {
    let sort = system.var(v).sort;
    let lower = text.to_ascii_lowercase();
    match (sort, lower.as_str()) {
        (Sort::Bool, "true" | "1") => Ok(Value::Bool(true)),
        (Sort::Bool, "false" | "0") => Ok(Value::Bool(false)),
        _ => parse_value(system.pool(), sort, text)
            .map_err(|e| format!("{} (found `{text}`)", e.message)),
    }
}

/// The cells of each row. Empty lines at the end are dropped; a row of empty cells, `,,`, is a row.
fn records(text: &str) -> Result<Vec<Vec<String>>, String> {
    let mut records: Vec<Vec<String>> = Vec::new();
    let mut record: Vec<String> = Vec::new();
    let mut cell = String::new();
    let mut quoted = false;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' if quoted && chars.peek() == Some(&'"') => {
                chars.next();
                cell.push('"');
            }
            '"' if quoted => quoted = false,
            '"' if cell.trim().is_empty() => {
                cell.clear();
                quoted = true;
            }
            c if quoted => cell.push(c),
            ',' => record.push(std::mem::take(&mut cell)),
            '\r' if chars.peek() == Some(&'\n') => {}
            '\n' => {
                record.push(std::mem::take(&mut cell));
                records.push(std::mem::take(&mut record));
            }
            c => cell.push(c),
        }
    }
    if quoted {
        return Err(format!("row {}: a quote is not closed", records.len() + 1));
    }
    if !cell.is_empty() || !record.is_empty() {
        record.push(cell);
        records.push(record);
    }
    while records.last().is_some_and(|r| matches!(&r[..], [c] if c.trim().is_empty())) {
        records.pop();
    }
    Ok(records)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_and_line_ends_are_read() {
        let read = |text| records(text).unwrap();
        assert_eq!(read("a,b\r\n1, \"x,\"\"y\"\n"), [vec!["a", "b"], vec!["1", "x,\"y"]]);
        assert_eq!(read("a\n\n1\n\n\n"), [vec!["a"], vec![""], vec!["1"]]);
        assert_eq!(read("a,b\n1,"), [vec!["a", "b"], vec!["1", ""]]);
        assert_eq!(read("a,b,c\n1,2,3\n,,\n"), [["a", "b", "c"], ["1", "2", "3"], ["", "", ""]]);
        assert!(read("").is_empty());
        assert_eq!(records("a\n\"b"), Err("row 2: a quote is not closed".to_string()));
    }
}

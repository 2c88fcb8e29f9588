//! The commands of a simulation, one per line.

use gander::lang::nearest;
use gander::system::{StartId, System, TransitionId};
use gander::term::{Sort, SymbolId, Value, parse_value};

/// A command.
#[derive(Clone, PartialEq, Debug)]
pub enum Command {
    /// Take a transition with these parameters and next values.
    Take(TransitionId, Vec<(SymbolId, Value)>),
    /// Begin a new run with a start and these values.
    Begin(StartId, Vec<(SymbolId, Value)>),
    /// Take this many random steps.
    Random(u64),
    /// Undo this many steps.
    Undo(u64),
    /// Back to the first state.
    Reset,
    /// Print the run.
    Run,
    /// Show the state and the choices again.
    Show,
    /// Write the run as a script.
    Save(String),
    /// Show the commands.
    Help,
    /// End.
    Quit,
    /// An empty line or a comment.
    Nothing,
}

pub const HELP: &str = "\
NUMBER or NAME [x=5 ...]  take that transition; what you do not give is chosen
                          (y'=3 asks for a next value)
random [N]                take N random steps (1)
undo [N]                  take N steps back (1)
reset                     back to the first state
start [NAME] [x=5 ...]    begin anew
show                      show state and transitions again
run                       print the run so far
save FILE                 write the run as a script for --script
quit                      end
";

const WORDS: [&str; 9] =
    ["random", "undo", "reset", "start", "show", "run", "save", "quit", "help"];

/// Parses a line. A number selects one of `choices`.
pub fn parse(line: &str, system: &System, choices: &[TransitionId]) -> Result<Command, String> {
    let words = split(line)?;
    let Some((first, rest)) = words.split_first() else { return Ok(Command::Nothing) };
    // Names of transitions take precedence over commands, so that a model can have a gate `run`.
    if let Some(t) = transition(first, system, choices) {
        return Ok(Command::Take(t, settings(rest, |name| step_symbol(system, t, name))?));
    }
    match first.as_str() {
        "random" | "r" => Ok(Command::Random(count(rest)?)),
        "undo" | "u" => Ok(Command::Undo(count(rest)?)),
        "reset" => Ok(Command::Reset),
        "run" => Ok(Command::Run),
        "show" => Ok(Command::Show),
        "help" | "h" | "?" => Ok(Command::Help),
        "quit" | "q" | "exit" => Ok(Command::Quit),
        "save" => match rest {
            [file] => Ok(Command::Save(file.clone())),
            _ => Err("save takes the name of a file".to_string()),
        },
        "start" => begin(rest, system),
        _ => Err(unknown(first, system, choices)),
    }
}

/// The words that a line may begin with, each with the words that may follow it.
pub fn completions(system: &System, choices: &[TransitionId]) -> Vec<(String, Vec<String>)> {
    let step = |&t: &TransitionId| {
        let transition = system.transition(t);
        let params = transition.params.iter().map(|p| format!("{}=", p.name));
        let next = (system.var_ids().filter(|&v| !transition.determines(v)))
            .map(|v| format!("{}'=", system.var(v).name));
        let words: Vec<String> = params.chain(next).collect();
        let gate = transition.gate.map(|g| system.gates()[g.index()].clone());
        let alone = |g: &String| {
            let same = |o: &&TransitionId| {
                system.transition(**o).gate.is_some_and(|o| system.gates()[o.index()] == *g)
            };
            choices.iter().filter(same).count() == 1
        };
        // A name with blanks cannot be typed.
        let name = Some(transition.name.clone()).filter(|n| !n.contains(char::is_whitespace));
        let word = gate.filter(alone).or(name)?;
        Some((word, words))
    };
    let starts = system.starts().iter().map(|s| s.name.clone());
    let values = system.vars().iter().map(|v| format!("{}=", v.name));
    let starts: Vec<String> = starts.chain(values).collect();
    let commands = WORDS.iter().map(|&w| {
        let after = if w == "start" { starts.clone() } else { Vec::new() };
        (w.to_string(), after)
    });
    choices.iter().filter_map(step).chain(commands).collect()
}

fn begin(rest: &[String], system: &System) -> Result<Command, String> {
    let (start, rest) = match rest.split_first() {
        Some((name, rest)) if !name.contains('=') => {
            let by_number = name
                .parse::<usize>()
                .ok()
                .and_then(|n| n.checked_sub(1))
                .filter(|n| *n < system.starts().len());
            let found = system.starts().iter().position(|s| s.name == *name).or(by_number);
            let found = found.ok_or_else(|| {
                let names: Vec<&str> = system.starts().iter().map(|s| s.name.as_str()).collect();
                format!("there is no start `{name}`; there is {}", names.join(", "))
            })?;
            (found, rest)
        }
        _ => (0, rest),
    };
    let symbol =
        |name: &str| system.vars().iter().find(|v| v.name == name).map(|v| (v.current, v.sort));
    Ok(Command::Begin(StartId::from(start), settings(rest, |name| (symbol(name), system))?))
}

fn transition(word: &str, system: &System, choices: &[TransitionId]) -> Option<TransitionId> {
    if let Ok(n) = word.parse::<usize>() {
        return n.checked_sub(1).and_then(|i| choices.get(i)).copied();
    }
    let named = |t: &&TransitionId| system.transition(**t).name == word;
    let gated = |t: &&TransitionId| {
        system.transition(**t).gate.is_some_and(|g| system.gates()[g.index()] == word)
    };
    choices
        .iter()
        .find(named)
        .or_else(|| {
            // A gate selects a transition if only one has it.
            let mut all = choices.iter().filter(gated);
            all.next().filter(|_| all.next().is_none())
        })
        .copied()
}

fn unknown(word: &str, system: &System, choices: &[TransitionId]) -> String {
    if word.parse::<usize>().is_ok() {
        return format!("there is no transition {word} here");
    }
    let gate =
        |t: &TransitionId| system.transition(*t).gate.map(|g| system.gates()[g.index()].as_str());
    if choices.iter().filter(|t| gate(t) == Some(word)).count() > 1 {
        let names: Vec<&str> = choices
            .iter()
            .filter(|t| gate(t) == Some(word))
            .map(|t| system.transition(*t).name.as_str())
            .collect();
        return format!("several transitions have the gate `{word}`: {}", names.join(", "));
    }
    let elsewhere = system
        .transitions()
        .iter()
        .find(|t| t.name == word || t.gate.is_some_and(|g| system.gates()[g.index()] == word));
    if let Some(t) = elsewhere {
        return format!(
            "`{word}` leaves {}, which is not where the run is",
            system.node(t.source).name
        );
    }
    let names = choices.iter().filter_map(gate).chain(WORDS);
    match nearest(word, names) {
        Some(near) => format!("`{word}` is not known here; did you mean `{near}`?"),
        None => format!("`{word}` is not known here; `help` lists the commands"),
    }
}

fn count(rest: &[String]) -> Result<u64, String> {
    match rest {
        [] => Ok(1),
        [n] => n.parse().map_err(|_| format!("a number was expected, not `{n}`")),
        _ => Err("one number was expected".to_string()),
    }
}

type Found<'s> = (Option<(SymbolId, Sort)>, &'s System);

/// A parameter, or a variable (by its primed name) that the effect does not determine.
fn step_symbol<'s>(system: &'s System, t: TransitionId, name: &str) -> Found<'s> {
    let transition = system.transition(t);
    let param = transition.params.iter().find(|p| p.name == name).map(|p| (p.symbol, p.sort));
    let next = || {
        let name = name.strip_suffix('\'')?;
        let (i, var) = system.vars().iter().enumerate().find(|(_, v)| v.name == name)?;
        (!transition.determines(i.into())).then_some((var.next, var.sort))
    };
    (param.or_else(next), system)
}

/// Reads `name=value` pairs.
fn settings<'s>(
    words: &[String],
    symbol: impl Fn(&str) -> Found<'s>,
) -> Result<Vec<(SymbolId, Value)>, String> {
    let mut settings = Vec::new();
    for word in words {
        let (name, text) = word
            .split_once('=')
            .ok_or_else(|| format!("`{word}` is not of the form name=value"))?;
        let (found, system) = symbol(name);
        let (id, sort) = found.ok_or_else(|| format!("`{name}` cannot be chosen here"))?;
        let value =
            parse_value(system.pool(), sort, text).map_err(|e| format!("{name}: {}", e.message))?;
        settings.push((id, value));
    }
    Ok(settings)
}

/// The words of a line. Quoted blanks belong to a word, and blanks around `=` do not end one. `#`
/// and `//` begin a comment.
pub fn split(line: &str) -> Result<Vec<String>, String> {
    let mut words: Vec<String> = Vec::new();
    let mut word = String::new();
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '#' => break,
            '/' if chars.peek() == Some(&'/') => break,
            '"' => {
                word.push(c);
                loop {
                    match chars.next() {
                        Some('\\') => {
                            word.push('\\');
                            word.extend(chars.next());
                        }
                        Some('"') => break word.push('"'),
                        Some(c) => word.push(c),
                        None => return Err("a quote is not closed".to_string()),
                    }
                }
            }
            c if c.is_whitespace() || c == ',' || c == '(' || c == ')' => {
                if !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
            }
            c => word.push(c),
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    Ok(join_equals(words))
}

/// Joins `x`, `=` and `5` into one word.
fn join_equals(words: Vec<String>) -> Vec<String> {
    let mut joined: Vec<String> = Vec::new();
    for word in words {
        match joined.last_mut() {
            Some(last) if word.starts_with('=') || last.ends_with('=') => last.push_str(&word),
            _ => joined.push(word),
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_split_into_words() {
        let words = |line: &str| split(line).unwrap();
        assert_eq!(words("deposit amount=5 # more"), ["deposit", "amount=5"]);
        assert_eq!(
            words("deposit(amount = 1/3, note = \"a b\\\" c\")"),
            ["deposit", "amount=1/3", "note=\"a b\\\" c\""]
        );
        assert_eq!(words("  // nothing"), Vec::<String>::new());
        assert!(split("x=\"").is_err());
    }
}

//! `gander engines`.

use gander::engines::{Portfolio, engines};

use crate::command::args::EnginesArgs;
use crate::process::Output;

pub fn run(args: &EnginesArgs, output: &mut Output) -> u8 {
    if args.portfolio {
        output.put(Portfolio::DEFAULT);
        return 0;
    }
    let width = engines().iter().map(|e| e.name.len()).max().unwrap_or(0);
    for e in engines() {
        output.put(&format!("{:<width$}  {}\n", e.name, e.about));
    }
    let portfolio = Portfolio::default();
    output.put(
        "\nWithout `--engine`, the first plan that fits the model says which of them are used:\n\n",
    );
    let width = portfolio.plans().iter().map(|p| p.name.len()).max().unwrap_or(0);
    for plan in portfolio.plans() {
        let names: Vec<&str> =
            engines().iter().map(|e| e.name).filter(|n| plan.engines.contains_key(*n)).collect();
        output.put(&format!("{:<width$}  {}: {}\n", plan.name, plan.about, names.join(", ")));
    }
    0
}

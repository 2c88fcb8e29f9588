//! Each engine and the whole portfolio against the brute-force oracle, on random systems.
//!
//! `GANDER_ORACLE_SYSTEMS` sets the number of systems; otherwise the test tier does. The example
//! `oracle` of this crate runs more and prints the results.

#[path = "models/against_oracle.rs"]
mod against_oracle;

use std::sync::Arc;

use against_oracle::Portfolio;
use gander_engines::{EngineOptions, InductionOptions, SimulationOptions};
use gander_oracle::{
    Comparison, Decider, Decision, Lengths, Report, Settings, Tier, compare, compare_open,
};
use gander_system::passes::flatten;
use gander_system::{Claim, ClaimKind, Goal, Structure, System};

fn systems() -> u64 {
    std::env::var("GANDER_ORACLE_SYSTEMS")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or_else(|| Tier::amount(20, 100))
}

fn agrees(mut portfolio: Portfolio, lengths: Lengths, first: u64) -> Report {
    let comparison = Comparison { lengths, ..Comparison::default() };
    let report = compare(first..first + systems(), &mut portfolio, comparison);
    assert!(portfolio.problems.is_empty(), "internal errors:\n{}", portfolio.problems.join("\n"));
    assert!(report.disagreements.is_empty(), "{report}");
    report
}

/// Bit-vectors of a few bits, for engines with and without solvers.
#[test]
fn bit_vectors_agree() {
    for engines in [None, Some(&["simulate"][..])] {
        let mut portfolio = Portfolio::new(engines);
        let lengths = if engines.is_none() { Lengths::Shortest } else { Lengths::Any };
        let settings = Settings::few_states().bit_vectors();
        let comparison = Comparison { lengths, settings, ..Comparison::default() };
        let report = compare(500_000..500_000 + systems(), &mut portfolio, comparison);
        assert!(
            portfolio.problems.is_empty(),
            "internal errors:\n{}",
            portfolio.problems.join("\n")
        );
        assert!(report.disagreements.is_empty(), "{report}");
        let (holds, fails) = decided(&report);
        assert!(holds > 0 && fails > 0, "{report}");
    }
}

/// Instances of one system: evidence is renamed by the automorphisms that were found. Runs stay
/// shortest.
#[test]
fn symmetric_instances_agree() {
    for engines in [None, Some(&["bmc", "induction"][..]), Some(&["explicit"][..])] {
        let mut portfolio = Portfolio::new(engines);
        let settings = Settings::few_states().linear().family();
        let comparison =
            Comparison { lengths: Lengths::Shortest, settings, ..Comparison::default() };
        let report = compare(950_000..950_000 + systems(), &mut portfolio, comparison);
        assert!(
            portfolio.problems.is_empty(),
            "internal errors:\n{}",
            portfolio.problems.join("\n")
        );
        assert!(report.disagreements.is_empty(), "{report}");
        let (holds, fails) = decided(&report);
        assert!(holds > 0 && fails > 0, "{report}");
        assert!(portfolio.renamed > 0, "no evidence was renamed\n{report}");
    }
}

/// Arrays over few indices. The whole portfolio and every single engine must decide each claim
/// correctly or leave it open.
#[test]
fn arrays_agree() {
    let settings = Settings::few_states().arrays();
    let mut portfolio = Portfolio::new(None);
    let comparison = Comparison { lengths: Lengths::Shortest, settings, ..Comparison::default() };
    let report = compare(900_000..900_000 + systems().div_ceil(5), &mut portfolio, comparison);
    assert!(portfolio.problems.is_empty(), "internal errors:\n{}", portfolio.problems.join("\n"));
    assert!(report.disagreements.is_empty(), "{report}");
    let (holds, fails) = decided(&report);
    assert!(holds > 0 && fails > 0, "{report}");
    for engine in gander_engines::engines() {
        let mut portfolio = Portfolio::new(Some(&[engine.name]));
        portfolio.timeout = std::time::Duration::from_secs(2);
        let comparison = Comparison { lengths: Lengths::Any, settings, ..Comparison::default() };
        let report = compare(910_000..910_000 + systems().div_ceil(20), &mut portfolio, comparison);
        assert!(
            portfolio.problems.is_empty(),
            "{}: internal errors:\n{}",
            engine.name,
            portfolio.problems.join("\n")
        );
        assert!(report.disagreements.is_empty(), "{}: {report}", engine.name);
        if ["bmc", "induction", "pdr", "nodes"].contains(&engine.name) {
            let (holds, fails) = decided(&report);
            assert!(holds > 0 && fails > 0, "{}: {report}", engine.name);
        }
    }
}

/// Arrays whose size is an unknown constant. A run must be shortest for its size, and one must be
/// found if some small size has one.
#[test]
fn sizes_agrees_on_arrays_of_open_size() {
    let mut portfolio = Portfolio::new(Some(&["sizes"]));
    portfolio.max_depth = Some(3);
    let sizes = gander_engines::engines().iter().find(|e| e.name == "sizes").unwrap();
    let report =
        compare_open(0..systems().div_ceil(4), 3, sizes.decides, |open| portfolio.runs(open));
    assert!(portfolio.problems.is_empty(), "internal errors:\n{}", portfolio.problems.join("\n"));
    assert!(report.disagreements.is_empty(), "{report}");
    let (holds, fails) = decided(&report);
    assert!(holds > 0 && fails > 0, "{report}");
}

/// Systems like dataflow programs, from which the reduction removes variables that are functions of
/// others; with and without abstraction of effects.
#[test]
fn definitions_agree() {
    for (engines, abstraction) in [(None, false), (Some(&["induction"][..]), true)] {
        let mut portfolio = Portfolio::new(engines);
        portfolio.abstraction = abstraction;
        let settings = Settings::few_states().linear().definitions();
        let comparison =
            Comparison { lengths: Lengths::Shortest, settings, ..Comparison::default() };
        let report = compare(600_000..600_000 + systems(), &mut portfolio, comparison);
        assert!(
            portfolio.problems.is_empty(),
            "internal errors:\n{}",
            portfolio.problems.join("\n")
        );
        assert!(report.disagreements.is_empty(), "{report}");
        let (holds, fails) = decided(&report);
        assert!(holds > 0 && fails > 0, "{report}");
    }
}

/// Decides claims about states of a system whose node is encoded in a variable, as in files of
/// other tools. The reduction recovers the nodes, and evidence is mapped back through two passes.
struct FlatDecider {
    portfolio: Portfolio,
    /// The number of systems whose location was a variable.
    systems: usize,
}

impl Decider for FlatDecider {
    fn decide(&mut self, system: &Arc<System>) -> Vec<Option<Decision>> {
        let flat = flatten(system).expect("any system can be flattened").system;
        let about_states = |kind: &ClaimKind| match kind {
            ClaimKind::Always(_) => true,
            ClaimKind::Reachable(goals) => matches!(goals[..], [Goal::State(_)]),
            _ => false,
        };
        // Some other claims become claims about states in a flat system, with other lengths.
        let asked: Vec<bool> = system.claims().iter().map(|c| about_states(&c.kind)).collect();
        let claims: Vec<Claim> = flat
            .claims()
            .iter()
            .zip(&asked)
            .filter(|(_, asked)| **asked)
            .map(|(claim, _)| claim.clone())
            .collect();
        if claims.is_empty() {
            return vec![None; asked.len()];
        }
        let flat = flat.with_structure(Structure::Foreign).with_claims(claims).without_fairness();
        self.systems += 1;
        let mut found = self.portfolio.decide(&Arc::new(flat)).into_iter();
        asked.into_iter().map(|asked| if asked { found.next().flatten() } else { None }).collect()
    }
}

#[test]
fn systems_with_control_in_variables_agree() {
    for engines in [
        None,
        Some(&["pdr"][..]),
        Some(&["nodes"][..]),
        Some(&["bmc"][..]),
        Some(&["induction"][..]),
    ] {
        let mut hidden = FlatDecider { portfolio: Portfolio::new(engines), systems: 0 };
        let settings = Settings::few_states().linear().composed();
        let comparison = Comparison { lengths: Lengths::Any, settings, ..Comparison::default() };
        let report = compare(950_000..950_000 + systems().div_ceil(2), &mut hidden, comparison);
        let problems = hidden.portfolio.problems;
        assert!(problems.is_empty(), "internal errors:\n{}", problems.join("\n"));
        assert!(report.disagreements.is_empty(), "{report}");
        let (holds, fails) = decided(&report);
        assert!(hidden.systems > 0 && holds > 0 && fails > 0, "{engines:?}: {report}");
    }
}

fn decided(report: &Report) -> (u64, u64) {
    report.by_kind.values().fold((0, 0), |(h, f), t| (h + t.holds, f + t.fails))
}

#[test]
fn bmc_agrees() {
    let report = agrees(Portfolio::new(Some(&["bmc"])), Lengths::Shortest, 0);
    let (holds, fails) = decided(&report);
    assert!(holds > 0 && fails > 0, "{report}");
}

#[test]
fn backward_agrees() {
    let report = agrees(Portfolio::new(Some(&["backward"])), Lengths::Shortest, 700_000);
    let (holds, fails) = decided(&report);
    assert!(holds > 0 && fails > 0, "{report}");
    let kinds = ["always", "reachable", "can-enable", "no-sinkhole", "completable", "no-deadlock"];
    let open: u64 = kinds
        .iter()
        .filter_map(|k| report.by_kind.get(*k))
        .map(|t| t.open_holds + t.open_fails)
        .sum();
    assert!(open * 20 <= holds + fails, "much is left open\n{report}");
}

#[test]
fn paths_agree() {
    let report = agrees(Portfolio::new(Some(&["paths"])), Lengths::Shortest, 800_000);
    let (holds, fails) = decided(&report);
    assert!(holds > 0 && fails > 0, "{report}");
}

/// One control graph, compositions that synchronise on gates, and systems with definitions. Runs
/// are mostly, but not always, shortest.
#[test]
fn nodes_agree() {
    let report = agrees(Portfolio::new(Some(&["nodes"])), Lengths::Any, 820_000);
    for kind in ["always", "reachable", "chain", "can-enable", "no-sinkhole", "completable"] {
        let t = report.by_kind.get(kind).copied().unwrap_or_default();
        assert!(t.holds > 0 && t.fails > 0, "{kind} is not decided in both directions\n{report}");
    }
    let (holds, fails) = decided(&report);
    let kinds = ["always", "reachable", "can-enable", "no-sinkhole", "completable", "no-deadlock"];
    let open: u64 = kinds
        .iter()
        .filter_map(|k| report.by_kind.get(*k))
        .map(|t| t.open_holds + t.open_fails)
        .sum();
    assert!(open * 20 <= holds + fails, "much is left open\n{report}");
    for settings in
        [Settings::few_states().composed(), Settings::few_states().linear().definitions()]
    {
        let mut portfolio = Portfolio::new(Some(&["nodes"]));
        let comparison = Comparison { lengths: Lengths::Any, settings, ..Comparison::default() };
        let report = compare(830_000..830_000 + systems().div_ceil(2), &mut portfolio, comparison);
        assert!(
            portfolio.problems.is_empty(),
            "internal errors:\n{}",
            portfolio.problems.join("\n")
        );
        assert!(report.disagreements.is_empty(), "{report}");
        let (holds, fails) = decided(&report);
        assert!(holds > 0 && fails > 0, "{report}");
    }
}

/// Independent components are closed in parallel.
#[test]
fn nodes_agree_with_branches() {
    let mut portfolio = Portfolio::new(Some(&["nodes"]));
    portfolio.components_at_once = Some(3);
    let report = agrees(portfolio, Lengths::Any, 840_000);
    let (holds, fails) = decided(&report);
    assert!(holds > 0 && fails > 0, "{report}");
}

#[test]
fn induction_agrees() {
    let report = agrees(Portfolio::new(Some(&["induction"])), Lengths::Shortest, 100_000);
    let (holds, fails) = decided(&report);
    assert!(holds > 0 && fails > 0, "{report}");
}

/// The engine finds runs only.
#[test]
fn guided_agrees() {
    let report = agrees(Portfolio::new(Some(&["guided"])), Lengths::Any, 740_000);
    let (holds, fails) = decided(&report);
    assert!(holds > 0 && fails > 0, "{report}");
}

#[test]
fn horn_agrees() {
    let mut portfolio = Portfolio::new(Some(&["horn"]));
    let comparison = Comparison { lengths: Lengths::Any, ..Comparison::default() };
    // Each claim needs a separate process, and queries that Z3 cannot answer use all their time.
    let report = compare(720_000..720_000 + systems().div_ceil(4), &mut portfolio, comparison);
    assert!(portfolio.problems.is_empty(), "internal errors:\n{}", portfolio.problems.join("\n"));
    assert!(report.disagreements.is_empty(), "{report}");
    let (holds, fails) = decided(&report);
    assert!(holds > 0 && fails > 0, "{report}");
}

/// One query over lists per claim, where the solver terminates.
#[test]
fn smt_only_agrees() {
    let mut portfolio = Portfolio::new(Some(&["smt-only"]));
    portfolio.timeout = std::time::Duration::from_secs(3);
    let settings = Settings::few_states().linear();
    let comparison = Comparison { lengths: Lengths::Any, settings, ..Comparison::default() };
    let report = compare(730_000..730_000 + systems().div_ceil(5), &mut portfolio, comparison);
    assert!(portfolio.problems.is_empty(), "internal errors:\n{}", portfolio.problems.join("\n"));
    assert!(report.disagreements.is_empty(), "{report}");
    let (holds, fails) = decided(&report);
    assert!(holds > 0 && fails > 0, "{report}");
}

/// Systems as generated, systems like dataflow programs, and systems with bit-vectors.
#[test]
fn pdr_agrees() {
    let report = agrees(Portfolio::new(Some(&["pdr"])), Lengths::Any, 700_000);
    let (holds, fails) = decided(&report);
    assert!(holds > 0 && fails > 0, "{report}");
    for settings in
        [Settings::few_states().linear().definitions(), Settings::few_states().bit_vectors()]
    {
        let mut portfolio = Portfolio::new(Some(&["pdr"]));
        let comparison = Comparison { lengths: Lengths::Any, settings, ..Comparison::default() };
        let report = compare(710_000..710_000 + systems(), &mut portfolio, comparison);
        assert!(
            portfolio.problems.is_empty(),
            "internal errors:\n{}",
            portfolio.problems.join("\n")
        );
        assert!(report.disagreements.is_empty(), "{report}");
        let (holds, fails) = decided(&report);
        assert!(holds > 0 && fails > 0, "{report}");
    }
}

#[test]
fn invariants_agree() {
    let portfolio = Portfolio { max_rounds: Some(4), ..Portfolio::new(Some(&["invariants"])) };
    let report = agrees(portfolio, Lengths::Any, 700_000);
    let (holds, fails) = decided(&report);
    assert!(holds > 0 && fails > 0, "{report}");
}

/// Induction tries small depths again when invariants arrive.
#[test]
fn induction_with_invariants_agrees() {
    let report = agrees(Portfolio::new(Some(&["induction", "invariants"])), Lengths::Any, 900_000);
    let (holds, fails) = decided(&report);
    assert!(holds > 0 && fails > 0, "{report}");
}

#[test]
fn the_portfolio_agrees() {
    let report = agrees(Portfolio::new(None), Lengths::Shortest, 300_000);
    // On finite systems, everything but liveness is decided.
    for kind in [
        "always",
        "reachable",
        "can-enable",
        "no-sinkhole",
        "start-satisfiable",
        "completable",
        "no-deadlock",
    ] {
        if let Some(t) = report.by_kind.get(kind) {
            let open = t.open_holds + t.open_fails;
            assert!(open * 20 <= t.holds + t.fails, "{kind} is often left open\n{report}");
        }
    }
}

/// Claims about maximal runs, with and without fairness, and `AG EF` claims. Half of the random
/// systems have fairness constraints, which occur in most kinds of claims.
#[test]
fn liveness_agrees() {
    let comparison = Comparison {
        lengths: Lengths::Any,
        settings: Settings::few_states(),
        ..Comparison::default()
    };
    let kinds = [
        "infinite-run",
        "eventually",
        "always-eventually",
        "leads-to",
        "always-possible",
        "exists-always",
    ];
    let mut portfolio = Portfolio::new(Some(&["liveness"]));
    // On a busy machine, claims that are often left open get more time.
    for seconds in [5, 40, 320] {
        portfolio.timeout = std::time::Duration::from_secs(seconds);
        let report = compare(700_000..700_000 + systems(), &mut portfolio, comparison);
        assert!(
            portfolio.problems.is_empty(),
            "internal errors:\n{}",
            portfolio.problems.join("\n")
        );
        assert!(report.disagreements.is_empty(), "{report}");
        let often_open = kinds.iter().find(|kind| {
            let t = report.by_kind.get(*kind).copied().unwrap_or_default();
            (t.open_holds + t.open_fails) * 10 > t.holds + t.fails
        });
        if let Some(kind) = often_open {
            assert!(seconds < 320, "{kind} is often left open\n{report}");
            continue;
        }
        for kind in kinds {
            let t = report.by_kind.get(kind).copied().unwrap_or_default();
            assert!(
                t.holds > 0 && t.fails > 0,
                "{kind} is not decided in both directions\n{report}"
            );
        }
        return;
    }
}

#[test]
fn explicit_agrees() {
    for settings in [
        Settings::few_states(),
        Settings::few_states().bit_vectors(),
        Settings::few_states().definitions(),
    ] {
        let mut portfolio = Portfolio::new(Some(&["explicit"]));
        let comparison =
            Comparison { lengths: Lengths::Shortest, settings, ..Comparison::default() };
        // Smaller sets of systems do not have every kind of claim in both directions.
        let report = compare(700_000..700_000 + systems().max(100), &mut portfolio, comparison);
        assert!(
            portfolio.problems.is_empty(),
            "internal errors:\n{}",
            portfolio.problems.join("\n")
        );
        assert!(report.disagreements.is_empty(), "{report}");
        for kind in [
            "always",
            "reachable",
            "chain",
            "can-enable",
            "no-sinkhole",
            "completable",
            "always-possible",
        ] {
            let t = report.by_kind.get(kind).unwrap_or_else(|| panic!("no {kind}"));
            assert!(t.holds > 0 && t.fails > 0, "{kind}\n{report}");
        }
    }
}

/// With closed sets and with formulas as proofs.
#[test]
fn bdd_agrees() {
    for (few_states, settings) in [
        (20_000, Settings::few_states().linear()),
        (0, Settings::few_states().linear()),
        (0, Settings::few_states().bit_vectors()),
        (0, Settings::few_states().linear().definitions()),
    ] {
        let mut portfolio = Portfolio::new(Some(&["bdd"]));
        portfolio.few_states = few_states;
        let comparison =
            Comparison { lengths: Lengths::Shortest, settings, ..Comparison::default() };
        let report = compare(800_000..800_000 + systems(), &mut portfolio, comparison);
        assert!(
            portfolio.problems.is_empty(),
            "internal errors:\n{}",
            portfolio.problems.join("\n")
        );
        assert!(report.disagreements.is_empty(), "{report}");
        let (holds, fails) = decided(&report);
        assert!(holds > 0 && fails > 0, "{report}");
    }
}

#[test]
fn simulation_agrees() {
    let report = agrees(Portfolio::new(Some(&["simulate"])), Lengths::Any, 200_000);
    let (holds, fails) = decided(&report);
    assert!(holds > 0 && fails > 0, "{report}");
}

/// Runs that cover transitions, and one invariant for all claims, as with many claims.
#[test]
fn easy_claims_agree() {
    for engines in [&["simulate"][..], &["induction"], &["simulate", "induction"]] {
        let mut portfolio = Portfolio::new(Some(engines));
        portfolio.options = Some(EngineOptions {
            many_claims: 1,
            max_depth: Some(12),
            induction: InductionOptions { max_k: Some(12), ..InductionOptions::default() },
            simulation: SimulationOptions {
                max_steps: Some(3_000),
                ..SimulationOptions::default()
            },
            ..EngineOptions::default()
        });
        let report = agrees(portfolio, Lengths::Any, 210_000);
        let (holds, fails) = decided(&report);
        assert!(holds > 0 && fails > 0, "{engines:?}: {report}");
    }
}

/// Runs with loops, which are not shortest. Most claims that hold are left to other engines.
#[test]
fn acceleration_agrees() {
    let mut portfolio = Portfolio::new(Some(&["accelerate"]));
    portfolio.max_depth = Some(5);
    let report = agrees(portfolio, Lengths::Any, 400_000);
    let (holds, fails) = decided(&report);
    assert!(holds > 0 && fails > 0, "{report}");
}

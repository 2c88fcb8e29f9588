//! Two workers find the same cores as one, in the same order.

mod prover;

use std::fmt::Write;
use std::sync::Arc;
use std::time::Duration;

use gander_explain::{
    CoreSelection, ExplainConfig, Explainer, Granularity, Parts, Prover, Request,
};
use gander_system::{ClaimId, System, Verdict};
use prover::{Engines, core_names};

/// A prover that supplies a second one.
struct Several {
    engines: Engines,
    helpers: std::cell::Cell<u32>,
}

impl Prover for Several {
    fn prove(&mut self, system: &Arc<System>, claim: ClaimId, time: Duration) -> Verdict {
        self.engines.prove(system, claim, time)
    }

    fn certify(
        &mut self,
        system: &System,
        claim: ClaimId,
        verdict: &Verdict,
    ) -> Result<(), String> {
        self.engines.certify(system, claim, verdict)
    }

    fn helper(&self) -> Option<Box<dyn Prover + Send>> {
        self.helpers.set(self.helpers.get() + 1);
        Some(Box::new(Engines::new()))
    }
}

/// A signal that passes through a chain of equations, some of them with memory; at three places
/// there are two alternatives.
fn line() -> String {
    let mut text = String::from("node line(a: bool) returns (ok: bool);\nvar first: bool;\n");
    let mut equations = String::from("  first = a or not a;\n");
    let mut last = "first".to_string();
    for i in 0..42 {
        let name = format!("x{i}");
        let _ = writeln!(text, "var {name}: bool;");
        if i % 14 == 13 {
            let _ = writeln!(text, "var {name}l, {name}r: bool;");
            let _ = writeln!(
                equations,
                "  {name}l = {last};\n  {name}r = {last};\n  {name} = {name}l or {name}r;"
            );
        } else {
            let before = if i % 14 == 0 { "true -> pre " } else { "" };
            let _ = writeln!(equations, "  {name} = {before}{last};");
        }
        last = name;
    }
    let _ = write!(text, "let\n{equations}  ok = {last};\n  --%PROPERTY ok;\ntel\n");
    text
}

#[test]
fn two_workers_find_the_same_cores_in_the_same_order() {
    let source = line();
    let loaded = gander_lang::lustre::load(&source, "line.lus");
    let system = Arc::new(loaded.system.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics)));
    let parts = Parts::of(&system, &source, Granularity::Written);
    assert!(parts.len() >= 40, "{}", parts.len());
    let mut one = Engines::new();
    let claim = ClaimId(0);
    let verdict = one.prove(&system, claim, Duration::from_secs(20));
    let request = Request { cores: CoreSelection::All, ..Request::default() };
    let config = ExplainConfig::new(&one.solvers);
    let mut alone =
        Explainer::new(&system, parts.clone(), claim, &verdict, config.clone(), &mut one).unwrap();
    let expected = alone.explain(request, &mut |_, _| {});
    assert!(expected.complete && !expected.approximate, "{:?}", expected.notes);
    // Each of the three places has two alternatives, and a core needs one of them.
    assert_eq!(core_names(&parts, &expected).len(), 8);
    for _ in 0..2 {
        let mut two = Several { engines: Engines::new(), helpers: std::cell::Cell::new(0) };
        let mut together =
            Explainer::new(&system, parts.clone(), claim, &verdict, config.clone(), &mut two)
                .unwrap();
        let found = together.explain(request, &mut |_, _| {});
        assert_eq!(core_names(&parts, &found), core_names(&parts, &expected));
        assert_eq!((found.complete, found.must), (true, expected.must.clone()));
        assert!(found.cores.iter().all(|c| c.minimal && c.unchecked.is_none()));
        assert!(two.helpers.get() >= 1);
    }
}

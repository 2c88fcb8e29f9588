//! Random Lustre programs over arrays of open size, compared with the same programs
//! with the size given: what holds for the open size holds for each, and what a run of some size
//! refutes is refuted for that size.
//!
//! `GANDER_OPEN_PROGRAMS` sets how many programs; without it there are a few seconds' worth.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use gander::engines::{Cancellation, NullObserver};
use gander::smt::Solvers;
use gander::system::{Evidence, Verdict};
use gander::term::Value;
use gander::{CheckOptions, Findings, load_and_check};
use gander_runtime::Random;

/// A template in which `A` is an array of the program and `B` one or an input.
fn filled(random: &mut Random, templates: &[&str]) -> String {
    let template = random.pick(templates);
    let a = random.pick(&ARRAYS);
    let b = random.pick(&["a", "b", "d", "v"]);
    template.replace('A', a).replace('B', b)
}

const ARRAYS: [&str; 3] = ["a", "b", "d"];

/// Numbers in the definition of the element `i` of `me`, which may read earlier elements of itself
/// and arrays before it.
const NUMBERS: [&str; 16] = [
    "x",
    "0",
    "-1",
    "2",
    "i",
    "v[i]",
    "v[i-1]",
    "v[i+1]",
    "v[k]",
    "(0 -> pre A[i])",
    "(x -> pre A[i-1])",
    "(x -> pre A[i+1])",
    "(1 -> pre A[k])",
    "(0 -> pre (i + x))",
    "f(i, x)",
    "(1 -> pre (v[i] + 1 -> 2))",
];

const CONDITIONS: [&str; 6] = ["c", "x > 0", "i = 0", "i = k", "i = n-1", "v[i] > x"];

const WHOLE: [&str; 11] = [
    "v",
    "0^n",
    "x^n",
    "(0^n -> pre A)",
    "v[k := x]",
    "(0^n -> (pre A)[k := x])",
    "sub(n, v, x)",
    "condact(c, sub(n, v, x), 0^n)",
    "(restart sub every c)(n, v, x)",
    "(if c then v else (0^n -> pre A))",
    "v[0 := x]",
];

const CLAIMS: [&str; 9] = [
    "forall (i: int) 0 <= i and i < n => A[i] >= B[i]",
    "forall (i: int) 0 <= i and i < n => A[i] = (if i = k then x else B[i])",
    "A = B",
    "true -> A = pre B",
    "0 <= k and k < n => A[k] <> B[k]",
    "0 <= k and k < n => A[k] <= (x -> pre B[k])",
    "A[1] >= x",
    "A[0] = B[n-1]",
    "exists (i: int) 0 <= i and i < n and A[i] <= B[i] + 1",
];

const ASSUMPTIONS: [&str; 6] = [
    "v = x^n",
    "forall (i: int) 0 <= i and i < n => v[i] >= 0",
    "0 <= k and k < n",
    "x > 0",
    "true -> v = pre v",
    "c",
];

const SUB: [&str; 5] = [
    "s[i] = w[i] + (0 -> pre s[i]);",
    "s[i] = (y -> pre w[i]);",
    "s = w -> (pre s)[0 := y];",
    "s[i] = if i = 0 then y else s[i-1] + w[i];",
    "s[i] = (y -> pre (if i = 0 then y else w[i-1]));",
];

fn number(random: &mut Random, me: &str, depth: u32) -> String {
    match random.below(if depth > 0 { 8 } else { 4 }) {
        0 => format!("(if i = 0 then x else {me}[i-1])"),
        1 => match ARRAYS.iter().position(|a| *a == me) {
            Some(at) if at > 0 => {
                let other = ARRAYS[random.below(at)];
                format!("{other}[{}]", random.pick(&["i", "i-1", "i+1", "k"]))
            }
            _ => "x".to_string(),
        },
        4 | 5 => format!("({} + {})", number(random, me, depth - 1), number(random, me, depth - 1)),
        6 => {
            let condition = filled(random, &CONDITIONS);
            format!(
                "(if {condition} then {} else {})",
                number(random, me, depth - 1),
                number(random, me, depth - 1)
            )
        }
        _ => filled(random, &NUMBERS),
    }
}

/// A program without the line that says what `n` is.
fn program(random: &mut Random) -> String {
    let mut equations = String::new();
    for me in ARRAYS {
        equations.push_str(&if random.chance(65) {
            format!("  {me}[i] = {};\n", number(random, me, 2))
        } else {
            format!("  {me} = {};\n", filled(random, &WHOLE))
        });
    }
    if random.chance(40) {
        equations.push_str(&format!("  assert {};\n", random.pick(&ASSUMPTIONS)));
    }
    for i in 0..5 {
        let not = random.pick(&["", "", "not "]);
        equations.push_str(&format!("  check \"p{i}\" {not}({});\n", filled(random, &CLAIMS)));
    }
    let sub = random.pick(&SUB);
    format!(
        "type S = subrange [-1,2] of int;
function f(p, q: int) returns (z: int);
let z = if p > q then p else q + 1; tel
node sub(const m: int; w: int^m; y: int) returns (s: int^m);
let
  {sub}
tel
node main(x: S; k: S; c: bool; v: S^n) returns (a, b, d: int^n);
let
  --%MAIN
  assert n > 1;
{equations}tel
"
    )
}

/// Whether each claim of a program was found to hold or fail, and the size in the run that refutes
/// it; nothing if the program is not one (an array that depends on itself).
fn decided(
    solvers: &Arc<Solvers>,
    text: &str,
    time: Duration,
) -> Option<BTreeMap<String, (bool, Option<i64>)>> {
    let options = CheckOptions {
        solvers: Some(Arc::clone(solvers)),
        timeout: Some(time),
        findings: Findings::LeftOut,
        ..CheckOptions::default()
    };
    let checked = load_and_check(text, "open.lus", &options, &Cancellation::new(), &NullObserver);
    assert!(checked.view.internal_errors.is_empty(), "{:?}\n{text}", checked.view.internal_errors);
    let (system, report) = checked.systems.first()?;
    let size = system.vars().iter().position(|v| v.name == "n");
    let mut found = BTreeMap::new();
    for outcome in &report.outcomes {
        let name = system.claims()[outcome.claim.index()].name.clone();
        if !name.starts_with('p') {
            continue;
        }
        match &outcome.verdict {
            Verdict::Holds(_) => drop(found.insert(name, (true, None))),
            Verdict::Fails(Evidence::Run(run)) => {
                let n = match size.map(|v| &run.first.values[v]) {
                    Some(Value::Int(n)) => i64::try_from(n).ok(),
                    _ => None,
                };
                found.insert(name, (false, n));
            }
            _ => {}
        }
    }
    Some(found)
}

#[test]
fn what_holds_for_an_open_size_holds_for_each() {
    let wanted: u64 =
        std::env::var("GANDER_OPEN_PROGRAMS").ok().and_then(|n| n.parse().ok()).unwrap_or(5);
    let time = Duration::from_millis(if wanted > 5 { 3000 } else { 400 });
    let solvers = Arc::new(Solvers::from_environment());
    let (mut made, mut seed, mut compared) = (0, 0, 0);
    while made < wanted {
        seed += 1;
        assert!(seed < 20 * wanted + 100, "few programs are programs");
        let body = program(&mut Random::new(seed));
        let Some(open) = decided(&solvers, &format!("const n: int;\n{body}"), time) else {
            continue;
        };
        made += 1;
        let mut sizes: Vec<i64> =
            open.values().filter_map(|(_, n)| *n).filter(|n| (2..=5).contains(n)).collect();
        sizes.extend([2, 3]);
        sizes.sort_unstable();
        sizes.dedup();
        for size in sizes {
            let text = format!("const n: int = {size};\n{body}");
            let fixed = decided(&solvers, &text, time)
                .unwrap_or_else(|| panic!("no program with a size:\n{text}"));
            for (name, (holds, n)) in &open {
                let Some((here, _)) = fixed.get(name) else { continue };
                compared += 1;
                assert!(
                    !holds || *here,
                    "seed {seed}: {name} holds for every size, but not for {size}:\n{text}"
                );
                let refuted = !holds && *n == Some(size);
                assert!(
                    !refuted || !here,
                    "seed {seed}: {name} fails for {size}, and holds for it:\n{text}"
                );
            }
        }
    }
    assert!(compared > 0, "nothing was decided");
}

//! Bounded model checking to a depth on a three-variable counter: `deep [DEPTH]`. Prints the time
//! per hundred steps, and what this process itself used of memory and processor.

use std::io::Write;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use gander_engines::{Cancellation, CheckConfig, Event, Observer, check};
use gander_smt::Solvers;
use gander_system::{ClaimId, ClaimKind, ClaimOrigin, NodeId, Role, System, SystemBuilder, VarId};
use gander_term::{Pool, Sort, parse_term};

fn counter() -> Result<System, Box<dyn std::error::Error>> {
    let mut b = SystemBuilder::new("counter", Pool::new(), &[("Run", None)])?;
    for name in ["x", "y", "z"] {
        b.var(name, Sort::Int, Role::State, None, None)?;
    }
    let start = parse_term(&mut b.pool, "x == 0 and y == 0 and z == 0")?;
    b.start("go", NodeId(0), &[(start, None)], None)?;
    for (name, guard, updates) in [
        ("tick", "x < 9", vec![(0, "x + 1")]),
        ("carry", "x == 9 and y < 9", vec![(0, "0"), (1, "y + 1")]),
        ("wrap", "x == 9 and y == 9", vec![(0, "0"), (1, "0"), (2, "z + 1")]),
    ] {
        let mut draft = b.transition(name, None, NodeId(0), NodeId(0), None)?;
        let guard = parse_term(&mut b.pool, guard)?;
        b.guard(&mut draft, guard, None)?;
        for (var, value) in updates {
            let value = parse_term(&mut b.pool, value)?;
            b.assign(&mut draft, VarId(var), value, None)?;
        }
        b.add(draft)?;
    }
    let never = parse_term(&mut b.pool, "not (z == 1000000)")?;
    let never = b.state_formula(never, "claim")?;
    b.claim("far away", ClaimKind::Always(never), ClaimOrigin::Written, "far away", None)?;
    Ok(b.finish())
}

struct Laps(Mutex<Instant>);

impl Observer for Laps {
    fn event(&self, e: &Event) {
        if let Event::Progress { depth: Some(depth), .. } = e
            && depth.is_multiple_of(100)
            && let Ok(mut last) = self.0.lock()
        {
            let _ =
                writeln!(std::io::stdout(), "depth {depth}: {:.3} s", last.elapsed().as_secs_f64());
            *last = Instant::now();
        }
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let depth = std::env::args().nth(1).and_then(|d| d.parse().ok()).unwrap_or(1000);
    let system = Arc::new(counter()?);
    let mut config = CheckConfig::new(Arc::new(Solvers::from_environment()), vec![ClaimId(0)]);
    config.engines = Some(vec!["bmc".into()]);
    config.options.max_depth = Some(depth);
    let begun = Instant::now();
    check(&system, &config, &Cancellation::new(), &Laps(Mutex::new(begun)));
    let mut out = std::io::stdout().lock();
    writeln!(out, "total {:.3} s", begun.elapsed().as_secs_f64())?;
    // Where there is /proc: what we used, solvers not included.
    for (file, keys) in [("/proc/self/status", vec!["VmHWM"]), ("/proc/self/stat", vec![])] {
        let text = std::fs::read_to_string(file).unwrap_or_default();
        for line in text.lines().filter(|l| keys.iter().any(|k| l.starts_with(k))) {
            writeln!(out, "{line}")?;
        }
        if keys.is_empty() {
            let fields: Vec<&str> = text.split_whitespace().collect();
            if let (Some(user), Some(system)) = (fields.get(13), fields.get(14)) {
                writeln!(out, "own processor time: {user} + {system} ticks of 10 ms")?;
            }
        }
    }
    Ok(())
}

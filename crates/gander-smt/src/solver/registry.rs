//! Finds solvers and chooses one for a formula.
//!
//! Order: a program that the user named (an option of the command, or `GANDER_Z3`, `GANDER_YICES`
//! and so on), then the set-up's cache, then the absolute folders of the PATH. `GANDER_YICES=none`
//! hides a solver. Finding starts no process.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};

use gander_io::programs;
use gander_term::Features;

use crate::horn::Horn;
use crate::session::conversation::ProcessPool;
use crate::session::core_session::CoreSession;
use crate::session::{Cores, Session, SessionConfig, introduction};
use crate::setup;
use crate::solver::dialect::{Solver, SolverKind};
use gander_process::Interactive;
use gander_runtime::lock;

/// The program name that hides a solver.
const HIDDEN: &str = "none";

/// Where to search.
#[derive(Clone, Debug, Default)]
pub struct Search {
    /// Programs that the user named, by solver name: `("z3", "/opt/z3")`. An unknown name is a
    /// further solver; the program `none` hides the solver.
    pub named: Vec<(String, PathBuf)>,
    /// The cache of the set-up.
    pub cache: Option<PathBuf>,
    /// The value of `PATH`.
    pub path: Option<OsString>,
}

impl Search {
    /// From the environment: `GANDER_<SOLVER>`, `GANDER_CACHE`, `PATH`. An empty value is as good
    /// as none.
    pub fn from_environment() -> Search {
        let mut named = Vec::new();
        for kind in SolverKind::NAMED {
            let variable = format!("GANDER_{}", kind.name().to_ascii_uppercase());
            if let Some(path) = std::env::var_os(variable).filter(|path| !path.is_empty()) {
                named.push((kind.name().to_string(), PathBuf::from(path)));
            }
        }
        Search { named, cache: setup::cache_folder(), path: std::env::var_os("PATH") }
    }
}

/// The solvers of this machine.
#[derive(Clone, Debug)]
pub struct Solvers {
    named: Vec<Solver>,
    search: Search,
    z3: Option<Solver>,
    yices: Option<Solver>,
    /// Yices, for sessions with bit-vectors.
    yices_bits: Option<Solver>,
    others: OnceLock<Vec<Solver>>,
    /// Solvers that were started ahead of need.
    ready: Arc<Mutex<Vec<(Solver, Interactive)>>>,
    /// Solvers that were killed and may still be running.
    dying: Arc<Mutex<Vec<Interactive>>>,
    /// Idle solvers for reuse, if solvers are kept running.
    pool: Option<ProcessPool>,
}

impl Solvers {
    /// Finds solvers; looks up a few files.
    pub fn find(search: Search) -> Solvers {
        let (others, ready, dying) = (OnceLock::new(), Arc::default(), Arc::default());
        let (z3, yices, yices_bits) = (None, None, None);
        let (named, pool) = (Vec::new(), None);
        let mut solvers =
            Solvers { named, search, z3, yices, yices_bits, others, ready, dying, pool };
        for (name, program) in &solvers.search.named {
            let kind = SolverKind::from_name(name).unwrap_or(SolverKind::Other);
            // The last one counts: options of the command come after the environment.
            solvers.named.retain(|s| *s.name != **name);
            // Starting a bare name would search the PATH with its relative folders.
            let hidden = program == Path::new(HIDDEN);
            let found = if hidden {
                None
            } else {
                programs::named(program, solvers.search.path.as_deref())
            };
            let program = match found {
                Some(found) => found,
                None if hidden => program.clone(),
                None => Path::new("/nowhere").join(program),
            };
            solvers
                .named
                .push(Solver { name: Arc::from(name.as_str()), ..Solver::new(kind, program) });
        }
        solvers.z3 = solvers.look_for(SolverKind::Z3);
        solvers.yices = solvers.look_for(SolverKind::Yices);
        let bits = Features { bit_vectors: true, ..Features::default() };
        solvers.yices_bits = solvers.yices.as_ref().map(|yices| yices.for_features(bits));
        solvers
    }

    /// Finds solvers with the search of the environment.
    pub fn from_environment() -> Solvers {
        Solvers::find(Search::from_environment())
    }

    fn look_for(&self, kind: SolverKind) -> Option<Solver> {
        if let Some(solver) = self.named.iter().find(|s| s.kind == kind) {
            return (solver.program != Path::new(HIDDEN)).then(|| solver.clone());
        }
        let cached = self.search.cache.as_deref().and_then(|cache| setup::installed(cache, kind));
        cached.or_else(|| self.on_path(kind.program()).map(|program| Solver::new(kind, program)))
    }

    fn on_path(&self, program: &str) -> Option<PathBuf> {
        programs::find(program, self.search.path.as_ref()?)
    }

    /// Z3.
    pub fn z3(&self) -> Option<&Solver> {
        self.z3.as_ref()
    }

    /// Yices.
    pub fn yices(&self) -> Option<&Solver> {
        self.yices.as_ref()
    }

    /// The solver with this name.
    pub fn by_name(&self, name: &str) -> Option<&Solver> {
        self.all().into_iter().find(|s| *s.name == *name || s.kind.program() == name)
    }

    /// Every solver that was found, Z3 and Yices first.
    pub fn all(&self) -> Vec<&Solver> {
        let others = self.others.get_or_init(|| {
            let mut found: Vec<Solver> = SolverKind::NAMED
                .into_iter()
                .filter(|k| !matches!(k, SolverKind::Z3 | SolverKind::Yices))
                .filter_map(|kind| self.look_for(kind))
                .collect();
            let other = |s: &&Solver| s.kind == SolverKind::Other && s.program != Path::new(HIDDEN);
            found.extend(self.named.iter().filter(other).cloned());
            found
        });
        self.z3.iter().chain(self.yices.iter()).chain(others.iter()).collect()
    }

    /// The solver for formulas with these features: Yices for linear arithmetic and bit-vectors,
    /// otherwise Z3, otherwise any that supports them.
    pub fn choose(&self, features: Features) -> Option<&Solver> {
        let first = [self.yices_for(features), self.z3.as_ref()];
        let first = first.into_iter().flatten().find(|s| s.supports(features));
        first.or_else(|| self.all().into_iter().find(|s| s.supports(features)))
    }

    fn yices_for(&self, features: Features) -> Option<&Solver> {
        if features.bit_vectors { self.yices_bits.as_ref() } else { self.yices.as_ref() }
    }

    /// Starts the solver for linear formulas ahead of need and sends it the first commands of such
    /// sessions. If no session uses it, it ends with `self`.
    pub fn prepare(&self) {
        let linear = Features { ints: true, reals: true, ..Features::default() };
        let Some(solver) = self.choose(linear).cloned() else { return };
        let ready = self.ready.clone();
        let start = move || {
            // If it cannot be started, the session that needs it reports the reason.
            let started = solver
                .verify()
                .and_then(|()| Interactive::launch(&solver.program, &solver.arguments(None)));
            if let Ok(mut process) = started {
                let text = introduction(&solver, Cores::NotKept, None);
                if process.offer(text.as_bytes()) == text.len() {
                    lock(&ready).push((solver, process));
                }
            }
        };
        // Hashing a pinned program takes milliseconds; the caller can parse the model meanwhile.
        match self.choose(linear).is_some_and(|s| s.pinned.is_some()) {
            true => drop(std::thread::spawn(start)),
            false => start(),
        }
    }

    /// The same, but solver processes are reset and reused after a session. For programs that check
    /// many small systems: starting Z3 takes longer than most queries. Sessions with a memory limit
    /// or a seed always get a new process.
    #[must_use]
    pub fn kept_running(self) -> Solvers {
        Solvers { pool: Some(Arc::default()), ..self }
    }

    fn pool_for(&self, config: &SessionConfig) -> Option<ProcessPool> {
        self.pool.clone().filter(|_| config.memory.is_none() && config.seed.is_none())
    }

    /// A conversation about Horn clauses.
    pub fn horn(&self, solver: &Solver, config: &SessionConfig) -> Horn {
        match self.pool_for(config) {
            Some(pool) => Horn::pooled(solver, config, pool),
            None => Horn::start(solver, config),
        }
    }

    /// A session with a solver, whose process may have been started before.
    pub fn session(&self, solver: &Solver, config: SessionConfig) -> Session {
        if let Some(pool) = self.pool_for(&config) {
            return Session::pooled(solver, config, Cores::NotKept, pool);
        }
        let ready = self.take_ready(solver, &config);
        Session::with(solver, config, Cores::NotKept, ready)
    }

    /// [`Solvers::session`] with cores.
    pub fn core_session(&self, solver: &Solver, config: SessionConfig) -> CoreSession {
        if let Some(pool) = self.pool_for(&config) {
            return CoreSession::pooled(solver, config, pool);
        }
        CoreSession::start(solver, config)
    }

    fn take_ready(&self, solver: &Solver, config: &SessionConfig) -> Option<Interactive> {
        // A memory limit is set when the solver is started, a seed by its first commands.
        if config.memory.is_some() || config.seed.is_some() {
            return None;
        }
        let mut all = lock(&self.ready);
        all.iter().position(|(s, p)| s == solver && p.is_alive()).map(|at| all.swap_remove(at).1)
    }

    /// Ends a session without waiting for the end of its process; the next call reaps it, or the
    /// end of `self`.
    pub fn end(&self, mut session: Session) {
        let mut dying = lock(&self.dying);
        dying.retain(Interactive::is_alive);
        if self.pool.is_some() {
            return;
        }
        if let Some(process) = session.conversation.take_process() {
            process.kill();
            dying.push(process);
        }
    }

    /// Every solver that supports formulas with these features, that of [`Solvers::choose`] first.
    pub fn candidates(&self, features: Features) -> Vec<&Solver> {
        let for_these = |s| {
            if Some(s) == self.yices.as_ref() { self.yices_for(features).unwrap_or(s) } else { s }
        };
        let mut all: Vec<&Solver> =
            self.all().into_iter().map(for_these).filter(|s| s.supports(features)).collect();
        if let Some(chosen) = self.choose(features) {
            all.sort_by_key(|s| *s != chosen);
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(names: &[&str]) -> Search {
        Search {
            named: names.iter().map(|n| (n.to_string(), PathBuf::from("/nowhere"))).collect(),
            ..Search::default()
        }
    }

    #[test]
    fn yices_is_chosen_for_linear_formulas_and_z3_for_others() {
        let solvers = Solvers::find(named(&["z3", "yices"]));
        let linear = Features { ints: true, ..Features::default() };
        let nonlinear = Features { nonlinear: true, ..linear };
        let kind = |solvers: &Solvers, f| solvers.choose(f).map(|s| s.kind);
        assert_eq!(kind(&solvers, linear), Some(SolverKind::Yices));
        assert_eq!(kind(&solvers, nonlinear), Some(SolverKind::Z3));
        assert_eq!(solvers.candidates(linear).len(), 2);
        let mut search = named(&["z3", "yices"]);
        search.named.push(("yices".into(), "none".into()));
        let without = Solvers::find(search);
        assert_eq!(kind(&without, linear), Some(SolverKind::Z3));
        let only_yices = Solvers::find(named(&["yices"]));
        assert_eq!(kind(&only_yices, nonlinear), None);
    }

    #[test]
    fn yices_is_chosen_for_bit_vectors_without_conversions() {
        let solvers = Solvers::find(named(&["z3", "yices"]));
        let bits = Features { bit_vectors: true, ints: true, ..Features::default() };
        let chosen = solvers.choose(bits).unwrap();
        assert!(chosen.kind == SolverKind::Yices && chosen.bit_vectors);
        assert!(!solvers.yices().unwrap().supports(bits));
        assert_eq!(solvers.candidates(bits), [chosen, solvers.z3().unwrap()]);
        let words = Features { bit_vectors_of_64: true, ..bits };
        assert_eq!(solvers.choose(words).map(|s| s.kind), Some(SolverKind::Z3));
        let converted = Features { bit_vector_conversions: true, ..bits };
        assert_eq!(solvers.choose(converted).map(|s| s.kind), Some(SolverKind::Z3));
        assert_eq!(solvers.candidates(converted).len(), 1);
    }

    #[test]
    fn a_prepared_solver_serves_one_session() {
        let solvers = Solvers::find(Search {
            named: vec![("yices".into(), "/bin/cat".into())],
            ..Search::default()
        });
        solvers.prepare();
        let solver = solvers.yices().unwrap();
        // `cat` rejects the option of Yices and ends, so the prepared process may be dead by now.
        let first = solvers.session(solver, SessionConfig::default());
        let second = solvers.session(solver, SessionConfig::default());
        assert!(first.process_id().is_some() && first.process_id() != second.process_id());
        assert!(lock(&solvers.ready).len() <= 1);
    }

    #[test]
    fn a_prepared_solver_serves_only_plain_sessions_of_the_same_solver() {
        let solvers = Solvers::find(Search {
            named: vec![("mine".into(), "/bin/cat".into())],
            ..Search::default()
        });
        solvers.prepare();
        let solver = solvers.by_name("mine").unwrap();
        let ready = || lock(&solvers.ready).iter().map(|(_, p)| p.id()).collect::<Vec<_>>();
        let prepared = ready();
        assert_eq!(prepared.len(), 1);
        let with_cores = solvers.core_session(solver, SessionConfig::default());
        let seeded =
            solvers.session(solver, SessionConfig { seed: Some(7), ..SessionConfig::default() });
        let limited = solvers
            .session(solver, SessionConfig { memory: Some(1 << 30), ..SessionConfig::default() });
        let other = Solver { extra_arguments: vec!["-u".into()], ..solver.clone() };
        let other = solvers.session(&other, SessionConfig::default());
        assert_eq!(ready(), prepared);
        let plain = solvers.session(solver, SessionConfig::default());
        assert_eq!(plain.process_id(), Some(prepared[0]));
        assert!(ready().is_empty());
        drop((with_cores, seeded, limited, other));
    }

    #[test]
    fn processes_of_ended_sessions_end_with_the_solvers() {
        let solvers = Solvers::find(named(&[]));
        let mut solver = Solver::new(SolverKind::Other, "/bin/sleep");
        solver.extra_arguments = vec!["3600".into()];
        let (first, second) = (
            solvers.session(&solver, SessionConfig::default()),
            solvers.session(&solver, SessionConfig::default()),
        );
        let ids = [&first, &second].map(|s| s.process_id().unwrap());
        let is_there = |id: u32| Path::new(&format!("/proc/{id}")).exists();
        solvers.end(first);
        solvers.end(second);
        drop(solvers);
        assert!(!ids.into_iter().any(is_there));
    }

    #[test]
    fn the_last_named_program_counts_and_unknown_names_are_plain_solvers() {
        let mut search = named(&["z3", "mine"]);
        search.named.push(("z3".into(), "/elsewhere".into()));
        let solvers = Solvers::find(search);
        assert_eq!(solvers.z3().unwrap().program, Path::new("/elsewhere"));
        assert_eq!(solvers.by_name("mine").unwrap().kind, SolverKind::Other);
    }
}

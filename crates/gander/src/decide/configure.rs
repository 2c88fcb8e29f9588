//! The configuration of the engines, made of options.

use std::sync::Arc;

use gander_engines::{CheckConfig, engines};
use gander_lang::nearest;
use gander_smt::Solvers;
use gander_system::{ClaimId, System};

use crate::options::CheckOptions;

/// The engine name that means no engine at all: only other tools are asked.
const NO_ENGINE: &str = "none";
/// Claims that a message lists at most.
const MAX_NAMES: usize = 12;

/// An option that does not make sense, for this model or at all.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct UsageError {
    /// What is wrong.
    pub(crate) message: String,
    /// What to do.
    pub(crate) help: Vec<String>,
}

impl UsageError {
    fn new(message: String, help: impl IntoIterator<Item = String>) -> UsageError {
        UsageError { message, help: help.into_iter().collect() }
    }
}

/// The configurations for several systems. A named claim must be a claim of one of them.
pub(super) fn configure_all(
    systems: &[Arc<System>],
    options: &CheckOptions,
) -> Result<Vec<CheckConfig>, UsageError> {
    if let [system] = systems {
        return Ok(vec![configure(system, options)?]);
    }
    let known = |name: &String| systems.iter().any(|s| s.find_claim(name).is_some());
    if let Some(missing) = options.properties.iter().find(|name| !known(name)) {
        let names: Vec<&str> =
            systems.iter().flat_map(|s| s.claims()).map(|c| c.name.as_str()).collect();
        return Err(no_claim(missing, &names));
    }
    let mut configs = Vec::new();
    for system in systems {
        let mut here = options.clone();
        here.properties.retain(|name| system.find_claim(name).is_some());
        let mut config = configure(system, &here)?;
        if here.properties.is_empty() && !options.properties.is_empty() {
            config.claims.clear();
        }
        configs.push(config);
    }
    Ok(configs)
}

fn no_claim(name: &str, names: &[&str]) -> UsageError {
    let near = nearest(name, names.iter().copied()).map(|n| format!("did you mean `{n}`?"));
    let few: Vec<&str> = names.iter().copied().take(MAX_NAMES).collect();
    let more = if names.len() > few.len() { ", ..." } else { "" };
    let list = format!("claims are {}{more}", few.join(", "));
    UsageError::new(format!("there is no claim `{name}`"), near.into_iter().chain([list]))
}

/// The configuration for one system. Every name in the options must exist.
fn configure(system: &System, options: &CheckOptions) -> Result<CheckConfig, UsageError> {
    let solvers = options.solvers.clone().unwrap_or_else(|| Arc::new(Solvers::from_environment()));
    let none = options.engines == [NO_ENGINE];
    if none && options.tools.is_empty() {
        let message =
            "`--engine none` leaves no engine and no tool to decide the claims".to_string();
        return Err(UsageError::new(message, ["name other tools with `--with`".to_string()]));
    }
    for name in options.engines.iter().filter(|_| !none) {
        if !engines().iter().any(|e| e.name == name) {
            let known: Vec<&str> = engines().iter().map(|e| e.name).collect();
            let message = format!("there is no engine `{name}`");
            let near = nearest(name, known.iter().copied()).map(|n| format!("did you mean `{n}`?"));
            return Err(UsageError::new(
                message,
                near.into_iter().chain([format!("engines are {}", known.join(", "))]),
            ));
        }
    }
    if let Some(name) = &options.second_opinion
        && solvers.by_name(name).is_none()
    {
        let found: Vec<String> = solvers.all().iter().map(|s| s.name.to_string()).collect();
        let message = format!("the solver `{name}` for the second opinion was not found");
        return Err(UsageError::new(message, [format!("solvers found: {}", found.join(", "))]));
    }
    let claims = selected(system, options)?;
    let mut config = CheckConfig::new(solvers, claims);
    config.engines = (!options.engines.is_empty()).then(|| options.engines.clone());
    if none {
        config.engines = Some(Vec::new());
    }
    config.portfolio = options.portfolio.clone();
    config.timeout = options.timeout;
    if let Some(jobs) = options.jobs {
        config.jobs = jobs;
    }
    config.seed = options.seed;
    config.memory = options.memory;
    config.log_smt = options.log_smt.clone();
    config.second_opinion = options.second_opinion.clone();
    config.trust = options.trust;
    config.refutations = options.earlier.as_ref().map(|e| Arc::clone(e.refutations()));
    config.options = options.engine_options.clone();
    Ok(config)
}

/// The claims to decide. A named claim is decided whatever its origin.
fn selected(system: &System, options: &CheckOptions) -> Result<Vec<ClaimId>, UsageError> {
    let all = || system.claims().iter().enumerate().map(|(i, c)| (ClaimId::from(i), c));
    if options.properties.is_empty() {
        return Ok(all().filter(|(_, c)| !options.checks.leave_out(c)).map(|(id, _)| id).collect());
    }
    let mut chosen = Vec::new();
    for name in &options.properties {
        match all().find(|(_, c)| c.name == *name) {
            Some((id, _)) if chosen.contains(&id) => {}
            Some((id, _)) => chosen.push(id),
            None => {
                let names: Vec<&str> = system.claims().iter().map(|c| c.name.as_str()).collect();
                return Err(no_claim(name, &names));
            }
        }
    }
    Ok(chosen)
}

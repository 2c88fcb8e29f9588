//! Portfolios: which engines a check uses on which models, as data.
//!
//! A portfolio is a list of plans, in TOML (docs/portfolio.md); [`Portfolio::default`] is the one
//! that comes with the program (`default.toml`). The first plan whose conditions the model meets is
//! the one that is used. It says which engines take part, what share of the time each gets, and how
//! long some of them wait for the cheaper ones. A plan affects the time to an answer, never the
//! answer.

mod profile;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;

pub use profile::ModelProfile;

/// See the module's documentation.
#[derive(Clone, Debug)]
pub struct Portfolio {
    plans: Arc<[Plan]>,
}

/// Which engines take part in a check, and how.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Its name.
    pub name: String,
    /// What it is made for, in words.
    #[serde(default)]
    pub about: String,
    /// The models that it is for.
    #[serde(default)]
    pub when: Conditions,
    /// The engines, by name.
    pub engines: BTreeMap<String, Part>,
}

/// Conditions on a model; those not given are met.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Conditions {
    /// Every variable, parameter and input has finitely many values, by its sort.
    pub finite: Option<bool>,
    /// Every variable, parameter and input has finitely many values, by its sort or as formulas
    /// keep it in a small range.
    pub ranged: Option<bool>,
    /// No product of variables, no division by one.
    pub linear: Option<bool>,
    /// The control graph has a cycle.
    pub cycles: Option<bool>,
    /// Some variable is a number.
    pub numbers: Option<bool>,
    /// Some claim is not about the reachability of states or steps.
    pub liveness: Option<bool>,
    /// Some claim is.
    pub safety: Option<bool>,
    /// Minimum number of nodes of the control graph.
    pub least_nodes: Option<usize>,
    /// Maximum number of nodes of the control graph.
    pub most_nodes: Option<usize>,
    /// Maximum number of variables.
    pub most_variables: Option<usize>,
}

/// An engine's part in a plan.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// A free worker takes the engine with the least used time divided by its share.
    #[serde(default = "one")]
    pub share: f64,
    /// Start-up delay in seconds; it ends early when no other engine has work.
    #[serde(default)]
    pub after: f64,
}

fn one() -> f64 {
    1.0
}

/// The part of an engine that no plan names.
impl Default for Part {
    fn default() -> Part {
        Part { share: one(), after: 0.0 }
    }
}

impl Part {
    /// [`Part::after`] as a duration.
    pub(crate) fn waits(&self) -> Duration {
        Duration::try_from_secs_f64(self.after).unwrap_or(Duration::MAX)
    }
}

/// An invalid portfolio, with the position of the error if known.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PortfolioError(String);

impl fmt::Display for PortfolioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for PortfolioError {}

/// The file itself.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    plan: Vec<Plan>,
}

impl Portfolio {
    /// The text of the portfolio that comes with the program.
    pub const DEFAULT: &'static str = include_str!("default.toml");

    /// Reads a portfolio whose engines are among the known ones.
    pub(crate) fn read(text: &str, known: &[&str]) -> Result<Portfolio, PortfolioError> {
        let file: File = toml::from_str(text)
            .map_err(|e| PortfolioError(e.to_string().trim_end().to_string()))?;
        let wrong = |plan: &Plan, what: String| {
            Err(PortfolioError(format!("plan `{}`: {what}", plan.name)))
        };
        for plan in &file.plan {
            if plan.engines.is_empty() {
                return wrong(plan, "it has no engines".into());
            }
            for (name, part) in &plan.engines {
                if !known.contains(&name.as_str()) {
                    return wrong(
                        plan,
                        format!("there is no engine `{name}`; engines are {}", known.join(", ")),
                    );
                }
                if !(part.share > 0.0 && part.share <= 1e6) {
                    return wrong(
                        plan,
                        format!("the share of `{name}` must be above 0 and at most 1000000"),
                    );
                }
                if part.after.is_nan() || part.after < 0.0 {
                    return wrong(plan, format!("`{name}` cannot begin after {} s", part.after));
                }
            }
        }
        match file.plan.last() {
            None => Err(PortfolioError("it has no plan".into())),
            Some(last) if last.when != Conditions::default() => {
                wrong(last, "the last plan is for every other model, so it has no `when`".into())
            }
            Some(_) => Ok(Portfolio { plans: file.plan.into() }),
        }
    }

    /// The plan for a model.
    pub fn plan(&self, profile: &ModelProfile) -> &Plan {
        let fits = self.plans.iter().find(|p| p.when.meets(profile));
        fits.unwrap_or_else(|| self.plans.last().expect("a portfolio has a plan"))
    }

    /// All plans.
    pub fn plans(&self) -> &[Plan] {
        &self.plans
    }
}

impl Conditions {
    /// True if the model meets the conditions.
    pub fn meets(&self, model: &ModelProfile) -> bool {
        let same = |wanted: Option<bool>, is: bool| wanted.is_none_or(|w| w == is);
        same(self.finite, model.finite)
            && same(self.ranged, model.ranged)
            && same(self.linear, model.linear)
            && same(self.cycles, model.cycles)
            && same(self.numbers, model.numbers)
            && same(self.liveness, model.liveness)
            && same(self.safety, model.safety)
            && self.least_nodes.is_none_or(|n| model.nodes >= n)
            && self.most_nodes.is_none_or(|n| model.nodes <= n)
            && self.most_variables.is_none_or(|n| model.variables <= n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engines::engines;

    fn problem(text: &str) -> String {
        Portfolio::parse(text).unwrap_err().to_string()
    }

    #[test]
    fn the_default_has_plans_and_names_every_engine_but_the_one_for_teaching() {
        let portfolio = Portfolio::parse(Portfolio::DEFAULT).unwrap();
        for e in engines() {
            let planned = portfolio.plans().iter().any(|p| p.engines.contains_key(e.name));
            assert_eq!(planned, e.name != "smt-only", "{} is in a plan: {planned}", e.name);
        }
    }

    #[test]
    fn the_first_plan_that_fits_is_used() {
        let portfolio = Portfolio::parse(
            "[[plan]]\nname = 'small'\nwhen = { finite = true, most_nodes = 3 }\nengines.bmc = {}\n\
             [[plan]]\nname = 'rest'\nengines.induction = { share = 2, after = 0.5 }\n",
        )
        .unwrap();
        let mut model = ModelProfile { finite: true, nodes: 3, ..ModelProfile::default() };
        assert_eq!(portfolio.plan(&model).name, "small");
        model.nodes = 4;
        let plan = portfolio.plan(&model);
        assert_eq!(
            (plan.name.as_str(), plan.engines["induction"]),
            ("rest", Part { share: 2.0, after: 0.5 })
        );
        assert_eq!(plan.engines["induction"].waits(), Duration::from_millis(500));
    }

    #[test]
    fn mistakes_are_named() {
        let rest = "name = 'rest'\n";
        assert!(problem("").contains("plan"));
        assert_eq!(problem("plan = []"), "it has no plan");
        let typo = problem(&format!("[[plan]]\n{rest}engines.bcm = {{}}\n"));
        assert!(typo.starts_with("plan `rest`: there is no engine `bcm`; engines are "), "{typo}");
        assert!(
            problem(&format!("[[plan]]\n{rest}engines.bmc = {{ shares = 1 }}\n"))
                .contains("shares")
        );
        assert!(
            problem(&format!("[[plan]]\n{rest}engines.bmc = {{ share = 0 }}\n"))
                .contains("above 0")
        );
        assert!(
            problem(&format!("[[plan]]\n{rest}engines.bmc = {{ share = nan }}\n"))
                .contains("above 0")
        );
        assert!(
            problem(&format!("[[plan]]\n{rest}engines.bmc = {{ after = nan }}\n"))
                .contains("cannot begin")
        );
        assert!(
            problem(&format!("[[plan]]\n{rest}when.finite = true\nengines.bmc = {{}}\n"))
                .contains("every other")
        );
        assert!(problem(&format!("[[plan]]\n{rest}engines = {{}}\n")).contains("no engines"));
    }
}

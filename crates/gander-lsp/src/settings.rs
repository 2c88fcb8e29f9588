//! Settings of the editor.

use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;

/// When documents are checked.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize, Default)]
#[serde(rename_all = "lowercase")]
pub enum CheckWhen {
    /// When they are opened and saved.
    #[default]
    Save,
    /// When nothing was typed for some time.
    Idle,
    /// When the user asks.
    Manual,
}

/// What a user can set, under the key `gander` or as initialization options (docs/editor.md).
#[derive(Clone, PartialEq, Debug)]
pub struct Settings {
    /// When documents are checked.
    pub check: CheckWhen,
    /// How long nothing must be typed.
    pub idle_milliseconds: u64,
    /// The time limit of a check.
    pub time_limit_seconds: f64,
    /// Whether there are code lenses.
    pub lenses: bool,
    /// Whether invariants of proofs are shown at their nodes.
    pub inlays: bool,
}

/// The settings that a value names.
#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct Named {
    check: Option<CheckWhen>,
    idle_milliseconds: Option<u64>,
    time_limit_seconds: Option<f64>,
    lenses: Option<bool>,
    inlays: Option<bool>,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            check: CheckWhen::default(),
            idle_milliseconds: 800,
            time_limit_seconds: 60.0,
            lenses: true,
            inlays: true,
        }
    }
}

impl Settings {
    /// These settings with those in a value, perhaps under the key `gander`. What is not named
    /// keeps its value, and everything if something is wrong; the second result says what.
    pub fn updated(&self, value: &Value) -> (Settings, Option<String>) {
        let value = value.get("gander").unwrap_or(value);
        if value.is_null() {
            return (self.clone(), None);
        }
        match Named::deserialize(value) {
            Ok(named) => {
                let settings = Settings {
                    check: named.check.unwrap_or(self.check),
                    idle_milliseconds: named.idle_milliseconds.unwrap_or(self.idle_milliseconds),
                    time_limit_seconds: named.time_limit_seconds.unwrap_or(self.time_limit_seconds),
                    lenses: named.lenses.unwrap_or(self.lenses),
                    inlays: named.inlays.unwrap_or(self.inlays),
                };
                (settings, None)
            }
            Err(error) => (self.clone(), Some(format!("wrong settings: {error}"))),
        }
    }

    /// The time limit of a check.
    pub fn time_limit(&self) -> Duration {
        let limit = Duration::try_from_secs_f64(self.time_limit_seconds);
        limit.unwrap_or(Duration::from_secs(60)).min(Duration::from_secs(24 * 3600))
    }

    /// How long nothing must be typed before a check.
    pub fn idle(&self) -> Duration {
        Duration::from_millis(self.idle_milliseconds.min(3_600_000))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn settings_are_read_with_and_without_their_key() {
        let given = json!({ "check": "idle", "timeLimitSeconds": 2.5 });
        for value in [given.clone(), json!({ "gander": given })] {
            let (settings, wrong) = Settings::default().updated(&value);
            assert_eq!((settings.check, wrong), (CheckWhen::Idle, None));
            assert_eq!(settings.time_limit(), Duration::from_millis(2500));
            assert!(settings.lenses);
        }
        let read = |value: &Value| Settings::default().updated(value);
        let (settings, wrong) = read(&json!({ "check": "never" }));
        assert!(settings == Settings::default() && wrong.is_some());
        let (settings, _) = read(&json!({ "timeLimitSeconds": -1 }));
        assert_eq!(settings.time_limit(), Duration::from_secs(60));
    }
    #[test]
    fn settings_that_are_not_named_keep_their_values() {
        let given = json!({ "check": "manual", "timeLimitSeconds": 7, "lenses": false });
        let (settings, _) = Settings::default().updated(&given);
        let wrong = json!({ "gander": { "check": "never", "lenses": true } });
        for value in [json!({}), json!(null), json!({ "gander": {} }), json!([]), wrong] {
            assert_eq!(settings.updated(&value).0, settings, "{value}");
        }
        let (changed, _) = settings.updated(&json!({ "gander": { "lenses": true } }));
        assert!(changed.lenses && changed.check == CheckWhen::Manual);
    }
}

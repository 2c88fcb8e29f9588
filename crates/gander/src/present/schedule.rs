//! What ran in a check, and why.

use gander_engines::{EngineAccount, Schedule};
use gander_report::{EngineView, ScheduleView};

pub(super) fn schedule_view(schedule: &Schedule) -> ScheduleView {
    let engine = |a: &EngineAccount| EngineView {
        engine: a.engine.clone(),
        share: a.part.share,
        after: a.part.after,
        claims: a.claims,
        began: a.began.map(|d| d.as_secs_f64()),
        turns: a.turns,
        used: a.used.as_secs_f64(),
        settled: a.settled,
        facts: a.facts,
        ending: a.ending.words().to_string(),
    };
    ScheduleView {
        model: schedule.model.clone(),
        plan: (!schedule.plan.is_empty()).then(|| (schedule.plan.clone(), schedule.about.clone())),
        engines: schedule.engines.iter().map(engine).collect(),
    }
}

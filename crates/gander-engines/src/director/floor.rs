//! The floor: engines that wait for a worker, and the workers' loop.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use gander_system::{ClaimId, Obstacle};

use crate::cancel::{CancelToken, lock};
use crate::engine::{Advance, Desk, Engine, EngineInfo, Message};

/// Where an engine is.
enum Place {
    /// Waits for a worker; made when its first turn comes.
    Waiting(Option<Box<dyn Engine>>),
    /// With a worker.
    Working,
    /// Has nothing more to do.
    Finished(Box<dyn Engine>),
    /// Panicked.
    Broken(String),
}

/// An engine, its desk, and how much it has worked.
pub(super) struct Slot {
    info: EngineInfo,
    /// Taken along by the worker.
    desk: Option<Desk>,
    claims: Vec<ClaimId>,
    cancel: CancelToken,
    place: Place,
    used: Duration,
}

impl Slot {
    pub(super) fn new(info: EngineInfo, desk: Desk) -> Slot {
        let (claims, cancel) = (desk.claims.clone(), desk.cancel.clone());
        Slot { info, desk: Some(desk), claims, cancel, place: Place::Waiting(None), used: Duration::ZERO }
    }
}

/// See the module's documentation.
pub(super) struct Floor {
    slots: Mutex<Vec<Slot>>,
    changed: Condvar,
    closed: AtomicBool,
    messages: Mutex<Sender<Message>>,
}

/// An engine on its way to a worker and back.
struct Turn {
    at: usize,
    info: EngineInfo,
    engine: Option<Box<dyn Engine>>,
    desk: Desk,
}

impl Floor {
    pub(super) fn new(slots: Vec<Slot>, messages: Sender<Message>) -> Floor {
        Floor {
            slots: Mutex::new(slots),
            changed: Condvar::new(),
            closed: AtomicBool::new(false),
            messages: Mutex::new(messages),
        }
    }

    /// The number of engines.
    pub(super) fn engines(&self) -> usize {
        lock(&self.slots).len()
    }

    /// No more turns.
    pub(super) fn close(&self) {
        self.closed.store(true, Ordering::SeqCst);
        let _slots = lock(&self.slots);
        self.changed.notify_all();
    }

    /// A worker's life: takes turns until the floor closes.
    pub(super) fn work(&self) {
        while let Some(turn) = self.next_turn() {
            self.take(turn);
        }
    }

    /// Takes the first turn of an engine that begins at once; false if there is none left.
    pub(super) fn begin(&self) -> bool {
        let fresh = |s: &Slot| s.info.begins_at_once && matches!(s.place, Place::Waiting(None));
        let turn = turn_of(&mut lock(&self.slots), fresh);
        let some = turn.is_some();
        if let Some(turn) = turn {
            self.take(turn);
        }
        some
    }

    fn take(&self, mut turn: Turn) {
        let begun = Instant::now();
        let result = catch_unwind(AssertUnwindSafe(|| {
            let engine = turn.engine.get_or_insert_with(|| (turn.info.open)(&turn.desk));
            engine.advance(&turn.desk)
        }));
        self.put_back(turn, begun.elapsed(), result.map_err(panic_text));
    }

    fn next_turn(&self) -> Option<Turn> {
        let mut slots = lock(&self.slots);
        loop {
            if self.closed.load(Ordering::SeqCst) {
                return None;
            }
            if let Some(turn) = turn_of(&mut slots, |s| matches!(s.place, Place::Waiting(_))) {
                return Some(turn);
            }
            if !slots.iter().any(|s| matches!(s.place, Place::Working)) {
                // The director may have left; then nobody needs to know.
                let _ = lock(&self.messages).send(Message::Idle);
            }
            slots = self.changed.wait(slots).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn put_back(&self, turn: Turn, used: Duration, result: Result<Advance, String>) {
        let mut slots = lock(&self.slots);
        let slot = &mut slots[turn.at];
        slot.used += used;
        let open = turn.desk.claims.iter().any(|c| turn.desk.is_open(*c));
        slot.place = match (result, turn.engine) {
            (Ok(Advance::Again), engine) if open && !turn.desk.is_cancelled() => Place::Waiting(engine),
            (Ok(_), Some(engine)) => Place::Finished(engine),
            (Ok(_), None) => Place::Broken("it was never made".into()),
            (Err(problem), _) => {
                let message = Message::Broken { engine: turn.info.name, problem: problem.clone() };
                let _ = lock(&self.messages).send(message);
                Place::Broken(problem)
            }
        };
        slot.desk = Some(turn.desk);
        self.changed.notify_all();
    }

    /// True if an engine that finds shortest runs is still at work on the claim.
    pub(super) fn finds_shortest(&self, claim: ClaimId) -> bool {
        lock(&self.slots).iter().any(|s| {
            s.info.finds_shortest && s.claims.contains(&claim) && matches!(s.place, Place::Waiting(_) | Place::Working)
        })
    }

    /// Stops engines whose claims are all settled.
    pub(super) fn stop_idle_engines(&self, settled: &[AtomicBool]) {
        for slot in lock(&self.slots).iter() {
            if slot.claims.iter().all(|c| settled[c.index()].load(Ordering::SeqCst)) {
                slot.cancel.cancel();
            }
        }
    }

    /// What each engine that could decide the claim says about it; to be asked when all workers are gone.
    pub(super) fn obstacles(&self, claim: ClaimId) -> (Vec<(String, Option<String>)>, Vec<Obstacle>) {
        let (mut engines, mut broken) = (Vec::new(), Vec::new());
        for slot in lock(&self.slots).iter().filter(|s| s.claims.contains(&claim)) {
            let name = slot.info.name.to_string();
            match &slot.place {
                Place::Waiting(Some(e)) | Place::Finished(e) => engines.push((name, e.obstacle(claim))),
                Place::Waiting(None) | Place::Working => engines.push((name, None)),
                Place::Broken(problem) => broken.push(Obstacle { engine: name, reason: format!("broke: {problem}") }),
            }
        }
        (engines, broken)
    }
}

/// The turn of the engine that has used the least time so far, of those that wait.
fn turn_of(slots: &mut [Slot], wanted: impl Fn(&Slot) -> bool) -> Option<Turn> {
    let next = slots.iter_mut().enumerate().filter(|(_, s)| wanted(s)).min_by_key(|(i, s)| (s.used, *i));
    let (at, slot) = next?;
    let (place, desk) = (std::mem::replace(&mut slot.place, Place::Working), slot.desk.take());
    match (place, desk) {
        (Place::Waiting(engine), Some(desk)) => Some(Turn { at, info: slot.info, engine, desk }),
        // An engine that waits has its desk.
        (place, desk) => {
            (slot.place, slot.desk) = (place, desk);
            None
        }
    }
}

fn panic_text(payload: Box<dyn std::any::Any + Send>) -> String {
    match payload.downcast_ref::<&str>() {
        Some(text) => (*text).to_string(),
        None => payload.downcast_ref::<String>().cloned().unwrap_or_else(|| "a panic without a message".into()),
    }
}

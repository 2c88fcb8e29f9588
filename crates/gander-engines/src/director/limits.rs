//! The numeric limits of the director.

use std::time::Duration;

/// See [`LIMITS`]. Values for which no reason is given were chosen by hand.
pub(super) struct Limits {
    /// Time after the time limit for checking answers that were found within it, in total.
    pub grace: Duration,
    /// The same time as one part in this many of the time limit. The larger of the two counts.
    pub grace_part: u32,
    /// Time for checks of answers that were found before the check was cancelled, in total.
    pub cancelled_checks: Duration,
    /// Time for checks of conjectures, in total and for each query; with many claims or transitions
    /// also `batch_time_each` for each, up to four times `batch_time`.
    pub conjecture_checks: Duration,
    /// Time for the first check of an answer that needs a solver while other claims are open: an
    /// easy claim waits no longer for a hard one.
    pub others_wait: Duration,

    /// Nodes of a control graph for which the director computes a bound at each node.
    pub control_nodes: usize,

    /// Variables of a system on which engines run on the calling thread. On larger systems the
    /// first piece of work may take long.
    pub variables_at_once: usize,
    /// Terms of a system that is reduced on the calling thread. Larger systems are reduced on a
    /// separate thread, so that cancellation does not wait for deallocation.
    pub large_system: usize,
    /// Time after which a second worker is spawned.
    pub second_worker_after: Duration,
    /// A run that may not be the shortest waits for a shorter one for at least
    /// [`crate::EngineOptions::shorter_run_wait`] and this many times as long as it took to find
    /// it.
    pub shorter_run_wait_factor: u32,
    /// The same for systems with a limit on the number of steps, where any run within the limit is
    /// good: the least time is that option divided by the first number, and the second number is
    /// the factor.
    pub shorter_run_wait_within_limit: (u32, u32),
    /// Time for which engines pause while answers to all open claims are being checked.
    pub hold: Duration,
    /// Time for which the director waits for turns to end when a check is over.
    pub last_turns: Duration,
    /// Time for collecting obstacles when a check ends: when it is cancelled, when its time is
    /// over, and when all engines have finished. There may be hundreds of thousands of claims.
    pub last_obstacles: [Duration; 3],
    /// Duration of a check from which on its data is deallocated on a separate thread.
    pub deallocation_thread_after: Duration,
    /// Interval between two measurements of the memory in use.
    pub memory_interval: Duration,
    /// The same if more than half of the memory limit is in use.
    pub memory_interval_high: Duration,
    /// One part in this many of the memory limit is kept free by stopping engines. Below the first
    /// part, one engine is stopped in each `memory_return`; below the second, one at every
    /// measurement.
    pub free_memory_parts: [u64; 2],
    /// Time that a stopped engine has to free its memory before the next one is stopped.
    pub memory_return: Duration,
    /// Answers that are checked together.
    pub batch_answers: usize,
    /// Time for checking answers together, independent of their number.
    pub batch_time: Duration,
    /// Additional time for each answer that is checked together with others.
    pub batch_time_each: Duration,
    /// Settled claims of one orbit whose evidence is renamed for the open ones. The second one may
    /// have evidence of another kind, or evidence that is checked faster.
    pub transfers: u32,
    /// Time for checks of conjectures that are probably right, such as renamed evidence, beside the
    /// time that depends on the number of claims and transitions.
    pub transfer_checks: Duration,
    /// Renamed evidence is checked first for one claim, then for this many times as many at once.
    pub transfer_growth: usize,
    /// Time for the first check of an answer to the last open claim.
    pub first_check: Duration,
    /// Factor by which the time grows when the check of an answer is repeated.
    pub check_growth: u32,
    /// Checks in a row that take too long before the other answers wait for more time, too.
    pub short_checks: u32,
    /// A run does not wait for a shorter one if it is longer than the first number, and longer than
    /// the second number times the depth that was searched. Runs up to the first number are
    /// searched quickly.
    pub long_run: (u64, u64),
    /// The same for runs with repetitions. They are rarely much too long, because engines repeat no
    /// more than is needed, and they are short to print.
    pub long_run_with_repetitions: (u64, u64),

    /// Values that may be computed to shorten a run, independent of the time, while a better run
    /// may come soon.
    pub rerun_values_at_first: u64,
    /// The same for a run that is shown. Takes some hundredths of a second.
    pub rerun_values: u64,
    /// Runs for which these values are computed. Later ones share the time.
    pub rerun_runs: u32,
    /// One part in this many of the time so far is used to make runs shorter.
    pub rerun_part: u32,
    /// Time for one run at most.
    pub rerun_time: Duration,

    /// Duration of a turn that counts as stalled.
    pub stalled: Duration,
    /// Additional CPU time after which the obstacles of an engine are collected, in case it is
    /// stopped in the middle of a turn.
    pub obstacles_after: Duration,
    /// Collecting obstacles takes at most one part in this many of the time of an engine.
    pub obstacles_part: u32,
    /// Claims of an engine whose obstacles are collected.
    pub obstacle_claims: usize,
    /// Workers beyond which a check waits for its own before it ends, including workers of earlier
    /// checks with the same budget that are still deallocating.
    pub workers: usize,
}

/// The limits in use.
pub(super) const LIMITS: Limits = Limits {
    grace: Duration::from_millis(200),
    grace_part: 20,
    cancelled_checks: Duration::from_millis(20),
    conjecture_checks: Duration::from_millis(100),
    others_wait: Duration::from_millis(40),
    control_nodes: 64,
    variables_at_once: 100,
    large_system: 100_000,
    second_worker_after: Duration::from_millis(4),
    shorter_run_wait_factor: 4,
    shorter_run_wait_within_limit: (10, 1),
    hold: Duration::from_secs(2),
    last_turns: Duration::from_millis(10),
    last_obstacles: [Duration::from_millis(10), Duration::from_millis(100), Duration::from_secs(2)],
    deallocation_thread_after: Duration::from_millis(100),
    memory_interval: Duration::from_millis(250),
    memory_interval_high: Duration::from_millis(30),
    free_memory_parts: [4, 8],
    memory_return: Duration::from_millis(500),
    batch_answers: 8192,
    batch_time: Duration::from_millis(500),
    batch_time_each: Duration::from_millis(1),
    transfers: 2,
    transfer_checks: Duration::from_secs(1),
    transfer_growth: 8,
    first_check: Duration::from_secs(5),
    check_growth: 8,
    short_checks: 3,
    long_run: (1000, 20),
    long_run_with_repetitions: (60, 3),
    rerun_values_at_first: 50_000,
    rerun_values: 300_000,
    rerun_runs: 20,
    rerun_part: 5,
    rerun_time: Duration::from_secs(2),
    stalled: Duration::from_millis(100),
    obstacles_after: Duration::from_millis(100),
    obstacles_part: 50,
    obstacle_claims: 64,
    workers: 64,
};

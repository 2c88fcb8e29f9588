//! The worker threads of checks that share a budget.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Counts the worker threads of all checks that have a copy of it, including those that still
/// deallocate after the end of their check. If there are too many, a check waits for its own
/// threads before it ends.
///
/// A nested check has the budget of the check that it belongs to. A program that runs many checks
/// can give all of them the same one ([`crate::CheckConfig::workers`]).
#[derive(Clone, Debug, Default)]
pub struct WorkerBudget {
    workers: Arc<AtomicUsize>,
}

/// A worker that is counted until this is dropped.
#[derive(Debug)]
pub(crate) struct CountedWorker {
    budget: WorkerBudget,
}

impl WorkerBudget {
    /// Counts another worker.
    pub(crate) fn count_worker(&self) -> CountedWorker {
        self.workers.fetch_add(1, Ordering::SeqCst);
        CountedWorker { budget: self.clone() }
    }

    /// The number of workers.
    pub(crate) fn workers(&self) -> usize {
        self.workers.load(Ordering::SeqCst)
    }
}

impl Drop for CountedWorker {
    fn drop(&mut self) {
        self.budget.workers.fetch_sub(1, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_of_a_budget_count_the_same_workers() {
        let budget = WorkerBudget::default();
        let (first, second) = (budget.count_worker(), budget.clone().count_worker());
        assert_eq!(budget.workers(), 2);
        drop(first);
        assert_eq!(budget.clone().workers(), 1);
        drop(second);
        assert_eq!(budget.workers(), 0);
        assert_eq!(WorkerBudget::default().workers(), 0);
    }
}

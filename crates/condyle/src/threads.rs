//! The same work on many items, on some threads.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What `work` makes of each item, in their order.
///
/// Whoever is free takes the next item, so that long ones do not wait for each other. A thread that
/// cannot be started is done without: the caller's own takes part.
pub(crate) fn each<T: Sync, R: Send>(
    items: &[T],
    threads: NonZeroUsize,
    work: impl Fn(&T) -> R + Sync,
) -> Vec<R> {
    let helpers = threads.get().min(items.len()).saturating_sub(1);
    if helpers == 0 {
        return items.iter().map(work).collect();
    }
    let next = AtomicUsize::new(0);
    let run = || {
        let mut done = Vec::new();
        loop {
            let i = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(i) else { return done };
            done.push((i, work(item)));
        }
    };
    let mut all = std::thread::scope(|scope| {
        let started: Vec<_> = (0..helpers)
            .map_while(|_| std::thread::Builder::new().spawn_scoped(scope, run).ok())
            .collect();
        let mut all = run();
        for helper in started {
            match helper.join() {
                Ok(done) => all.extend(done),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        all
    });
    all.sort_by_key(|(i, _)| *i);
    all.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_order_for_any_number_of_threads() {
        let items: Vec<usize> = (0..100).collect();
        for threads in [1, 2, 5, 300] {
            let squares = each(&items, NonZeroUsize::new(threads).unwrap(), |i| i * i);
            assert!(squares.iter().enumerate().all(|(i, s)| *s == i * i));
            assert_eq!(squares.len(), 100);
        }
        assert!(each(&[0; 0], NonZeroUsize::MIN, |i| *i).is_empty());
    }
}

//! The ways to do the same work. None of them may change a bit.

use std::ops::Range;

use condyle::math::Level;

/// A way to do the work.
///
/// What else the library lets a caller choose without a change of the result belongs here as a
/// further field, and into [`How::ways`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct How {
    /// How many threads share the work.
    pub threads: usize,
    /// The instructions of batch kernels.
    pub level: Level,
}

impl How {
    /// The plain way, which works everywhere: no threads, the instructions every machine has.
    pub const PLAIN: Self = Self { threads: 1, level: Level::BASELINE };

    /// All ways that this target has, the plain one first.
    #[must_use]
    pub fn ways() -> Vec<Self> {
        let threads: &[usize] = if cfg!(target_arch = "wasm32") { &[1] } else { &[1, 2, 5] };
        let with_level = |level| threads.iter().map(move |&threads| Self { threads, level });
        Level::all().flat_map(with_level).collect()
    }

    /// `0..n` in as many blocks as there are threads, as equal as can be.
    #[must_use]
    pub fn blocks(&self, n: usize) -> Vec<Range<usize>> {
        let threads = self.threads;
        (0..threads).map(|i| n * i / threads..n * (i + 1) / threads).collect()
    }

    /// What `work` makes of each block of `0..n`, one thread per block, in the order of the blocks.
    pub fn split<R: Send>(&self, n: usize, work: impl Fn(Range<usize>) -> R + Sync) -> Vec<R> {
        if self.threads == 1 {
            return vec![work(0..n)];
        }
        std::thread::scope(|scope| {
            let work = &work;
            let started: Vec<_> =
                self.blocks(n).into_iter().map(|b| scope.spawn(move || work(b))).collect();
            started.into_iter().map(|t| t.join().expect("the work does not panic")).collect()
        })
    }

    /// What `work` makes of each item, in the order of the items, which the threads share.
    pub fn each<T: Sync, R: Send>(&self, items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
        let blocks =
            self.split(items.len(), |block| -> Vec<R> { items[block].iter().map(&work).collect() });
        blocks.into_iter().flatten().collect()
    }
}

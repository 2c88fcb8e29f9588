//! A binary heap of variables, the most active on top.

/// See the module's documentation.
#[derive(Debug, Default)]
pub(super) struct Heap {
    heap: Vec<u32>,
    /// By variable: its position in the heap.
    place: Vec<Option<u32>>,
    pub(super) activity: Vec<f64>,
    step: f64,
}

impl Heap {
    pub(super) fn new(variables: usize) -> Heap {
        let mut heap = Heap { step: 1.0, ..Heap::default() };
        for _ in 0..variables {
            heap.grow();
        }
        heap
    }

    pub(super) fn grow(&mut self) {
        self.place.push(None);
        self.activity.push(0.0);
        self.insert(self.place.len() - 1);
    }

    pub(super) fn insert(&mut self, v: usize) {
        if self.place[v].is_none() {
            self.place[v] = Some(self.heap.len() as u32);
            self.heap.push(v as u32);
            self.up(self.heap.len() - 1);
        }
    }

    pub(super) fn pop(&mut self) -> Option<usize> {
        let top = *self.heap.first()? as usize;
        self.place[top] = None;
        let last = self.heap.pop()?;
        if last as usize != top {
            self.heap[0] = last;
            self.place[last as usize] = Some(0);
            self.down(0);
        }
        Some(top)
    }

    pub(super) fn bump(&mut self, v: usize) {
        self.activity[v] += self.step;
        if self.activity[v] > 1e100 {
            self.activity.iter_mut().for_each(|a| *a *= 1e-100);
            self.step *= 1e-100;
        }
        if let Some(at) = self.place[v] {
            self.up(at as usize);
        }
    }

    pub(super) fn decay(&mut self) {
        self.step /= 0.95;
    }

    fn before(&self, a: usize, b: usize) -> bool {
        self.activity[self.heap[a] as usize] > self.activity[self.heap[b] as usize]
    }

    fn swap(&mut self, a: usize, b: usize) {
        self.heap.swap(a, b);
        self.place[self.heap[a] as usize] = Some(a as u32);
        self.place[self.heap[b] as usize] = Some(b as u32);
    }

    fn up(&mut self, mut at: usize) {
        while at > 0 && self.before(at, (at - 1) / 2) {
            self.swap(at, (at - 1) / 2);
            at = (at - 1) / 2;
        }
    }

    fn down(&mut self, mut at: usize) {
        loop {
            let (left, right) = (2 * at + 1, 2 * at + 2);
            let mut best = at;
            for child in [left, right] {
                if child < self.heap.len() && self.before(child, best) {
                    best = child;
                }
            }
            if best == at {
                return;
            }
            self.swap(at, best);
            at = best;
        }
    }
}

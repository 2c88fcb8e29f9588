; expect safe: fails
; Variables that only the constraint mentions: some value of them is enough.
(set-logic HORN)
(declare-fun P (Int) Bool)
(assert (forall ((x Int) (k Int)) (=> (and (= x (* 2 k)) (<= 0 k) (<= k 2)) (P x))))
(assert (forall ((x Int) (z Int)) (=> (and (P x) (<= 1 z) (<= z 2)) (P (+ x z)))))
(assert (forall ((x Int) (w Int)) (=> (and (P x) (= w 7) (= x w)) false)))
(check-sat)

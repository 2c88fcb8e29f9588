; expect E0201 at 4:14
(set-logic HORN)
(declare-fun P (Int) Bool)
(declare-fun P (Int Int) Bool)
(assert (forall ((x Int)) (=> (= x 0) (P x))))

; The cell that the counter points to is zero when the loop begins and holds the counter when it ends.
(set-logic HORN)
(declare-fun P ((Array Int Int) Int) Bool)
(declare-fun Q ((Array Int Int) Int) Bool)
(assert (forall ((a (Array Int Int)) (i Int)) (=> (and (= i 0) (= a ((as const (Array Int Int)) 0))) (P a i))))
(assert (forall ((a (Array Int Int)) (i Int)) (=> (P a i) (P (store a i i) (+ i 1)))))
(assert (forall ((a (Array Int Int)) (i Int)) (=> (P a i) (Q (store a i i) i))))
(assert (forall ((a (Array Int Int)) (i Int)) (=> (and (Q a i) (not (= (select a i) i))) false)))
(check-sat)

; A constant of sort Bool is a predicate without arguments: nothing says that it is true.
(set-logic HORN)
(declare-const err Bool)
(declare-fun p (Int) Bool)
(assert (forall ((x Int)) (=> (= x 0) (p x))))
(assert (forall ((x Int)) (=> (and (p x) (> x 5)) err)))
(assert (=> err false))
(check-sat)

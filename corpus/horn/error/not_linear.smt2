; expect E0510 at 5:1
(set-logic HORN)
(declare-fun fib (Int) Bool)
(assert (forall ((x Int)) (=> (= x 1) (fib x))))
(assert (forall ((x Int) (y Int)) (=> (and (fib x) (fib y)) (fib (+ x y)))))
(assert (forall ((x Int)) (=> (and (fib x) (< x 0)) false)))

; expect E0510 at 5:1
; expect E0510 at 6:1
(set-logic HORN)
(declare-fun p (Int) Bool)
(declare-const c Int)
(define-fun inv ((x Int)) Bool (p x))
(assert (forall ((x Int)) (=> (= x 0) (p x))))

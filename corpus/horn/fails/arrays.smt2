; expect safe: fails
; Rows of a matrix: the element of an element can be written.
(set-logic HORN)
(declare-fun P ((Array Int (Array Int Int)) Int) Bool)
(assert (forall ((m (Array Int (Array Int Int)))) (=> (= (select (select m 1) 1) 0) (P m 0))))
(assert (forall ((m (Array Int (Array Int Int))) (i Int))
  (=> (and (P m i) (< i 3)) (P (store m i (store (select m i) i (+ i 1))) (+ i 1)))))
(assert (forall ((m (Array Int (Array Int Int))) (i Int)) (=> (and (P m i) (= (select m 1 1) 2)) false)))
(check-sat)

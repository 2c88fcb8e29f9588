; expect E0510 at 4:30
; expect E0510 at 5:20
; Only datatypes without fields are enumerations.
(declare-datatypes () ((Pair (pair (first Int) (second Int)))))
(declare-rel held (Pair))
(declare-var p Int)
(rule (=> (= p 0) true))

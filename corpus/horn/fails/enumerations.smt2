; expect no faulty: fails
; A savings account that can be blocked, in the form of the template of Goose: enumerations for
; nodes and values, one relation for reachable states, one for faulty states, and a query for a
; relation with arguments. Z3: sat.
(declare-datatypes () ((phase ACTIVE BLOCKED ENDED)))
(declare-datatypes () ((Node active blocked)))

; reachable states that break the property
(declare-rel faulty (Node Real phase))
; reachable states
(declare-rel reached (Node Real phase))

(declare-var node (Node))
(declare-var next_node (Node))
(declare-var savings (Real))
(declare-var next_savings (Real))
(declare-var phase (phase))
(declare-var next_phase (phase))
(declare-var sum_put_t (Real))
(declare-var sum_take_t (Real))

(define-fun initial () Bool
  (or
    (and (= node active) (and (= savings 20) (= phase ACTIVE)))
  )
)

(define-fun put () Bool
  (and
    (= node active)
    (= next_node active)
    (and (> sum_put_t 0) (<= sum_put_t 100))
    (and (= next_savings (+ savings sum_put_t)) (= next_phase phase))
  )
)

(define-fun take () Bool
  (and
    (= node active)
    (= next_node active)
    (and (> sum_take_t 0) (<= sum_take_t savings))
    (and (= next_savings (- savings sum_take_t)) (= next_phase phase))
  )
)

(define-fun block () Bool
  (and
    (= node active)
    (= next_node blocked)
    (= phase ACTIVE)
    (and (= next_savings savings) (= next_phase BLOCKED))
  )
)

(define-fun release () Bool
  (and
    (= node blocked)
    (= next_node active)
    (= phase BLOCKED)
    (and (= next_savings savings) (= next_phase ACTIVE))
  )
)

(define-fun transition () Bool
  (or
    put
    take
    block
    release
  )
)

(define-fun safety_property () Bool
  (and
    (<= savings 500)
  )
)

(rule (=> initial (reached node savings phase)))

(rule
  (=>
    (and
      (reached node savings phase)
      transition
    )
    (reached next_node next_savings next_phase)
  )
)

(rule
  (=>
    (and
      (reached node savings phase)
      (not safety_property)
    )
    (faulty node savings phase)
  )
)

(query faulty)

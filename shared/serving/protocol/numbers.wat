;; Reads numbers of JSON. lift-numbers.ts lays out the memory: powers of ten from 10^0 to 10^22 at 0, the text, the results.
(module
  (memory (export "memory") 6 6)
  ;; Open lists, and what may come next: 0 a comma or the end of a list, 1 a value, 2 a value or the end of an empty list.
  (global $depth (export "depth") (mut i32) (i32.const 0))
  (global $state (export "state") (mut i32) (i32.const 0))
  ;; Position behind the last list, once it is closed.
  (global $next (export "next") (mut i32) (i32.const 0))
  (global $dropped (mut i32) (i32.const 0))

  ;; Reads digits into a whole number of at most 19 digits, and counts the digits beyond in $dropped.
  (func $digits (param $at i32) (param $number i64) (param $count i32) (result i32 i64 i32)
    (local $word i64) (local $byte i32)
    (loop $next
      (if (i32.le_u (local.get $count) (i32.const 11))
        (then
          (local.set $word (i64.load align=1 (local.get $at)))
          ;; Eight digits at once: the upper half of each byte is 3, also after 6 is added.
          (if
            (i64.eq
              (i64.or
                (i64.and (local.get $word) (i64.const 0xf0f0f0f0f0f0f0f0))
                (i64.shr_u
                  (i64.and
                    (i64.add (local.get $word) (i64.const 0x0606060606060606))
                    (i64.const 0xf0f0f0f0f0f0f0f0))
                  (i64.const 4)))
              (i64.const 0x3333333333333333))
            (then
              ;; Neighbours are joined to numbers of two, four and eight digits.
              (local.set $word
                (i64.shr_u
                  (i64.mul (i64.and (local.get $word) (i64.const 0x0f0f0f0f0f0f0f0f)) (i64.const 2561))
                  (i64.const 8)))
              (local.set $word
                (i64.shr_u
                  (i64.mul (i64.and (local.get $word) (i64.const 0x00ff00ff00ff00ff)) (i64.const 6553601))
                  (i64.const 16)))
              (local.set $word
                (i64.shr_u
                  (i64.mul (i64.and (local.get $word) (i64.const 0x0000ffff0000ffff)) (i64.const 42949672960001))
                  (i64.const 32)))
              (local.set $number (i64.add (i64.mul (local.get $number) (i64.const 100000000)) (local.get $word)))
              (local.set $count (i32.add (local.get $count) (i32.const 8)))
              (local.set $at (i32.add (local.get $at) (i32.const 8)))
              (br $next)))))
      (local.set $byte (i32.sub (i32.load8_u (local.get $at)) (i32.const 48)))
      (if (i32.lt_u (local.get $byte) (i32.const 10))
        (then
          (if (i32.lt_u (local.get $count) (i32.const 19))
            (then
              (local.set $number
                (i64.add (i64.mul (local.get $number) (i64.const 10)) (i64.extend_i32_u (local.get $byte))))
              (local.set $count (i32.add (local.get $count) (i32.const 1))))
            (else (global.set $dropped (i32.add (global.get $dropped) (i32.const 1)))))
          (local.set $at (i32.add (local.get $at) (i32.const 1)))
          (br $next))))
    (local.get $at) (local.get $number) (local.get $count))

  ;; Reads from $at to $end, where eight bytes that are no digits follow. Writes float32 values from $to on where $single is 1,
  ;; else float64 values. Returns how many, or -1 for anything but numbers, and for numbers whose rounding is not certain here.
  (func (export "read") (param $at i32) (param $end i32) (param $to i32) (param $single i32) (result i32)
    (local $byte i32) (local $negative i32) (local $count i32) (local $exponent i32) (local $power i32)
    (local $less i32) (local $from i32) (local $number i64) (local $exact i32) (local $found i32) (local $value f64)
    (loop $next
      (if (i32.ge_u (local.get $at) (local.get $end)) (then (return (local.get $found))))
      (local.set $byte (i32.load8_u (local.get $at)))
      (if
        (i32.or
          (i32.eq (local.get $byte) (i32.const 0x20))
          (i32.or
            (i32.eq (local.get $byte) (i32.const 0x0d))
            (i32.lt_u (i32.sub (local.get $byte) (i32.const 9)) (i32.const 2))))
        (then
          (local.set $at (i32.add (local.get $at) (i32.const 1)))
          (br $next)))
      (if (i32.and (i32.eq (local.get $byte) (i32.const 0x5d)) (i32.ne (global.get $state) (i32.const 1)))
        (then
          (local.set $at (i32.add (local.get $at) (i32.const 1)))
          (global.set $state (i32.const 0))
          (global.set $depth (i32.sub (global.get $depth) (i32.const 1)))
          (br_if $next (global.get $depth))
          (global.set $next (local.get $at))
          (return (local.get $found))))
      (if (i32.eqz (global.get $state))
        (then
          (if (i32.ne (local.get $byte) (i32.const 0x2c)) (then (return (i32.const -1))))
          (local.set $at (i32.add (local.get $at) (i32.const 1)))
          (global.set $state (i32.const 1))
          (br $next)))
      (if (i32.eq (local.get $byte) (i32.const 0x5b))
        (then
          (local.set $at (i32.add (local.get $at) (i32.const 1)))
          (global.set $state (i32.const 2))
          (global.set $depth (i32.add (global.get $depth) (i32.const 1)))
          ;; maxJsonDepth of any JSON.
          (br_if $next (i32.le_u (global.get $depth) (i32.const 100)))
          (return (i32.const -1))))

      ;; A number: sign, whole digits without a leading zero, fraction, exponent.
      (local.set $negative (i32.eq (local.get $byte) (i32.const 0x2d)))
      (local.set $at (i32.add (local.get $at) (local.get $negative)))
      (local.set $number (i64.const 0))
      (local.set $count (i32.const 0))
      (local.set $exponent (i32.const 0))
      (global.set $dropped (i32.const 0))
      (local.set $from (local.get $at))
      (if (i32.eq (i32.load8_u (local.get $at)) (i32.const 0x30))
        (then (local.set $at (i32.add (local.get $at) (i32.const 1))))
        (else
          (call $digits (local.get $at) (i64.const 0) (i32.const 0))
          (local.set $count)
          (local.set $number)
          (local.set $at)
          (if (i32.eq (local.get $at) (local.get $from)) (then (return (i32.const -1))))))
      (if (i32.eq (i32.load8_u (local.get $at)) (i32.const 0x2e))
        (then
          (local.set $at (i32.add (local.get $at) (i32.const 1)))
          (local.set $from (local.get $at))
          ;; Leading zeros take no room of the number.
          (if (i64.eqz (local.get $number))
            (then
              (loop $zeros
                (if (i32.eq (i32.load8_u (local.get $at)) (i32.const 0x30))
                  (then
                    (local.set $at (i32.add (local.get $at) (i32.const 1)))
                    (br $zeros))))))
          (call $digits (local.get $at) (local.get $number) (local.get $count))
          (local.set $count)
          (local.set $number)
          (local.set $at)
          (if (i32.eq (local.get $at) (local.get $from)) (then (return (i32.const -1))))
          (local.set $exponent (i32.sub (local.get $from) (local.get $at)))))
      (local.set $exponent (i32.add (local.get $exponent) (global.get $dropped)))
      (if (i32.eq (i32.or (i32.load8_u (local.get $at)) (i32.const 0x20)) (i32.const 0x65))
        (then
          (local.set $at (i32.add (local.get $at) (i32.const 1)))
          (local.set $byte (i32.load8_u (local.get $at)))
          (local.set $less (i32.eq (local.get $byte) (i32.const 0x2d)))
          (if (i32.or (local.get $less) (i32.eq (local.get $byte) (i32.const 0x2b)))
            (then (local.set $at (i32.add (local.get $at) (i32.const 1)))))
          (local.set $power (i32.const 0))
          (local.set $from (local.get $at))
          (loop $digit
            (local.set $byte (i32.sub (i32.load8_u (local.get $at)) (i32.const 48)))
            (if (i32.lt_u (local.get $byte) (i32.const 10))
              (then
                (if (i32.lt_u (local.get $power) (i32.const 10000))
                  (then
                    (local.set $power
                      (i32.add (i32.mul (local.get $power) (i32.const 10)) (local.get $byte)))))
                (local.set $at (i32.add (local.get $at) (i32.const 1)))
                (br $digit))))
          (if (i32.eq (local.get $at) (local.get $from)) (then (return (i32.const -1))))
          (local.set $exponent
            (select
              (i32.sub (local.get $exponent) (local.get $power))
              (i32.add (local.get $exponent) (local.get $power))
              (local.get $less)))))
      (local.set $value (f64.convert_i64_u (local.get $number)))
      ;; A double has the number and the power of ten exactly, so the result is rounded once (W. D. Clinger, 1990).
      (local.set $exact
        (i32.and
          (i64.le_u (local.get $number) (i64.const 0x20000000000000))
          (i32.and
            (i32.eqz (global.get $dropped))
            (i32.le_u (i32.add (local.get $exponent) (i32.const 22)) (i32.const 44)))))
      (if (i32.eqz (local.get $exact))
        (then
          (if
            (i32.or
              (i32.eqz (local.get $single))
              (i32.gt_u (i32.add (local.get $exponent) (i32.const 88)) (i32.const 132)))
            (then (return (i32.const -1))))
          (loop $small
            (if (i32.lt_s (local.get $exponent) (i32.const -22))
              (then
                (local.set $value (f64.div (local.get $value) (f64.const 1e22)))
                (local.set $exponent (i32.add (local.get $exponent) (i32.const 22)))
                (br $small))))
          (if (i32.gt_s (local.get $exponent) (i32.const 22))
            (then
              (local.set $value (f64.mul (local.get $value) (f64.const 1e22)))
              (local.set $exponent (i32.sub (local.get $exponent) (i32.const 22)))))))
      (local.set $value
        (if (result f64) (i32.lt_s (local.get $exponent) (i32.const 0))
          (then
            (f64.div
              (local.get $value)
              (f64.load (i32.shl (i32.sub (i32.const 0) (local.get $exponent)) (i32.const 3)))))
          (else (f64.mul (local.get $value) (f64.load (i32.shl (local.get $exponent) (i32.const 3)))))))
      (if (local.get $negative) (then (local.set $value (f64.neg (local.get $value)))))
      (if (local.get $single)
        (then
          (f32.store (local.get $to) (f32.demote_f64 (local.get $value)))
          ;; At most seven roundings of 2^-53 each: off the middle of two float32 values both bounds are the same one.
          (if (i32.eqz (local.get $exact))
            (then
              (if
                (f32.ne
                  (f32.demote_f64 (f64.mul (local.get $value) (f64.const 0x1.fffffffffffep-1)))
                  (f32.demote_f64 (f64.mul (local.get $value) (f64.const 0x1.000000000001p+0))))
                (then (return (i32.const -1))))))
          (local.set $to (i32.add (local.get $to) (i32.const 4))))
        (else
          (f64.store (local.get $to) (local.get $value))
          (local.set $to (i32.add (local.get $to) (i32.const 8)))))
      (local.set $found (i32.add (local.get $found) (i32.const 1)))
      (global.set $state (i32.const 0))
      (br $next))
    (i32.const -1))
)

;; Loops over weights, four values at a time; V8 makes no such loops of JavaScript. All operations are those of IEEE 754, so
;; each result has the same bits as a loop of JavaScript would give it, save sums, whose order is another. Addresses and
;; widths are in bytes. Lengths are multiples of 16 bytes unless stated otherwise. `make.sh` writes wasm.ts from this.
(module
  ;; As kernels.ts lays it out.
  (memory (export "memory") 8 8)

  ;; How many float32 values are zero or minus zero.
  (func (export "zeros") (param $at i32) (param $end i32) (result i32)
    (local $found v128)
    (loop $next
      (if (i32.lt_u (local.get $at) (local.get $end))
        (then
          ;; A comparison is -1 where it holds.
          (local.set $found
            (i32x4.sub
              (local.get $found)
              (f32x4.eq (v128.load (local.get $at)) (v128.const f32x4 0 0 0 0))))
          (local.set $at (i32.add (local.get $at) (i32.const 16)))
          (br $next))))
    (call $sum (local.get $found)))

  ;; How many bytes are $byte; a multiple of sixteen are looked at.
  (func (export "matches") (param $at i32) (param $end i32) (param $byte i32) (result i32)
    (local $wanted v128) (local $found i32)
    (local.set $wanted (i8x16.splat (local.get $byte)))
    (loop $next
      (if (i32.lt_u (local.get $at) (local.get $end))
        (then
          (local.set $found
            (i32.add
              (local.get $found)
              (i32.popcnt (i8x16.bitmask (i8x16.eq (v128.load (local.get $at)) (local.get $wanted))))))
          (local.set $at (i32.add (local.get $at) (i32.const 16)))
          (br $next))))
    (local.get $found))

  ;; How many halves are zero or minus zero, of at most 2^19 bytes.
  (func (export "zeroHalves") (param $at i32) (param $end i32) (result i32)
    (local $found v128)
    (loop $next
      (if (i32.lt_u (local.get $at) (local.get $end))
        (then
          (local.set $found
            (i16x8.sub
              (local.get $found)
              (i16x8.eq
                (i16x8.shl (v128.load (local.get $at)) (i32.const 1))
                (v128.const i16x8 0 0 0 0 0 0 0 0))))
          (local.set $at (i32.add (local.get $at) (i32.const 16)))
          (br $next))))
    (call $sum (i32x4.extadd_pairwise_i16x8_u (local.get $found))))

  ;; How many halves of bytes are $nibble.
  (func (export "matchingNibbles") (param $at i32) (param $end i32) (param $nibble i32) (result i32)
    (local $wanted v128) (local $found i32)
    (local.set $wanted (i8x16.splat (local.get $nibble)))
    (loop $next
      (if (i32.lt_u (local.get $at) (local.get $end))
        (then
          (local.set $found
            (i32.add
              (local.get $found)
              (i32.add
                (i32.popcnt
                  (i8x16.bitmask
                    (i8x16.eq
                      (v128.and (v128.load (local.get $at)) (i8x16.splat (i32.const 15)))
                      (local.get $wanted))))
                (i32.popcnt
                  (i8x16.bitmask
                    (i8x16.eq
                      (i8x16.shr_u (v128.load (local.get $at)) (i32.const 4))
                      (local.get $wanted)))))))
          (local.set $at (i32.add (local.get $at) (i32.const 16)))
          (br $next))))
    (local.get $found))

  ;; Widens the range at $range, the largest and the smallest magnitude, by the finite float32 values other than zero.
  (func (export "magnitudes") (param $at i32) (param $end i32) (param $range i32)
    (local $size v128) (local $isCounted v128) (local $most v128) (local $least v128) (local $none v128)
    (local.set $none (f32x4.splat (f32.const inf)))
    (local.set $most (v128.load32_splat (local.get $range)))
    (local.set $least (v128.load32_splat offset=4 (local.get $range)))
    (loop $next
      (if (i32.lt_u (local.get $at) (local.get $end))
        (then
          (local.set $size (f32x4.abs (v128.load (local.get $at))))
          (local.set $isCounted
            (v128.and
              (f32x4.gt (local.get $size) (v128.const f32x4 0 0 0 0))
              (f32x4.lt (local.get $size) (local.get $none))))
          (local.set $most (f32x4.pmax (local.get $most) (v128.and (local.get $size) (local.get $isCounted))))
          (local.set $least
            (f32x4.pmin
              (local.get $least)
              (v128.bitselect (local.get $size) (local.get $none) (local.get $isCounted))))
          (local.set $at (i32.add (local.get $at) (i32.const 16)))
          (br $next))))
    (local.set $most (f32x4.pmax (local.get $most) (call $upper (local.get $most))))
    (local.set $least (f32x4.pmin (local.get $least) (call $upper (local.get $least))))
    (f32.store
      (local.get $range)
      (f32.max (f32x4.extract_lane 0 (local.get $most)) (f32x4.extract_lane 1 (local.get $most))))
    (f32.store offset=4
      (local.get $range)
      (f32.min (f32x4.extract_lane 0 (local.get $least)) (f32x4.extract_lane 1 (local.get $least)))))

  ;; Rounds float32 values to halves, to the nearest and of two the even one, in their place: a half takes the first of two
  ;; bytes. Adds to $sums the squares of the errors and of the values, in two parts each. Returns the largest magnitude; above
  ;; 65504, and where a sum is not finite, the halves are not those of the values.
  (func (export "roundToHalves") (param $at i32) (param $end i32) (param $sums i32) (result f32)
    (local $to i32) (local $value v128) (local $size v128) (local $half v128) (local $lost v128)
    (local $most v128) (local $error v128) (local $norm v128)
    (local.set $to (local.get $at))
    (loop $next
      (if (i32.lt_u (local.get $at) (local.get $end))
        (then
          (local.set $value (v128.load (local.get $at)))
          (local.set $size (f32x4.abs (local.get $value)))
          (local.set $most (f32x4.pmax (local.get $most) (local.get $size)))
          ;; Below the normal range, adding 0.5 leaves the bits of the half at the end; else the exponent gets another bias.
          (local.set $half
            (v128.bitselect
              (i32x4.sub
                (f32x4.add (local.get $size) (v128.const f32x4 0.5 0.5 0.5 0.5))
                (v128.const f32x4 0.5 0.5 0.5 0.5))
              (i32x4.shr_u
                (i32x4.add
                  (i32x4.add (local.get $size) (v128.const i32x4 0xc8000fff 0xc8000fff 0xc8000fff 0xc8000fff))
                  (v128.and
                    (i32x4.shr_u (local.get $size) (i32.const 13))
                    (v128.const i32x4 1 1 1 1)))
                (i32.const 13))
              (i32x4.lt_s (local.get $size) (v128.const i32x4 0x38800000 0x38800000 0x38800000 0x38800000))))
          ;; The half as float32 is its bits with the bias of float32: times 2^112.
          (local.set $lost
            (f32x4.sub
              (f32x4.mul
                (i32x4.shl (local.get $half) (i32.const 13))
                (v128.const i32x4 0x77800000 0x77800000 0x77800000 0x77800000))
              (local.get $size)))
          (local.set $error (call $addSquares (local.get $error) (local.get $lost)))
          (local.set $norm (call $addSquares (local.get $norm) (local.get $size)))
          (local.set $half
            (v128.or
              (local.get $half)
              (v128.and
                (i32x4.shr_u (local.get $value) (i32.const 16))
                (v128.const i32x4 0x8000 0x8000 0x8000 0x8000))))
          (v128.store64_lane 0 (local.get $to) (i16x8.narrow_i32x4_u (local.get $half) (local.get $half)))
          (local.set $to (i32.add (local.get $to) (i32.const 8)))
          (local.set $at (i32.add (local.get $at) (i32.const 16)))
          (br $next))))
    (v128.store (local.get $sums) (f64x2.add (v128.load (local.get $sums)) (local.get $error)))
    (v128.store offset=16
      (local.get $sums)
      (f64x2.add (v128.load offset=16 (local.get $sums)) (local.get $norm)))
    (local.set $most (f32x4.pmax (local.get $most) (call $upper (local.get $most))))
    (f32.max (f32x4.extract_lane 0 (local.get $most)) (f32x4.extract_lane 1 (local.get $most))))

  ;; Adds the squares of four values to two sums of float64.
  (func $addSquares (param $sums v128) (param $values v128) (result v128)
    (local $low v128) (local $high v128)
    (local.set $low (f64x2.promote_low_f32x4 (local.get $values)))
    (local.set $high (f64x2.promote_low_f32x4 (call $upper (local.get $values))))
    (f64x2.add
      (local.get $sums)
      (f64x2.add
        (f64x2.mul (local.get $low) (local.get $low))
        (f64x2.mul (local.get $high) (local.get $high)))))

  (func $sum (param $lanes v128) (result i32)
    (i32.add
      (i32.add (i32x4.extract_lane 0 (local.get $lanes)) (i32x4.extract_lane 1 (local.get $lanes)))
      (i32.add (i32x4.extract_lane 2 (local.get $lanes)) (i32x4.extract_lane 3 (local.get $lanes)))))

  (func $total (param $lanes v128) (result f64)
    (f64.add (f64x2.extract_lane 0 (local.get $lanes)) (f64x2.extract_lane 1 (local.get $lanes))))

  ;; Widens the range at $range, two values of float32, by neighbours of one channel. The result is NaN where one of them is
  ;; NaN or infinite, else 0.
  (func (export "widenByRun") (param $at i32) (param $end i32) (param $range i32) (result f32)
    (local $value v128) (local $least v128) (local $most v128) (local $check v128)
    (local.set $least (v128.load32_splat (local.get $range)))
    (local.set $most (v128.load32_splat offset=4 (local.get $range)))
    (loop $next
      (if (i32.lt_u (local.get $at) (local.get $end))
        (then
          ;; Fewer than four are taken one by one, beside zeros, which every range holds.
          (if (i32.lt_u (i32.sub (local.get $end) (local.get $at)) (i32.const 16))
            (then
              (local.set $value (v128.load32_zero (local.get $at)))
              (local.set $at (i32.add (local.get $at) (i32.const 4))))
            (else
              (local.set $value (v128.load (local.get $at)))
              (local.set $at (i32.add (local.get $at) (i32.const 16)))))
          (local.set $check
            (f32x4.add (local.get $check) (f32x4.mul (local.get $value) (v128.const f32x4 0 0 0 0))))
          (local.set $least (f32x4.pmin (local.get $least) (local.get $value)))
          (local.set $most (f32x4.pmax (local.get $most) (local.get $value)))
          (br $next))))
    ;; The least of four, by halves and then by neighbours.
    (local.set $least (f32x4.pmin (local.get $least) (call $upper (local.get $least))))
    (local.set $most (f32x4.pmax (local.get $most) (call $upper (local.get $most))))
    (f32.store
      (local.get $range)
      (f32.min (f32x4.extract_lane 0 (local.get $least)) (f32x4.extract_lane 1 (local.get $least))))
    (f32.store offset=4
      (local.get $range)
      (f32.max (f32x4.extract_lane 0 (local.get $most)) (f32x4.extract_lane 1 (local.get $most))))
    (call $checked (local.get $check)))

  (func $checked (param $lanes v128) (result f32)
    (f32.add
      (f32.add (f32x4.extract_lane 0 (local.get $lanes)) (f32x4.extract_lane 1 (local.get $lanes)))
      (f32.add (f32x4.extract_lane 2 (local.get $lanes)) (f32x4.extract_lane 3 (local.get $lanes)))))

  ;; The same by rows of $width bytes, each with a value of every channel.
  (func (export "widenByRows")
    (param $at i32) (param $end i32) (param $width i32) (param $low i32) (param $high i32) (result f32)
    (local $value v128) (local $check v128) (local $channel i32)
    (loop $row
      (if (i32.lt_u (local.get $at) (local.get $end))
        (then
          (local.set $channel (i32.const 0))
          (loop $next
            (local.set $value (v128.load (local.get $at)))
            (local.set $check
              (f32x4.add (local.get $check) (f32x4.mul (local.get $value) (v128.const f32x4 0 0 0 0))))
            (v128.store
              (i32.add (local.get $low) (local.get $channel))
              (f32x4.pmin (v128.load (i32.add (local.get $low) (local.get $channel))) (local.get $value)))
            (v128.store
              (i32.add (local.get $high) (local.get $channel))
              (f32x4.pmax (v128.load (i32.add (local.get $high) (local.get $channel))) (local.get $value)))
            (local.set $at (i32.add (local.get $at) (i32.const 16)))
            (local.set $channel (i32.add (local.get $channel) (i32.const 16)))
            (br_if $next (i32.lt_u (local.get $channel) (local.get $width))))
          (br $row))))
    (call $checked (local.get $check)))

  ;; Quantizes rows of $width bytes: a scale and a zero point (as float32) for each value of a row. Adds to the sums at
  ;; $sums, as float64: squares of the values, squares of what they lose, and how many were and are not zero.
  (func (export "quantizeRows")
    (param $at i32) (param $end i32) (param $width i32) (param $to i32)
    (param $scales i32) (param $zeros i32) (param $least f32) (param $most f32) (param $sums i32)
    (local $value v128) (local $scale v128) (local $zero v128) (local $level v128) (local $steps v128)
    (local $one v128) (local $other v128) (local $bottom v128) (local $top v128)
    (local $squares v128) (local $lost v128) (local $before v128) (local $after v128) (local $channel i32)
    (local.set $bottom (f32x4.splat (local.get $least)))
    (local.set $top (f32x4.splat (local.get $most)))
    (loop $row
      (if (i32.lt_u (local.get $at) (local.get $end))
        (then
          (local.set $channel (i32.const 0))
          (loop $next
            (local.set $value (v128.load (local.get $at)))
            (local.set $scale (v128.load (i32.add (local.get $scales) (local.get $channel))))
            (local.set $zero (v128.load (i32.add (local.get $zeros) (local.get $channel))))
            (local.set $level
              (f32x4.min
                (f32x4.max
                  (f32x4.add (f32x4.nearest (f32x4.div (local.get $value) (local.get $scale))) (local.get $zero))
                  (local.get $bottom))
                (local.get $top)))
            ;; A level above 127 keeps its bits: as an integer of 16 bits it is cut to a byte.
            (local.set $one (i32x4.trunc_sat_f32x4_s (local.get $level)))
            (v128.store32_lane 0
              (local.get $to)
              (i8x16.shuffle 0 4 8 12 0 4 8 12 0 4 8 12 0 4 8 12 (local.get $one) (local.get $one)))
            (local.set $before
              (i32x4.sub (local.get $before) (f32x4.ne (local.get $value) (v128.const f32x4 0 0 0 0))))
            (local.set $after (i32x4.sub (local.get $after) (f32x4.ne (local.get $level) (local.get $zero))))
            (local.set $steps (f32x4.sub (local.get $level) (local.get $zero)))
            ;; The sums are in float64, two values at a time.
            (local.set $one (f64x2.promote_low_f32x4 (local.get $value)))
            (local.set $other
              (f64x2.sub
                (local.get $one)
                (f64x2.mul
                  (f64x2.promote_low_f32x4 (local.get $scale))
                  (f64x2.promote_low_f32x4 (local.get $steps)))))
            (local.set $squares (f64x2.add (local.get $squares) (f64x2.mul (local.get $one) (local.get $one))))
            (local.set $lost (f64x2.add (local.get $lost) (f64x2.mul (local.get $other) (local.get $other))))
            (local.set $one (f64x2.promote_low_f32x4 (call $upper (local.get $value))))
            (local.set $other
              (f64x2.sub
                (local.get $one)
                (f64x2.mul
                  (f64x2.promote_low_f32x4 (call $upper (local.get $scale)))
                  (f64x2.promote_low_f32x4 (call $upper (local.get $steps))))))
            (local.set $squares (f64x2.add (local.get $squares) (f64x2.mul (local.get $one) (local.get $one))))
            (local.set $lost (f64x2.add (local.get $lost) (f64x2.mul (local.get $other) (local.get $other))))
            (local.set $at (i32.add (local.get $at) (i32.const 16)))
            (local.set $to (i32.add (local.get $to) (i32.const 4)))
            (local.set $channel (i32.add (local.get $channel) (i32.const 16)))
            (br_if $next (i32.lt_u (local.get $channel) (local.get $width))))
          (br $row))))
    (f64.store (local.get $sums) (f64.add (f64.load (local.get $sums)) (call $total (local.get $squares))))
    (f64.store offset=8
      (local.get $sums)
      (f64.add (f64.load offset=8 (local.get $sums)) (call $total (local.get $lost))))
    (f64.store offset=16
      (local.get $sums)
      (f64.add (f64.load offset=16 (local.get $sums)) (f64.convert_i32_u (call $sum (local.get $before)))))
    (f64.store offset=24
      (local.get $sums)
      (f64.add (f64.load offset=24 (local.get $sums)) (f64.convert_i32_u (call $sum (local.get $after))))))

  ;; The upper two of four values, in both halves.
  (func $upper (param $lanes v128) (result v128)
    (i8x16.shuffle 8 9 10 11 12 13 14 15 8 9 10 11 12 13 14 15 (local.get $lanes) (local.get $lanes)))

  ;; Quantizes blocks of 32 neighbours, the form of MatMulNBits: the level of a value is that of block-scale.ts. Levels take four
  ;; bits where $most is 15, else eight. $sums are the squares of the errors and of the values.
  (func (export "quantizeBlocks")
    (param $at i32) (param $end i32) (param $most f32) (param $symmetric i32)
    (param $to i32) (param $scales i32) (param $zeroPoints i32) (param $sums i32)
    (local $low v128) (local $high v128) (local $least f32) (local $largest f32)
    (local $scale f32) (local $zeroPoint f32) (local $factor v128) (local $zeros v128) (local $top v128)
    (local $wide v128) (local $first v128) (local $second v128)
    (local.set $top (f32x4.splat (local.get $most)))
    (loop $block
      (if (i32.lt_u (local.get $at) (local.get $end))
        (then
          (local.set $low (v128.const f32x4 0 0 0 0))
          (local.set $high (v128.const f32x4 0 0 0 0))
          (local.set $low (f32x4.pmin (local.get $low) (v128.load offset=0 (local.get $at))))
          (local.set $high (f32x4.pmax (local.get $high) (v128.load offset=0 (local.get $at))))
          (local.set $low (f32x4.pmin (local.get $low) (v128.load offset=16 (local.get $at))))
          (local.set $high (f32x4.pmax (local.get $high) (v128.load offset=16 (local.get $at))))
          (local.set $low (f32x4.pmin (local.get $low) (v128.load offset=32 (local.get $at))))
          (local.set $high (f32x4.pmax (local.get $high) (v128.load offset=32 (local.get $at))))
          (local.set $low (f32x4.pmin (local.get $low) (v128.load offset=48 (local.get $at))))
          (local.set $high (f32x4.pmax (local.get $high) (v128.load offset=48 (local.get $at))))
          (local.set $low (f32x4.pmin (local.get $low) (v128.load offset=64 (local.get $at))))
          (local.set $high (f32x4.pmax (local.get $high) (v128.load offset=64 (local.get $at))))
          (local.set $low (f32x4.pmin (local.get $low) (v128.load offset=80 (local.get $at))))
          (local.set $high (f32x4.pmax (local.get $high) (v128.load offset=80 (local.get $at))))
          (local.set $low (f32x4.pmin (local.get $low) (v128.load offset=96 (local.get $at))))
          (local.set $high (f32x4.pmax (local.get $high) (v128.load offset=96 (local.get $at))))
          (local.set $low (f32x4.pmin (local.get $low) (v128.load offset=112 (local.get $at))))
          (local.set $high (f32x4.pmax (local.get $high) (v128.load offset=112 (local.get $at))))
          (local.set $low
            (f32x4.pmin
              (local.get $low)
              (i8x16.shuffle 8 9 10 11 12 13 14 15 0 1 2 3 4 5 6 7 (local.get $low) (local.get $low))))
          (local.set $low
            (f32x4.pmin
              (local.get $low)
              (i8x16.shuffle 4 5 6 7 0 1 2 3 12 13 14 15 8 9 10 11 (local.get $low) (local.get $low))))
          (local.set $high
            (f32x4.pmax
              (local.get $high)
              (i8x16.shuffle 8 9 10 11 12 13 14 15 0 1 2 3 4 5 6 7 (local.get $high) (local.get $high))))
          (local.set $high
            (f32x4.pmax
              (local.get $high)
              (i8x16.shuffle 4 5 6 7 0 1 2 3 12 13 14 15 8 9 10 11 (local.get $high) (local.get $high))))
          (local.set $least (f32x4.extract_lane 0 (local.get $low)))
          (local.set $largest (f32x4.extract_lane 0 (local.get $high)))
          (if (local.get $symmetric)
            (then
              (local.set $zeroPoint (f32.mul (f32.add (local.get $most) (f32.const 1)) (f32.const 0.5)))
              (local.set $scale
                (f32.div
                  (select
                    (local.get $largest)
                    (local.get $least)
                    (f32.gt (f32.abs (local.get $largest)) (f32.abs (local.get $least))))
                  (f32.neg (local.get $zeroPoint))))
              ;; A block of zeros has no scale, not one of minus zero.
              (if (f32.eq (local.get $scale) (f32.const 0)) (then (local.set $scale (f32.const 0)))))
            (else
              (local.set $scale (f32.div (f32.sub (local.get $largest) (local.get $least)) (local.get $most)))
              (local.set $zeroPoint
                (if (result f32) (f32.eq (local.get $scale) (f32.const 0))
                  (then (f32.const 0))
                  (else
                    (f32.min
                      (local.get $most)
                      (f32.max
                        (f32.const 0)
                        (f32.demote_f64
                          (f64.floor
                            (f64.add
                              (f64.promote_f32 (f32.div (f32.neg (local.get $least)) (local.get $scale)))
                              (f64.const 0.5)))))))))))
          (f32.store (local.get $scales) (local.get $scale))
          (i32.store8 (local.get $zeroPoints) (i32.trunc_f32_u (local.get $zeroPoint)))
          (local.set $factor
            (f32x4.splat
              (if (result f32) (f32.eq (local.get $scale) (f32.const 0))
                (then (f32.const 0))
                (else (f32.div (f32.const 1) (local.get $scale))))))
          (local.set $zeros (f32x4.splat (local.get $zeroPoint)))
          (local.set $wide (f64x2.splat (f64.promote_f32 (local.get $scale))))
          ;; Sixteen values at a time: their levels take one vector of bytes.
          (local.set $first
            (call $levels (local.get $at) (local.get $factor) (local.get $zeros) (local.get $top) (local.get $wide) (local.get $sums)))
          (local.set $second
            (call $levels
              (i32.add (local.get $at) (i32.const 64))
              (local.get $factor) (local.get $zeros) (local.get $top) (local.get $wide) (local.get $sums)))
          (if (f32.eq (local.get $most) (f32.const 15))
            (then
              (v128.store (local.get $to)
                (i8x16.narrow_i16x8_u (call $nibbles (local.get $first)) (call $nibbles (local.get $second))))
              (local.set $to (i32.add (local.get $to) (i32.const 16))))
            (else
              (v128.store (local.get $to) (local.get $first))
              (v128.store offset=16 (local.get $to) (local.get $second))
              (local.set $to (i32.add (local.get $to) (i32.const 32)))))
          (local.set $scales (i32.add (local.get $scales) (i32.const 4)))
          (local.set $zeroPoints (i32.add (local.get $zeroPoints) (i32.const 1)))
          (local.set $at (i32.add (local.get $at) (i32.const 128)))
          (br $block)))))

  ;; Two neighbouring levels in each pair of bytes, the first one lower.
  (func $nibbles (param $bytes v128) (result v128)
    (v128.or
      (v128.and (local.get $bytes) (v128.const i16x8 15 15 15 15 15 15 15 15))
      (v128.and
        (i16x8.shr_u (local.get $bytes) (i32.const 4))
        (v128.const i16x8 240 240 240 240 240 240 240 240))))

  ;; The levels of sixteen values as bytes; adds to the sums.
  (func $levels
    (param $at i32) (param $factor v128) (param $zeros v128) (param $top v128) (param $wide v128) (param $sums i32)
    (result v128)
    (i8x16.narrow_i16x8_u
      (i16x8.narrow_i32x4_u
        (call $level (v128.load (local.get $at)) (local.get $factor) (local.get $zeros) (local.get $top) (local.get $wide) (local.get $sums))
        (call $level (v128.load offset=16 (local.get $at)) (local.get $factor) (local.get $zeros) (local.get $top) (local.get $wide) (local.get $sums)))
      (i16x8.narrow_i32x4_u
        (call $level (v128.load offset=32 (local.get $at)) (local.get $factor) (local.get $zeros) (local.get $top) (local.get $wide) (local.get $sums))
        (call $level (v128.load offset=48 (local.get $at)) (local.get $factor) (local.get $zeros) (local.get $top) (local.get $wide) (local.get $sums)))))

  (func $level
    (param $value v128) (param $factor v128) (param $zeros v128) (param $top v128) (param $wide v128) (param $sums i32)
    (result v128)
    (local $shifted v128) (local $whole v128) (local $error v128) (local $own v128)
    (local.set $shifted
      (f32x4.pmax
        (f32x4.add (f32x4.mul (local.get $value) (local.get $factor)) (local.get $zeros))
        (v128.const f32x4 0 0 0 0)))
    ;; A sum with a half would round; the difference to the whole number does not.
    (local.set $whole (f32x4.trunc (local.get $shifted)))
    (local.set $whole
      (f32x4.pmin
        (f32x4.add
          (local.get $whole)
          (v128.and
            (f32x4.ge (f32x4.sub (local.get $shifted) (local.get $whole)) (v128.const f32x4 0.5 0.5 0.5 0.5))
            (v128.const f32x4 1 1 1 1)))
        (local.get $top)))
    (local.set $own (f32x4.sub (local.get $whole) (local.get $zeros)))
    (local.set $error
      (f64x2.sub
        (f64x2.mul (f64x2.promote_low_f32x4 (local.get $own)) (local.get $wide))
        (f64x2.promote_low_f32x4 (local.get $value))))
    (call $square (local.get $sums) (local.get $error))
    (call $square (i32.add (local.get $sums) (i32.const 16)) (f64x2.promote_low_f32x4 (local.get $value)))
    (local.set $value (i8x16.shuffle 8 9 10 11 12 13 14 15 0 1 2 3 4 5 6 7 (local.get $value) (local.get $value)))
    (local.set $own (i8x16.shuffle 8 9 10 11 12 13 14 15 0 1 2 3 4 5 6 7 (local.get $own) (local.get $own)))
    (local.set $error
      (f64x2.sub
        (f64x2.mul (f64x2.promote_low_f32x4 (local.get $own)) (local.get $wide))
        (f64x2.promote_low_f32x4 (local.get $value))))
    (call $square (local.get $sums) (local.get $error))
    (call $square (i32.add (local.get $sums) (i32.const 16)) (f64x2.promote_low_f32x4 (local.get $value)))
    (i32x4.trunc_sat_f32x4_u (local.get $whole)))

  ;; Adds squares to the two sums at $sums.
  (func $square (param $sums i32) (param $values v128)
    (v128.store (local.get $sums)
      (f64x2.add (v128.load (local.get $sums)) (f64x2.mul (local.get $values) (local.get $values)))))
)

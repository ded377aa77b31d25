;; Compares the states of a question's tokens with those of a memory's: see token-states.ts.
;; `wat2wasm` of the npm package wabt compiles this file to late-interaction.wasm; a test compares both.
(module
  (import "pieces" "memory" (memory 1))

  ;; The question's tokens lie from $asked to $asked_end, 144 bytes each: 64 numbers of 16 bits, then
  ;; the weight of the token (f32). The memory's lie from $states to $end, at least one: 64 numbers of 8
  ;; bits each. Returns the sum over the question's tokens of the best product times the token's weight.
  (func (export "interact")
    (param $asked i32) (param $asked_end i32) (param $states i32) (param $end i32) (result f32)
    (local $sum f32) (local $at i32) (local $best i32) (local $product i32) (local $total v128)
    (local $a v128) (local $b v128) (local $c v128) (local $d v128)
    (local $e v128) (local $f v128) (local $g v128) (local $h v128)
    (loop $tokens
      (if (i32.lt_u (local.get $asked) (local.get $asked_end)) (then
        (local.set $a (v128.load (local.get $asked)))
        (local.set $b (v128.load offset=16 (local.get $asked)))
        (local.set $c (v128.load offset=32 (local.get $asked)))
        (local.set $d (v128.load offset=48 (local.get $asked)))
        (local.set $e (v128.load offset=64 (local.get $asked)))
        (local.set $f (v128.load offset=80 (local.get $asked)))
        (local.set $g (v128.load offset=96 (local.get $asked)))
        (local.set $h (v128.load offset=112 (local.get $asked)))
        (local.set $best (i32.const 0x80000000))
        (local.set $at (local.get $states))
        (loop $records
          (local.set $total
            (i32x4.add
              (i32x4.add
                (i32x4.add
                  (i32x4.dot_i16x8_s (local.get $a) (v128.load8x8_s (local.get $at)))
                  (i32x4.dot_i16x8_s (local.get $b) (v128.load8x8_s offset=8 (local.get $at))))
                (i32x4.add
                  (i32x4.dot_i16x8_s (local.get $c) (v128.load8x8_s offset=16 (local.get $at)))
                  (i32x4.dot_i16x8_s (local.get $d) (v128.load8x8_s offset=24 (local.get $at)))))
              (i32x4.add
                (i32x4.add
                  (i32x4.dot_i16x8_s (local.get $e) (v128.load8x8_s offset=32 (local.get $at)))
                  (i32x4.dot_i16x8_s (local.get $f) (v128.load8x8_s offset=40 (local.get $at))))
                (i32x4.add
                  (i32x4.dot_i16x8_s (local.get $g) (v128.load8x8_s offset=48 (local.get $at)))
                  (i32x4.dot_i16x8_s (local.get $h) (v128.load8x8_s offset=56 (local.get $at)))))))
          (local.set $product (i32.add
            (i32.add (i32x4.extract_lane 0 (local.get $total)) (i32x4.extract_lane 1 (local.get $total)))
            (i32.add (i32x4.extract_lane 2 (local.get $total)) (i32x4.extract_lane 3 (local.get $total)))))
          (local.set $best (select
            (local.get $product) (local.get $best) (i32.gt_s (local.get $product) (local.get $best))))
          (local.set $at (i32.add (local.get $at) (i32.const 64)))
          (br_if $records (i32.lt_u (local.get $at) (local.get $end))))
        (local.set $sum (f32.add (local.get $sum) (f32.mul
          (f32.load offset=128 (local.get $asked)) (f32.convert_i32_s (local.get $best)))))
        (local.set $asked (i32.add (local.get $asked) (i32.const 144)))
        (br $tokens))))
    (local.get $sum)))

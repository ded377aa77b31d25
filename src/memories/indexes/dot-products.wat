;; Compares a vector with many others, a hundred times as fast as JavaScript: see vectors.ts.
;; `wat2wasm` of the npm package wabt compiles this file to dot-products.wasm; a test compares both.
(module
  (memory (export "memory") 1)

  ;; Records lie one after the other from $record to $end, $size bytes each: $length numbers of 8 bits
  ;; (a multiple of 32), then a factor (f32), then the place for the product (f32).
  ;; $query is the address of as many numbers of 16 bits.
  (func (export "multiply")
    (param $query i32) (param $record i32) (param $end i32) (param $length i32) (param $size i32)
    (local $at i32) (local $with i32) (local $stop i32)
    (local $low v128) (local $high v128)
    (loop $records
      (if (i32.lt_u (local.get $record) (local.get $end)) (then
        (local.set $at (local.get $record))
        (local.set $stop (i32.add (local.get $record) (local.get $length)))
        (local.set $with (local.get $query))
        (local.set $low (v128.const i64x2 0 0))
        (local.set $high (v128.const i64x2 0 0))

        ;; Each turn multiplies 32 numbers, eight at a time, and adds the products in pairs,
        ;; alternately to $low and $high.
        (loop $turns
          (local.set $low (i32x4.add (local.get $low) (i32x4.dot_i16x8_s
            (v128.load8x8_s (local.get $at))
            (v128.load (local.get $with)))))
          (local.set $high (i32x4.add (local.get $high) (i32x4.dot_i16x8_s
            (v128.load8x8_s offset=8 (local.get $at))
            (v128.load offset=16 (local.get $with)))))
          (local.set $low (i32x4.add (local.get $low) (i32x4.dot_i16x8_s
            (v128.load8x8_s offset=16 (local.get $at))
            (v128.load offset=32 (local.get $with)))))
          (local.set $high (i32x4.add (local.get $high) (i32x4.dot_i16x8_s
            (v128.load8x8_s offset=24 (local.get $at))
            (v128.load offset=48 (local.get $with)))))
          (local.set $with (i32.add (local.get $with) (i32.const 64)))
          (local.set $at (i32.add (local.get $at) (i32.const 32)))
          (br_if $turns (i32.lt_u (local.get $at) (local.get $stop))))

        (local.set $low (i32x4.add (local.get $low) (local.get $high)))
        (f32.store offset=4 (local.get $stop)
          (f32.mul (f32.load (local.get $stop)) (f32.convert_i32_s (i32.add
            (i32.add (i32x4.extract_lane 0 (local.get $low)) (i32x4.extract_lane 1 (local.get $low)))
            (i32.add (i32x4.extract_lane 2 (local.get $low)) (i32x4.extract_lane 3 (local.get $low)))))))
        (local.set $record (i32.add (local.get $record) (local.get $size)))
        (br $records))))))

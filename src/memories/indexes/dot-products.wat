;; Compares a vector with many others, a hundred times as fast as JavaScript: see vectors.ts.
;; `wat2wasm` of the npm package wabt compiles this file to dot-products.wasm; a test compares both.
(module
  (memory (export "memory") 1)

  ;; $query is the address of $length numbers of 16 bits. A record has as many numbers of 8 bits, then a factor (f32) and the
  ;; place for the product (f32). $length is a multiple of 32.

  ;; Stores the products of all records from $record to $end, which lie one after the other, $size bytes each.
  (func (export "multiply")
    (param $query i32) (param $record i32) (param $end i32) (param $length i32) (param $size i32)
    (loop $records
      (if (i32.lt_u (local.get $record) (local.get $end)) (then
        (f32.store offset=4 (i32.add (local.get $record) (local.get $length))
          (call $product (local.get $query) (local.get $record) (local.get $length)))
        (local.set $record (i32.add (local.get $record) (local.get $size)))
        (br $records)))))

  ;; Replaces the addresses of records, from $list to $end, by the products (f32).
  (func (export "multiplyListed")
    (param $query i32) (param $list i32) (param $end i32) (param $length i32)
    (loop $records
      (if (i32.lt_u (local.get $list) (local.get $end)) (then
        (f32.store (local.get $list)
          (call $product (local.get $query) (i32.load (local.get $list)) (local.get $length)))
        (local.set $list (i32.add (local.get $list) (i32.const 4)))
        (br $records)))))

  (func $product
    (param $query i32) (param $record i32) (param $length i32) (result f32)
    (local $stop i32) (local $low v128) (local $high v128)
    (local.set $stop (i32.add (local.get $record) (local.get $length)))

    ;; Each turn multiplies 32 numbers, eight at a time, and adds the products in pairs,
    ;; alternately to $low and $high.
    (loop $turns
      (local.set $low (i32x4.add (local.get $low) (i32x4.dot_i16x8_s
        (v128.load8x8_s (local.get $record))
        (v128.load (local.get $query)))))
      (local.set $high (i32x4.add (local.get $high) (i32x4.dot_i16x8_s
        (v128.load8x8_s offset=8 (local.get $record))
        (v128.load offset=16 (local.get $query)))))
      (local.set $low (i32x4.add (local.get $low) (i32x4.dot_i16x8_s
        (v128.load8x8_s offset=16 (local.get $record))
        (v128.load offset=32 (local.get $query)))))
      (local.set $high (i32x4.add (local.get $high) (i32x4.dot_i16x8_s
        (v128.load8x8_s offset=24 (local.get $record))
        (v128.load offset=48 (local.get $query)))))
      (local.set $query (i32.add (local.get $query) (i32.const 64)))
      (local.set $record (i32.add (local.get $record) (i32.const 32)))
      (br_if $turns (i32.lt_u (local.get $record) (local.get $stop))))

    (local.set $low (i32x4.add (local.get $low) (local.get $high)))
    (f32.mul (f32.load (local.get $stop)) (f32.convert_i32_s (i32.add
      (i32.add (i32x4.extract_lane 0 (local.get $low)) (i32x4.extract_lane 1 (local.get $low)))
      (i32.add (i32x4.extract_lane 2 (local.get $low)) (i32x4.extract_lane 3 (local.get $low))))))))

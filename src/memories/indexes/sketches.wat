;; Estimates the products of a query with many vectors from the signs of their numbers: see sketches.ts.
;; `wat2wasm` of the npm package wabt compiles this file to sketches.wasm; a test compares both.
(module
  (import "pieces" "memory" (memory 1))

  ;; Sixteen vectors are $width * 16 bytes from $signs to $end: the first byte of each one's signs, then the second
  ;; byte of each, and so on. Half a byte has the signs of four numbers. From $tables on, each half has a table of 16
  ;; bytes: the sums of the query's four numbers for all signs they can have. $width is a multiple of 4.
  ;; Each vector has two numbers (f32): a factor from $numbers on, and a summand $gap bytes further. The estimate is
  ;; stored another $gap bytes further: $base + summand + factor * ($scale * the sum of its bytes + $offset).
  (func (export "estimate")
    (param $tables i32) (param $signs i32) (param $end i32) (param $width i32)
    (param $numbers i32) (param $gap i32)
    (param $base f32) (param $scale f32) (param $offset f32)
    (local $table i32) (local $stop i32) (local $x v128) (local $sum v128)
    (local $even v128) (local $odd v128) (local $low v128) (local $high v128)
    (loop $groups
      (if (i32.lt_u (local.get $signs) (local.get $end)) (then
        (local.set $table (local.get $tables))
        (local.set $stop (i32.add (local.get $signs) (i32.shl (local.get $width) (i32.const 4))))
        (local.set $even (v128.const i64x2 0 0))
        (local.set $odd (v128.const i64x2 0 0))

        ;; Each turn adds four bytes of at most 63 for each vector, which fit into one byte. The sums of the vectors
        ;; with even and with odd numbers are added apart, in 16 bits.
        (loop $turns
          (local.set $x (v128.load (local.get $signs)))
          (local.set $sum (i8x16.add
            (i8x16.swizzle (v128.load (local.get $table))
              (v128.and (local.get $x) (v128.const i32x4 0x0f0f0f0f 0x0f0f0f0f 0x0f0f0f0f 0x0f0f0f0f)))
            (i8x16.swizzle (v128.load offset=16 (local.get $table))
              (v128.and (i16x8.shr_u (local.get $x) (i32.const 4))
                (v128.const i32x4 0x0f0f0f0f 0x0f0f0f0f 0x0f0f0f0f 0x0f0f0f0f)))))
          (local.set $x (v128.load offset=16 (local.get $signs)))
          (local.set $sum (i8x16.add (local.get $sum) (i8x16.add
            (i8x16.swizzle (v128.load offset=32 (local.get $table))
              (v128.and (local.get $x) (v128.const i32x4 0x0f0f0f0f 0x0f0f0f0f 0x0f0f0f0f 0x0f0f0f0f)))
            (i8x16.swizzle (v128.load offset=48 (local.get $table))
              (v128.and (i16x8.shr_u (local.get $x) (i32.const 4))
                (v128.const i32x4 0x0f0f0f0f 0x0f0f0f0f 0x0f0f0f0f 0x0f0f0f0f))))))
          (local.set $even (i16x8.add (local.get $even)
            (v128.and (local.get $sum) (v128.const i32x4 0x00ff00ff 0x00ff00ff 0x00ff00ff 0x00ff00ff))))
          (local.set $odd (i16x8.add (local.get $odd) (i16x8.shr_u (local.get $sum) (i32.const 8))))
          (local.set $table (i32.add (local.get $table) (i32.const 64)))
          (local.set $signs (i32.add (local.get $signs) (i32.const 32)))
          (br_if $turns (i32.lt_u (local.get $signs) (local.get $stop))))

        ;; The sums in the order of the vectors: the first eight, and the last eight.
        (local.set $low (i8x16.shuffle 0 1 16 17 2 3 18 19 4 5 20 21 6 7 22 23
          (local.get $even) (local.get $odd)))
        (local.set $high (i8x16.shuffle 8 9 24 25 10 11 26 27 12 13 28 29 14 15 30 31
          (local.get $even) (local.get $odd)))
        (call $store (i32x4.extend_low_i16x8_u (local.get $low)) (local.get $numbers)
          (local.get $gap) (local.get $base) (local.get $scale) (local.get $offset))
        (call $store (i32x4.extend_high_i16x8_u (local.get $low))
          (i32.add (local.get $numbers) (i32.const 16))
          (local.get $gap) (local.get $base) (local.get $scale) (local.get $offset))
        (call $store (i32x4.extend_low_i16x8_u (local.get $high))
          (i32.add (local.get $numbers) (i32.const 32))
          (local.get $gap) (local.get $base) (local.get $scale) (local.get $offset))
        (call $store (i32x4.extend_high_i16x8_u (local.get $high))
          (i32.add (local.get $numbers) (i32.const 48))
          (local.get $gap) (local.get $base) (local.get $scale) (local.get $offset))
        (local.set $numbers (i32.add (local.get $numbers) (i32.const 64)))
        (br $groups)))))

  ;; Appends to $found the rows whose estimates, from $at to $end, are at least $low and less than $high. The first
  ;; estimate is that of $row. Four are compared at once, so up to three beyond $end may be read. Returns the list's end.
  (func (export "select")
    (param $at i32) (param $end i32) (param $low f32) (param $high f32) (param $row i32) (param $found i32)
    (result i32)
    (local $four v128) (local $bits i32)
    (loop $fours
      (if (i32.lt_u (local.get $at) (local.get $end)) (then
        (local.set $four (v128.load (local.get $at)))
        (local.set $bits (i32x4.bitmask (v128.and
          (f32x4.ge (local.get $four) (f32x4.splat (local.get $low)))
          (f32x4.lt (local.get $four) (f32x4.splat (local.get $high))))))
        (loop $each
          (if (local.get $bits) (then
            (i32.store (local.get $found) (i32.add (local.get $row) (i32.ctz (local.get $bits))))
            (local.set $found (i32.add (local.get $found) (i32.const 4)))
            (local.set $bits (i32.and (local.get $bits) (i32.sub (local.get $bits) (i32.const 1))))
            (br $each))))
        (local.set $at (i32.add (local.get $at) (i32.const 16)))
        (local.set $row (i32.add (local.get $row) (i32.const 4)))
        (br $fours))))
    (local.get $found))

  ;; Stores the estimates of four vectors.
  (func $store
    (param $sums v128) (param $numbers i32) (param $gap i32)
    (param $base f32) (param $scale f32) (param $offset f32)
    (local $summands i32)
    (local.set $summands (i32.add (local.get $numbers) (local.get $gap)))
    (v128.store (i32.add (local.get $summands) (local.get $gap))
      (f32x4.add
        (f32x4.add (f32x4.splat (local.get $base)) (v128.load (local.get $summands)))
        (f32x4.mul (v128.load (local.get $numbers))
          (f32x4.add (f32x4.splat (local.get $offset))
            (f32x4.mul (f32x4.splat (local.get $scale))
              (f32x4.convert_i32x4_u (local.get $sums)))))))))

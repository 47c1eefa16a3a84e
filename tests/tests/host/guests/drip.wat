;; Prints 300,000 letters of the alphabet, over and over, each by a call of its own.
(module
  (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (func (export "_start")
    (local $count i32)
    (i32.store (i32.const 0) (i32.const 16))
    (i32.store (i32.const 4) (i32.const 1))
    (loop $next
      (i32.store8 (i32.const 16)
        (i32.add (i32.const 97) (i32.rem_u (local.get $count) (i32.const 26))))
      (drop (call $write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8)))
      (local.set $count (i32.add (local.get $count) (i32.const 1)))
      (br_if $next (i32.lt_u (local.get $count) (i32.const 300000))))))

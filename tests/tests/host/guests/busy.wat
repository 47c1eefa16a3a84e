;; Works on files until it is stopped, in the way that the letter in its first argument names.
(module
  (import "wasi_snapshot_preview1" "args_sizes_get" (func $args_sizes (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "args_get" (func $args (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "path_open"
    (func $path_open (param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_pwrite"
    (func $pwrite (param i32 i32 i32 i64 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_sync" (func $sync (param i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_readdir"
    (func $readdir (param i32 i32 i32 i64 i32) (result i32)))
  (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))

  ;; 0: count of arguments, 4: their size, 8: one buffer (address, length), 16: results,
  ;; 1024: pointers, 4096: the strings, 65536: data.
  (memory (export "memory") 18)

  (func $ok (param $errno i32)
    (if (local.get $errno) (then (call $exit (local.get $errno)))))
  (func $len (param $at i32) (result i32) (local $end i32)
    (local.set $end (local.get $at))
    (loop $next
      (if (i32.load8_u (local.get $end))
        (then
          (local.set $end (i32.add (local.get $end) (i32.const 1)))
          (br $next))))
    (i32.sub (local.get $end) (local.get $at)))
  (func $open (param $flags i32) (param $rights i64) (result i32)
    (call $ok
      (call $path_open (i32.const 3) (i32.const 1) (i32.load (i32.const 1032))
        (call $len (i32.load (i32.const 1032))) (local.get $flags) (local.get $rights)
        (i64.const 0) (i32.const 0) (i32.const 16)))
    (i32.load (i32.const 16)))
  (func $is (param $letter i32) (result i32)
    (i32.eq (i32.load8_u (i32.load (i32.const 1028))) (local.get $letter)))
  ;; Writes pieces of that size over and over into that many places, each with another letter,
  ;; and has each brought to the disk.
  (func $write (param $fd i32) (param $size i32) (param $places i32) (local $n i32)
    (i32.store (i32.const 8) (i32.const 65536))
    (i32.store (i32.const 12) (local.get $size))
    (loop $next
      (memory.fill (i32.const 65536)
        (i32.add (i32.const 97) (i32.rem_u (local.get $n) (i32.const 26))) (local.get $size))
      (call $ok
        (call $pwrite (local.get $fd) (i32.const 8) (i32.const 1)
          (i64.mul
            (i64.extend_i32_u (i32.rem_u (local.get $n) (local.get $places)))
            (i64.extend_i32_u (local.get $size)))
          (i32.const 16)))
      (call $ok (call $sync (local.get $fd)))
      (local.set $n (i32.add (local.get $n) (i32.const 1)))
      (br $next)))

  (func (export "_start") (local $fd i32)
    (call $ok (call $args_sizes (i32.const 0) (i32.const 4)))
    (call $ok (call $args (i32.const 1024) (i32.const 4096)))
    ;; w: a file that is short enough to be told, b: one that is not
    (if (call $is (i32.const 119))
      (then
        (call $write (call $open (i32.const 9) (i64.const 64)) (i32.const 65536) (i32.const 3))))
    (if (call $is (i32.const 98))
      (then
        (call $write (call $open (i32.const 9) (i64.const 64)) (i32.const 1048576) (i32.const 32))))
    ;; l: list a folder anew, and again
    (if (call $is (i32.const 108))
      (then
        (local.set $fd (call $open (i32.const 2) (i64.const 16386)))
        (loop $next
          (call $ok
            (call $readdir (local.get $fd) (i32.const 65536) (i32.const 65536) (i64.const 0)
              (i32.const 16)))
          (br $next))))))

;; Misbehaves in the way that the letter in its first argument names.
(module
  (import "wasi_snapshot_preview1" "args_sizes_get" (func $args_sizes (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "args_get" (func $args (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "poll_oneoff"
    (func $poll (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
  (memory (export "memory") 4)
  (table $table 1 funcref)
  (data (i32.const 512) "half\e2\82")
  (data (i32.const 528) "\acdone\n")

  (func $print (param $fd i32) (param $at i32) (param $len i32)
    (i32.store (i32.const 8) (local.get $at))
    (i32.store (i32.const 12) (local.get $len))
    (drop (call $write (local.get $fd) (i32.const 8) (i32.const 1) (i32.const 16))))
  (func $sleep_ms (param $ms i64)
    (i64.store (i32.const 64) (i64.const 1))
    (i32.store8 (i32.const 72) (i32.const 0))
    (i32.store (i32.const 80) (i32.const 1))
    (i64.store (i32.const 88) (i64.mul (local.get $ms) (i64.const 1000000)))
    (i64.store (i32.const 96) (i64.const 0))
    (i32.store16 (i32.const 104) (i32.const 0))
    (drop (call $poll (i32.const 64) (i32.const 128) (i32.const 1) (i32.const 16))))
  (func $deep (param i32) (result i32)
    (i32.add (local.get 0) (call $deep (i32.add (local.get 0) (i32.const 1)))))
  (func $is (param $letter i32) (result i32)
    (i32.eq (i32.load8_u (i32.load (i32.const 1028))) (local.get $letter)))

  (func (export "_start")
    (drop (call $args_sizes (i32.const 0) (i32.const 4)))
    (drop (call $args (i32.const 1024) (i32.const 4096)))
    ;; s: spin, after a word
    (if (call $is (i32.const 115))
      (then
        (call $print (i32.const 1) (i32.const 512) (i32.const 4))
        (loop $next (br $next))))
    ;; z: sleep for an hour, after a word
    (if (call $is (i32.const 122))
      (then
        (call $print (i32.const 1) (i32.const 512) (i32.const 4))
        (call $sleep_ms (i64.const 3600000))))
    ;; m: take memory until there is none, then break; M: the same, then end well
    (if (i32.or (call $is (i32.const 109)) (call $is (i32.const 77)))
      (then
        (loop $next
          (br_if $next (i32.ne (memory.grow (i32.const 256)) (i32.const -1))))
        (if (call $is (i32.const 109)) (then (unreachable)))))
    ;; T: grow a table until it can't grow
    (if (call $is (i32.const 84))
      (then
        (loop $next
          (br_if $next
            (i32.ne (table.grow $table (ref.null func) (i32.const 10000)) (i32.const -1))))
        (call $exit (i32.div_u (table.size $table) (i32.const 10000)))))
    ;; o: print without end, E: the same to standard error
    (if (call $is (i32.const 111))
      (then (loop $next (call $print (i32.const 1) (i32.const 65536) (i32.const 65536)) (br $next))))
    (if (call $is (i32.const 69))
      (then (loop $next (call $print (i32.const 2) (i32.const 65536) (i32.const 65536)) (br $next))))
    ;; d: call itself without end
    (if (call $is (i32.const 100)) (then (drop (call $deep (i32.const 0)))))
    ;; u: break
    (if (call $is (i32.const 117)) (then (unreachable)))
    ;; h: print a character in two halves, and something to standard error between them
    (if (call $is (i32.const 104))
      (then
        (call $print (i32.const 1) (i32.const 512) (i32.const 6))
        (call $print (i32.const 2) (i32.const 512) (i32.const 4))
        (call $print (i32.const 1) (i32.const 528) (i32.const 6))))
    ;; i: print half a character and no more
    (if (call $is (i32.const 105))
      (then (call $print (i32.const 1) (i32.const 512) (i32.const 6))))
    ;; x: exit with a code that a byte can't hold
    (if (call $is (i32.const 120)) (then (call $exit (i32.const 300))))
    ;; y: exit with 127
    (if (call $is (i32.const 121)) (then (call $exit (i32.const 127))))))

;; Makes one odd call of the system and exits with the WASI error number that it got.
(module
  (import "wasi_snapshot_preview1" "args_sizes_get" (func $args_sizes (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "args_get" (func $args (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "path_open"
    (func $path_open (param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_read" (func $read (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_filestat_set_size"
    (func $set_size (param i32 i64) (result i32)))
  (import "wasi_snapshot_preview1" "fd_renumber" (func $renumber (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_prestat_get" (func $prestat (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "random_get" (func $random (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "poll_oneoff"
    (func $poll (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "sock_accept"
    (func $accept (param i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "sock_send"
    (func $send (param i32 i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
  (memory (export "memory") 4)
  (data (i32.const 512) "plain\00.txt")
  (data (i32.const 640) "plain")

  (func $open (param $at i32) (param $len i32) (param $rights i64) (result i32)
    (call $exit_unless
      (call $path_open (i32.const 3) (i32.const 1) (local.get $at) (local.get $len) (i32.const 0)
        (local.get $rights) (i64.const 0) (i32.const 0) (i32.const 16)))
    (i32.load (i32.const 16)))
  (func $exit_unless (param $errno i32)
    (if (local.get $errno) (then (call $exit (local.get $errno)))))
  (func $buffer
    (i32.store (i32.const 8) (i32.const 640))
    (i32.store (i32.const 12) (i32.const 5)))
  (func $is (param $letter i32) (result i32)
    (i32.eq (i32.load8_u (i32.load (i32.const 1028))) (local.get $letter)))

  (func (export "_start") (local $fd i32)
    (drop (call $args_sizes (i32.const 0) (i32.const 4)))
    (drop (call $args (i32.const 1024) (i32.const 4096)))
    (call $buffer)
    ;; 0: opens a path with a NUL in it
    (if (call $is (i32.const 48))
      (then (drop (call $open (i32.const 512) (i32.const 10) (i64.const 2)))))
    ;; w: writes to a file that is open for reading, t: sets its size
    (if (call $is (i32.const 119))
      (then (call $exit (call $write (call $open (i32.const 640) (i32.const 5) (i64.const 2))
        (i32.const 8) (i32.const 1) (i32.const 16)))))
    (if (call $is (i32.const 116))
      (then (call $exit (call $set_size
        (call $open (i32.const 640) (i32.const 5) (i64.const 2)) (i64.const 0)))))
    ;; f: reads from all numbers of files but its own; exits with 0 if there is none
    (if (call $is (i32.const 102))
      (then
        (local.set $fd (i32.const 4))
        (loop $next
          (if (i32.eqz (call $read (local.get $fd) (i32.const 8) (i32.const 1) (i32.const 16)))
            (then (call $exit (local.get $fd))))
          (if (i32.eqz (call $prestat (local.get $fd) (i32.const 128)))
            (then (call $exit (local.get $fd))))
          (local.set $fd (i32.add (local.get $fd) (i32.const 1)))
          (br_if $next (i32.lt_u (local.get $fd) (i32.const 2000))))))
    ;; r: gives the number of standard output to its folder, and prints
    (if (call $is (i32.const 114))
      (then
        (call $exit_unless (call $renumber (i32.const 3) (i32.const 1)))
        (call $exit (call $write (i32.const 1) (i32.const 8) (i32.const 1) (i32.const 16)))))
    ;; R: gives a number that it has not got, without end
    (if (call $is (i32.const 82))
      (then
        (local.set $fd (i32.const 0))
        (loop $next
          (drop (call $renumber (local.get $fd) (i32.sub (i32.const 0) (local.get $fd))))
          (drop (call $renumber (i32.const 77) (local.get $fd)))
          (local.set $fd (i32.add (local.get $fd) (i32.const 3)))
          (br_if $next (i32.lt_u (local.get $fd) (i32.const 3000))))))
    ;; g: random bytes beyond its memory, p: waits for 100 million things
    (if (call $is (i32.const 103))
      (then (call $exit (call $random (i32.const 65536) (i32.const 1073741824)))))
    (if (call $is (i32.const 112))
      (then (call $exit
        (call $poll (i32.const 64) (i32.const 64) (i32.const 100000000) (i32.const 16)))))
    ;; a, s: sockets of what is none
    (if (call $is (i32.const 97))
      (then (call $exit (call $accept (i32.const 3) (i32.const 0) (i32.const 16)))))
    (if (call $is (i32.const 115))
      (then (call $exit (call $send (i32.const 1) (i32.const 8) (i32.const 1) (i32.const 0)
        (i32.const 16)))))))

;; Does one thing to the workspace and exits with the WASI error number that it got.
;; Arguments: a letter that says what, then one or two paths, taken as they are.
(module
  (import "wasi_snapshot_preview1" "args_sizes_get" (func $args_sizes (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "args_get" (func $args (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "environ_sizes_get"
    (func $environ_sizes (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "environ_get" (func $environ (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "path_open"
    (func $path_open (param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "path_create_directory"
    (func $mkdir (param i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "path_remove_directory"
    (func $rmdir (param i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "path_unlink_file"
    (func $unlink (param i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "path_rename"
    (func $rename (param i32 i32 i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "path_link"
    (func $link (param i32 i32 i32 i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "path_symlink"
    (func $symlink (param i32 i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "path_filestat_set_times"
    (func $set_times (param i32 i32 i32 i32 i64 i64 i32) (result i32)))
  (import "wasi_snapshot_preview1" "path_filestat_get"
    (func $path_stat (param i32 i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_filestat_set_times"
    (func $fd_set_times (param i32 i64 i64 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_filestat_set_size"
    (func $set_size (param i32 i64) (result i32)))
  (import "wasi_snapshot_preview1" "fd_allocate" (func $allocate (param i32 i64 i64) (result i32)))
  (import "wasi_snapshot_preview1" "fd_read" (func $read (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_readdir"
    (func $readdir (param i32 i32 i32 i64 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_pwrite"
    (func $pwrite (param i32 i32 i32 i64 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_seek" (func $seek (param i32 i64 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_renumber" (func $renumber (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))

  ;; 0: count of arguments or variables, 4: their size, 8: one buffer (address, length),
  ;; 16: results, 1024: pointers, 4096: the strings, 65536: data.
  (memory (export "memory") 4)
  (data (i32.const 512) "x")

  (func $arg (param $n i32) (result i32)
    (i32.load (i32.add (i32.const 1024) (i32.mul (local.get $n) (i32.const 4)))))
  (func $len (param $n i32) (result i32) (local $end i32)
    (local.set $end (call $arg (local.get $n)))
    (loop $next
      (if (i32.load8_u (local.get $end))
        (then
          (local.set $end (i32.add (local.get $end) (i32.const 1)))
          (br $next))))
    (i32.sub (local.get $end) (call $arg (local.get $n))))
  (func $letter (result i32) (i32.load8_u (call $arg (i32.const 1))))
  (func $is (param $letter i32) (result i32) (i32.eq (call $letter) (local.get $letter)))

  ;; Exits unless the error number is 0.
  (func $ok (param $errno i32)
    (if (local.get $errno) (then (call $exit (local.get $errno)))))
  ;; Opens argument $n below $fd, following links; the rights are to read, list, write and stat.
  (func $open (param $fd i32) (param $n i32) (param $flags i32) (param $rights i64) (result i32)
    (call $ok
      (call $path_open (local.get $fd) (i32.const 1) (call $arg (local.get $n))
        (call $len (local.get $n)) (local.get $flags) (local.get $rights) (i64.const 0)
        (i32.const 0) (i32.const 16)))
    (i32.load (i32.const 16)))
  (func $buffer (param $at i32) (param $len i32)
    (i32.store (i32.const 8) (local.get $at))
    (i32.store (i32.const 12) (local.get $len)))
  (func $write_x (param $fd i32)
    (call $buffer (i32.const 512) (i32.const 1))
    (call $ok (call $write (local.get $fd) (i32.const 8) (i32.const 1) (i32.const 16))))
  ;; Copies a file to standard output.
  (func $cat (param $fd i32) (local $got i32)
    (loop $next
      (call $buffer (i32.const 65536) (i32.const 65536))
      (call $ok (call $read (local.get $fd) (i32.const 8) (i32.const 1) (i32.const 16)))
      (local.set $got (i32.load (i32.const 16)))
      (if (local.get $got)
        (then
          (call $buffer (i32.const 65536) (local.get $got))
          (call $ok (call $write (i32.const 1) (i32.const 8) (i32.const 1) (i32.const 16)))
          (br $next)))))

  (func (export "_start") (local $fd i32)
    (call $ok (call $args_sizes (i32.const 0) (i32.const 4)))
    (call $ok (call $args (i32.const 1024) (i32.const 4096)))
    ;; r: read
    (if (call $is (i32.const 114))
      (then (call $cat (call $open (i32.const 3) (i32.const 2) (i32.const 0) (i64.const 2)))))
    ;; w: create or truncate, and write
    (if (call $is (i32.const 119))
      (then (call $write_x
        (call $open (i32.const 3) (i32.const 2) (i32.const 9) (i64.const 64)))))
    ;; t: truncate by the flag alone, without the right to write
    (if (call $is (i32.const 116))
      (then (drop (call $open (i32.const 3) (i32.const 2) (i32.const 8) (i64.const 2)))))
    ;; o: open what is there for writing
    (if (call $is (i32.const 111))
      (then (drop (call $open (i32.const 3) (i32.const 2) (i32.const 0) (i64.const 66)))))
    ;; D: write the second path below the folder of the first
    (if (call $is (i32.const 68))
      (then (call $write_x
        (call $open
          (call $open (i32.const 3) (i32.const 2) (i32.const 2) (i64.const 16386))
          (i32.const 3) (i32.const 9) (i64.const 64)))))
    ;; N: the same after the folder's number was changed to 9
    (if (call $is (i32.const 78))
      (then
        (local.set $fd (call $open (i32.const 3) (i32.const 2) (i32.const 2) (i64.const 16386)))
        (drop (call $open (i32.const 3) (i32.const 2) (i32.const 2) (i64.const 16386)))
        (call $ok (call $renumber (local.get $fd) (i32.load (i32.const 16))))
        (call $write_x
          (call $open (i32.load (i32.const 16)) (i32.const 3) (i32.const 9) (i64.const 64)))))
    ;; M: opens folder 2, renames it to 3, makes 2 anew, then writes 4 below the opened folder
    (if (call $is (i32.const 77))
      (then
        (local.set $fd (call $open (i32.const 3) (i32.const 2) (i32.const 2) (i64.const 16386)))
        (call $ok (call $rename (i32.const 3) (call $arg (i32.const 2)) (call $len (i32.const 2))
          (i32.const 3) (call $arg (i32.const 3)) (call $len (i32.const 3))))
        (call $ok (call $mkdir (i32.const 3) (call $arg (i32.const 2)) (call $len (i32.const 2))))
        (call $write_x
          (call $open (local.get $fd) (i32.const 4) (i32.const 9) (i64.const 64)))))
    ;; m: make a folder, d: remove one, u: remove a file
    (if (call $is (i32.const 109))
      (then (call $ok
        (call $mkdir (i32.const 3) (call $arg (i32.const 2)) (call $len (i32.const 2))))))
    (if (call $is (i32.const 100))
      (then (call $ok
        (call $rmdir (i32.const 3) (call $arg (i32.const 2)) (call $len (i32.const 2))))))
    (if (call $is (i32.const 117))
      (then (call $ok
        (call $unlink (i32.const 3) (call $arg (i32.const 2)) (call $len (i32.const 2))))))
    ;; n: rename, l: hard link, s: symbolic link that says the first path
    (if (call $is (i32.const 110))
      (then (call $ok
        (call $rename (i32.const 3) (call $arg (i32.const 2)) (call $len (i32.const 2))
          (i32.const 3) (call $arg (i32.const 3)) (call $len (i32.const 3))))))
    (if (call $is (i32.const 108))
      (then (call $ok
        (call $link (i32.const 3) (i32.const 0) (call $arg (i32.const 2)) (call $len (i32.const 2))
          (i32.const 3) (call $arg (i32.const 3)) (call $len (i32.const 3))))))
    (if (call $is (i32.const 115))
      (then (call $ok
        (call $symlink (call $arg (i32.const 2)) (call $len (i32.const 2))
          (i32.const 3) (call $arg (i32.const 3)) (call $len (i32.const 3))))))
    ;; T: set the times of a path, U: of an open file, S: stat
    (if (call $is (i32.const 84))
      (then (call $ok
        (call $set_times (i32.const 3) (i32.const 1) (call $arg (i32.const 2))
          (call $len (i32.const 2)) (i64.const 1) (i64.const 1) (i32.const 5)))))
    (if (call $is (i32.const 85))
      (then (call $ok
        (call $fd_set_times
          (call $open (i32.const 3) (i32.const 2) (i32.const 0) (i64.const 2))
          (i64.const 1) (i64.const 1) (i32.const 5)))))
    (if (call $is (i32.const 83))
      (then (call $ok
        (call $path_stat (i32.const 3) (i32.const 0) (call $arg (i32.const 2))
          (call $len (i32.const 2)) (i32.const 65536)))))
    ;; L: list a folder
    (if (call $is (i32.const 76))
      (then (call $ok
        (call $readdir (call $open (i32.const 3) (i32.const 2) (i32.const 2) (i64.const 16386))
          (i32.const 65536) (i32.const 65536) (i64.const 0) (i32.const 16)))))
    ;; z: a file of a terabyte by its size, g: by a write behind its end, G: by a seek, A: allocated
    (if (call $is (i32.const 122))
      (then (call $ok
        (call $set_size (call $open (i32.const 3) (i32.const 2) (i32.const 9) (i64.const 64))
          (i64.const 1099511627776)))))
    (if (call $is (i32.const 103))
      (then
        (local.set $fd (call $open (i32.const 3) (i32.const 2) (i32.const 9) (i64.const 64)))
        (call $buffer (i32.const 512) (i32.const 1))
        (call $ok (call $pwrite (local.get $fd) (i32.const 8) (i32.const 1)
          (i64.const 1099511627776) (i32.const 16)))))
    (if (call $is (i32.const 71))
      (then
        (local.set $fd (call $open (i32.const 3) (i32.const 2) (i32.const 9) (i64.const 64)))
        (call $ok (call $seek (local.get $fd) (i64.const 1099511627776) (i32.const 0)
          (i32.const 16)))
        (call $write_x (local.get $fd))))
    (if (call $is (i32.const 65))
      (then (call $ok
        (call $allocate (call $open (i32.const 3) (i32.const 2) (i32.const 9) (i64.const 64))
          (i64.const 0) (i64.const 1099511627776)))))
    ;; F: write to a file without end
    (if (call $is (i32.const 70))
      (then
        (local.set $fd (call $open (i32.const 3) (i32.const 2) (i32.const 9) (i64.const 64)))
        (loop $next
          (call $buffer (i32.const 65536) (i32.const 65536))
          (call $ok (call $write (local.get $fd) (i32.const 8) (i32.const 1) (i32.const 16)))
          (br $next))))
    ;; O: open a file without end
    (if (call $is (i32.const 79))
      (then
        (loop $next
          (drop (call $open (i32.const 3) (i32.const 2) (i32.const 0) (i64.const 2)))
          (br $next))))
    ;; e: print the environment
    (if (call $is (i32.const 101))
      (then
        (call $ok (call $environ_sizes (i32.const 0) (i32.const 4)))
        (call $ok (call $environ (i32.const 1024) (i32.const 65536)))
        (call $buffer (i32.const 65536) (i32.load (i32.const 4)))
        (call $ok (call $write (i32.const 1) (i32.const 8) (i32.const 1) (i32.const 16)))))
    ;; i: copy standard input to standard output
    (if (call $is (i32.const 105)) (then (call $cat (i32.const 0))))
    (call $exit (i32.const 0))))

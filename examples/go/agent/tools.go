package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"path"
	"slices"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/experimental/sys"
	"github.com/tetratelabs/wazero/experimental/sysfs"
	wasi "github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
)

// Run is a run of a tool.
type Run struct {
	Name      string
	Job       struct{ Builtin, Custom json.RawMessage }
	Folder    string
	Known     json.RawMessage
	TimeoutMs int64 `json:"timeout_ms"`
}

// onlyReads says whether a built-in tool's run changes nothing.
func (r Run) onlyReads() bool {
	var action struct{ Action string }
	reading := []string{"read", "view_image", "read_many", "list", "glob", "grep"}
	return json.Unmarshal(r.Job.Builtin, &action) == nil && slices.Contains(reading, action.Action)
}

// Tools runs the built-in tools as a WASI program over a folder: an action on standard input, its
// outcome on standard output.
type Tools struct {
	runtime wazero.Runtime
	module  wazero.CompiledModule
	files   sys.FS
}

// NewTools compiles the program's bytes for a folder.
func NewTools(ctx context.Context, runtime wazero.Runtime, wasm []byte, folder string) (*Tools, error) {
	if _, err := wasi.Instantiate(ctx, runtime); err != nil {
		return nil, err
	}
	module, err := runtime.CompileModule(ctx, wasm)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, err
	}
	return &Tools{runtime, module, &rooted{sysfs.DirFS(folder), root}}, nil
}

// Perform runs a tool to its end, or until its context or its time limit ends it.
func (t *Tools) Perform(ctx context.Context, run Run) json.RawMessage {
	limited, cancel := context.WithTimeout(ctx, time.Duration(run.TimeoutMs)*time.Millisecond)
	defer cancel()
	args := []string{"tools", run.Folder}
	if run.Known != nil {
		args = append(args, string(run.Known))
	}
	mount := wazero.NewFSConfig().(sysfs.FSConfig).WithSysFSMount(t.files, "/")
	var output bytes.Buffer
	config := wazero.NewModuleConfig().WithName("").WithArgs(args...).WithFSConfig(mount).
		WithStdin(bytes.NewReader(run.Job.Builtin)).WithStdout(&output).
		WithSysWalltime().WithSysNanotime()
	_, err := t.runtime.InstantiateModule(limited, t.module, config)
	switch {
	case limited.Err() != nil:
		return stopped(ctx)
	case json.Valid(output.Bytes()):
		return output.Bytes()
	default:
		return failed("crashed", "The tool failed: "+err.Error())
	}
}

// rooted is a folder of which nothing leads out: wazero's own would follow links.
type rooted struct {
	sys.FS
	root *os.Root
}

// check refuses a path that leads out of the folder by a link on its way, or, if it is followed, by
// the last one. The program can make no links, so what was checked stays true.
func (r *rooted) check(name string, follow bool) sys.Errno {
	if name == "" || name == "." {
		return 0
	}
	folder, err := r.root.Open(path.Dir(path.Clean(name)))
	if err == nil {
		folder.Close()
	}
	if err == nil && follow {
		if _, err = r.root.Stat(name); os.IsNotExist(err) {
			err = nil
			// A link to what is not there could still lead out.
			if info, found := r.root.Lstat(name); found == nil && info.Mode()&fs.ModeSymlink != 0 {
				return sys.EACCES
			}
		}
	}
	if os.IsNotExist(err) {
		return sys.ENOENT
	}
	if err != nil {
		return sys.EACCES
	}
	return 0
}

func (r *rooted) OpenFile(name string, flag sys.Oflag, mode fs.FileMode) (sys.File, sys.Errno) {
	if errno := r.check(name, flag&sys.O_NOFOLLOW == 0); errno != 0 {
		return nil, errno
	}
	return r.FS.OpenFile(name, flag, mode)
}

func (r *rooted) Mkdir(name string, mode fs.FileMode) sys.Errno {
	if errno := r.check(name, false); errno != 0 {
		return errno
	}
	return r.FS.Mkdir(name, mode)
}

func (r *rooted) Rename(from, to string) sys.Errno {
	if errno := max(r.check(from, false), r.check(to, false)); errno != 0 {
		return errno
	}
	// The program moves what it has written to the place of a file, whose permissions it cannot see.
	if info, err := r.root.Stat(to); err == nil && info.Mode().IsRegular() {
		if err := r.root.Chmod(from, info.Mode().Perm()); err != nil {
			return sys.EACCES
		}
	}
	return r.FS.Rename(from, to)
}

func (r *rooted) Unlink(name string) sys.Errno {
	if errno := r.check(name, false); errno != 0 {
		return errno
	}
	return r.FS.Unlink(name)
}

func (r *rooted) Rmdir(name string) sys.Errno {
	if errno := r.check(name, false); errno != 0 {
		return errno
	}
	return r.FS.Rmdir(name)
}

func (r *rooted) Link(string, string) sys.Errno { return sys.EPERM }

func (r *rooted) Symlink(string, string) sys.Errno { return sys.EPERM }

package agent

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"
)

// What the tools see of a folder, and what not.
func TestNothingLeadsOutOfTheWorkspace(t *testing.T) {
	wasm, err := os.ReadFile("../../../target/guests/tools.wasm")
	if err != nil {
		t.Skip("cargo xtask prepare leaves the tools there: ", err)
	}
	outside := t.TempDir()
	folder := filepath.Join(outside, "workspace")
	for _, step := range []error{
		os.Mkdir(folder, 0o700),
		os.WriteFile(filepath.Join(folder, "notes.md"), []byte("here"), 0o600),
		os.WriteFile(filepath.Join(outside, "secret.md"), []byte("not here"), 0o600),
		os.Symlink("notes.md", filepath.Join(folder, "inside.md")),
		os.Symlink("../secret.md", filepath.Join(folder, "link.md")),
		os.Symlink("..", filepath.Join(folder, "up")),
		os.Symlink("../new.md", filepath.Join(folder, "dangling.md")),
	} {
		if step != nil {
			t.Fatal(step)
		}
	}
	ctx := context.Background()
	runtime := wazero.NewRuntime(ctx)
	defer runtime.Close(ctx)
	tools, err := NewTools(ctx, runtime, wasm, folder)
	if err != nil {
		t.Fatal(err)
	}
	perform := func(action string) string {
		run := Run{TimeoutMs: 30_000}
		run.Job.Builtin = json.RawMessage(action)
		return string(tools.Perform(ctx, run))
	}
	for _, path := range []string{"notes.md", "inside.md"} {
		if said := perform(`{"action":"read","path":"` + path + `"}`); !strings.Contains(said, `"here"`) {
			t.Errorf("%s: %s", path, said)
		}
	}
	for _, path := range []string{"link.md", "up/secret.md", "../secret.md"} {
		if said := perform(`{"action":"read","path":"` + path + `"}`); !strings.Contains(said, `"error"`) {
			t.Errorf("%s: %s", path, said)
		}
	}
	for _, path := range []string{"link.md", "up/new.md", "dangling.md"} {
		perform(`{"action":"write","path":"` + path + `","content":"changed"}`)
	}
	if said := perform(`{"action":"write","path":"new/a.md","content":"fresh"}`); strings.Contains(said, `"error"`) {
		t.Error(said)
	}
	if err := os.Chmod(filepath.Join(folder, "notes.md"), 0o750); err != nil {
		t.Fatal(err)
	}
	perform(`{"action":"edit","path":"inside.md","old":"here","new":"there"}`)
	info, err := os.Lstat(filepath.Join(folder, "notes.md"))
	if text, _ := os.ReadFile(filepath.Join(folder, "notes.md")); err != nil || string(text) != "there" ||
		info.Mode().Perm() != 0o750 {
		t.Errorf("an edit left %q with %v, %v", text, info.Mode(), err)
	}
	secret, _ := os.ReadFile(filepath.Join(outside, "secret.md"))
	if _, err := os.Stat(filepath.Join(outside, "new.md")); string(secret) != "not here" || err == nil {
		t.Error("something was written outside")
	}
}

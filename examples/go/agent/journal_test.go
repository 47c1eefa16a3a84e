package agent

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

func TestALongLogGrowsWithTheConversationAndNotWithItsSquare(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	j, err := openJournal(path)
	if err != nil {
		t.Fatal(err)
	}
	header := [][]byte{[]byte(`{"format":"innerloop-log"}`)}
	if err := errors.Join(j.begin(), j.append(header, true)); err != nil {
		t.Fatal(err)
	}
	said, needed := bytes.Repeat([]byte("word "), 300), 0
	for number := range 200 {
		input := fmt.Appendf(nil, `{"at":%d,"input":"%s"}`, number, said)
		state := fmt.Appendf(nil, `{"snapshot":"%s"}`, bytes.Repeat(said, number+1))
		if err := j.append([][]byte{input, state}, false); err != nil {
			t.Fatal(err)
		}
		needed += len(input)
		log, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if len(log) > 2*(needed+len(state))+100_000 {
			t.Fatalf("%d bytes after %d inputs", len(log), number+1)
		}
		if inputs := bytes.Count(log, []byte(`"input"`)); inputs != number+1 {
			t.Fatalf("%d of %d inputs", inputs, number+1)
		}
		if !bytes.HasSuffix(log, append(state, '\n')) {
			t.Fatal("the newest snapshot is gone")
		}
	}
	if err := j.close(); err != nil {
		t.Fatal(err)
	}
}

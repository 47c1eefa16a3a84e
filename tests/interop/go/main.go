// What the tests of interoperation run in Go: a corpus of logs replayed, an agent that
// dies, and what a text delta costs.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
)

const usage = `usage:
  interop replay compiled|interpreted MODULE FOLDER
  interop deltas MODULE SCRIPT COUNT
  interop mortal MODULE CACHE URL LOG NOTES SCENE DEATH`

func main() {
	if err := run(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, words []string) error {
	switch {
	case len(words) == 4 && words[0] == "replay":
		return replay(ctx, words[1], words[2], words[3])
	case len(words) == 4 && words[0] == "deltas":
		return deltas(ctx, words[1], words[2], words[3])
	case len(words) == 8 && words[0] == "mortal":
		m := mortal{notes: words[5], scene: words[6], death: words[7], seen: make(map[string]int)}
		return m.run(ctx, words[1], words[2], words[3], words[4])
	default:
		return errors.New(usage)
	}
}

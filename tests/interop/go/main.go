// What the tests of interoperation run in Go: `interop replay compiled|interpreted MODULE FOLDER`.
package main

import (
	"context"
	"fmt"
	"os"
)

func main() {
	words, ctx := os.Args[1:], context.Background()
	err := fmt.Errorf("usage: interop replay compiled|interpreted MODULE FOLDER")
	if len(words) == 4 && words[0] == "replay" {
		err = replay(ctx, words[1], words[2], words[3])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"

	"github.com/tetratelabs/wazero"

	"innerloop.example/agent/agent"
)

// deltas prints what a text delta of a script costs, its answer read: microseconds of CPU time for
// each of so many.
func deltas(ctx context.Context, module, script, times string) error {
	count, err := strconv.Atoi(times)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(script)
	if err != nil {
		return err
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	requests := make([]map[string]json.RawMessage, len(lines)-1)
	for at := range requests {
		if err := json.Unmarshal([]byte(lines[at]), &requests[at]); err != nil {
			return err
		}
	}
	core, err := newCore(ctx, wazero.NewRuntimeConfigCompiler(), module)
	if err != nil {
		return err
	}
	last := len(requests) - 1
	for _, request := range requests[:last] {
		for verb, fields := range request {
			if _, err := core.Ask(verb, fields, nil); err != nil {
				return err
			}
		}
	}
	chunk, piece := requests[last]["chunk"], []byte(lines[last+1]+"\n\n")
	if _, err := told(core, chunk, piece, 1000); err != nil {
		return err
	}
	begun := cpu()
	heard, err := told(core, chunk, piece, count)
	if err != nil {
		return err
	}
	took := cpu() - begun
	if heard != count {
		return fmt.Errorf("%d deltas were told", heard)
	}
	fmt.Printf("%.2f\n", float64(took)/float64(count))
	return nil
}

// told hands the piece over so many times, and counts the deltas that follow.
func told(core *agent.Core, chunk json.RawMessage, piece []byte, times int) (int, error) {
	heard := 0
	for range times {
		lines, err := core.Ask("chunk", chunk, piece)
		if err != nil {
			return heard, err
		}
		for _, line := range lines {
			if line.Kind != "event" {
				continue
			}
			var event agent.Event
			if err := json.Unmarshal(line.Value, &event); err != nil {
				return heard, err
			}
			if event.Type == "assistant_text_delta" {
				heard++
			}
		}
	}
	return heard, nil
}

// cpu is the CPU time of this process in microseconds.
func cpu() int64 {
	var used syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &used)
	return (used.Utime.Nano() + used.Stime.Nano()) / 1000
}

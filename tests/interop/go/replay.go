package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/tetratelabs/wazero"

	"innerloop.example/agent/agent"
)

const logEnd = ".log.jsonl"

// replay replays a corpus of logs, compiled or interpreted, and prints a log's name and the digest
// of its outputs a line.
func replay(ctx context.Context, mode, module, folder string) error {
	configs := map[string]wazero.RuntimeConfig{
		"compiled":    wazero.NewRuntimeConfigCompiler(),
		"interpreted": wazero.NewRuntimeConfigInterpreter(),
	}
	config, ok := configs[mode]
	if !ok {
		return fmt.Errorf("%s is neither compiled nor interpreted", mode)
	}
	core, err := newCore(ctx, config, module)
	if err != nil {
		return err
	}
	logs, err := filepath.Glob(filepath.Join(folder, "*"+logEnd))
	if err != nil {
		return err
	}
	for _, path := range logs {
		log, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		outputs, err := core.Answer("replay", nil, log)
		if err != nil {
			return err
		}
		name := strings.TrimSuffix(filepath.Base(path), logEnd)
		fmt.Printf("%s %x\n", name, sha256.Sum256(outputs))
	}
	return nil
}

// newCore makes an instance of the module in a runtime of its own, which lasts as long as the
// program.
func newCore(ctx context.Context, config wazero.RuntimeConfig, module string) (*agent.Core, error) {
	wasm, err := os.ReadFile(module)
	if err != nil {
		return nil, err
	}
	return agent.NewCore(ctx, wazero.NewRuntimeWithConfig(ctx, config), wasm)
}

// A coding agent in Go: the core and the tools are WebAssembly under wazero, what is left is
// requests, time and a log.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"

	"github.com/tetratelabs/wazero"

	"innerloop.example/agent/agent"
)

func main() {
	provider := flag.String("provider", "anthropic", "who serves the model")
	model := flag.String("model", "claude-sonnet-5-5", "the model")
	baseURL := flag.String("base-url", os.Getenv("ANTHROPIC_BASE_URL"), "where it is reached")
	workspace := flag.String("workspace", ".", "the folder that the tools work on")
	log := flag.String("log", "", "the session's log: a new file, or one to go on from")
	modules := flag.String("modules", "../../target", "where `cargo xtask prepare` has left the modules")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	options := agent.Options{
		Provider: *provider, Model: *model, BaseURL: *baseURL, Key: os.Getenv("ANTHROPIC_API_KEY"),
		Log: *log, OnEvent: show,
	}
	if err := run(ctx, options, *workspace, *modules, flag.Arg(0)); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, options agent.Options, workspace, modules, text string) error {
	module, coreErr := os.ReadFile(modules + "/core/innerloop_core.wasm")
	guest, guestErr := os.ReadFile(modules + "/guests/tools.wasm")
	if err := errors.Join(coreErr, guestErr); err != nil {
		return err
	}
	// A tool that is cancelled ends.
	runtime := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfig().WithCloseOnContextDone(true))
	defer runtime.Close(context.Background())
	core, err := agent.NewCore(ctx, runtime, module)
	if err != nil {
		return err
	}
	if options.Builtin, err = agent.NewTools(ctx, runtime, guest, workspace); err != nil {
		return err
	}
	start := agent.Open
	if info, err := os.Stat(options.Log); err == nil && info.Size() > 0 {
		start = agent.Resume
	}
	session, err := start(core, options)
	if err != nil {
		return err
	}
	defer session.Close()
	// What a session that goes on had under way comes first.
	result, err := session.Finish(ctx)
	if err == nil && result.Failure == nil && text != "" {
		result, err = session.Run(ctx, text)
	}
	if result.End != "" {
		fmt.Printf("\n%s\n", result.End)
	}
	if err == nil && result.Failure != nil {
		return result.Failure
	}
	return err
}

func show(event agent.Event) {
	switch event.Type {
	case "assistant_text_delta":
		fmt.Print(event.Text)
	case "tool_call_start":
		fmt.Printf("> %s\n", event.Name)
	}
}

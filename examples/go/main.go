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
	log := flag.String("log", os.DevNull, "where the session's log goes")
	modules := flag.String("modules", "../../target", "where `cargo xtask prepare` has left the modules")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *provider, *model, *baseURL, *workspace, *log, *modules, flag.Arg(0)); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, provider, model, baseURL, workspace, log, modules, text string) error {
	module, coreErr := os.ReadFile(modules + "/core/innerloop_core.wasm")
	guest, guestErr := os.ReadFile(modules + "/guests/tools.wasm")
	file, logErr := os.OpenFile(log, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err := errors.Join(coreErr, guestErr, logErr); err != nil {
		return err
	}
	defer file.Close()
	// A tool that is cancelled ends.
	runtime := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfig().WithCloseOnContextDone(true))
	defer runtime.Close(context.Background())
	tools, err := agent.NewTools(ctx, runtime, guest, workspace)
	if err != nil {
		return err
	}
	core, err := agent.NewCore(ctx, runtime, module)
	if err != nil {
		return err
	}
	session, err := agent.Open(ctx, core, tools, file, provider, model, os.Getenv("ANTHROPIC_API_KEY"), baseURL)
	if err != nil {
		return err
	}
	session.OnEvent = func(event agent.Event) {
		switch event.Type {
		case "assistant_text_delta":
			fmt.Print(event.Text)
		case "tool_call_start":
			fmt.Printf("> %s\n", event.Name)
		}
	}
	end, err := session.Run(ctx, text)
	if err != nil {
		return err
	}
	fmt.Printf("\n%s\n", end.End)
	return nil
}

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"

	"github.com/tetratelabs/wazero"

	"innerloop.example/agent/agent"
)

// mortal is an agent that dies in the midst of its work, or goes on from where another has died;
// ../mortal.py is the same in Python.
type mortal struct {
	notes, scene, death string
	// How often an event without a call has come.
	seen map[string]int
}

type object = map[string]any

// run lets it live until it dies or its session ends.
func (m *mortal) run(ctx context.Context, module, cache, url, log string) error {
	wasm, err := os.ReadFile(module)
	if err != nil {
		return err
	}
	compiled, err := wazero.NewCompilationCacheWithDir(cache)
	if err != nil {
		return err
	}
	runtime := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfig().WithCompilationCache(compiled))
	defer runtime.Close(ctx)
	core, err := agent.NewCore(ctx, runtime, wasm)
	if err != nil {
		return err
	}
	end, err := m.live(ctx, core, m.options(url, log))
	if err == nil {
		fmt.Println(end.End, end.Text)
	}
	return err
}

func (m *mortal) live(ctx context.Context, core *agent.Core, options agent.Options) (end agent.Result, err error) {
	if _, missing := os.Stat(options.Log); missing != nil {
		session, err := agent.Open(core, options)
		if err != nil {
			return end, err
		}
		return session.Run(ctx, "Do it")
	}
	session, err := agent.Resume(core, options)
	if err != nil {
		return end, err
	}
	if end, err = session.Finish(ctx); err == nil && end.End == "" {
		err = errors.New("nothing was under way")
	}
	return end, err
}

func (m *mortal) options(url, log string) agent.Options {
	options := agent.Options{
		Provider: "anthropic", Model: "mock-1", Key: "sk-secret-0123456789", BaseURL: url,
		ID: "s-1", Log: log, OnEvent: m.listen, Answer: m.answer,
	}
	if m.scene == "approval" {
		options.Tools = []agent.Tool{m.look(), m.send()}
		options.Patch = object{"approval": object{"ask": "changes"}}
	} else {
		options.Tools = []agent.Tool{m.pay()}
		// What changes something runs beside others only where that is said.
		options.Patch = object{"exec_modes": object{"pay": "parallel"}}
	}
	return options
}

// diesAt ends the program at its point: nothing is flushed, and nobody says goodbye.
func (m *mortal) diesAt(point string) {
	if point == m.death {
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	}
}

func (m *mortal) note(words string) error {
	file, err := os.OpenFile(m.notes, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(file, words)
	return errors.Join(err, file.Close())
}

// pay pays somebody, once for each key.
func (m *mortal) pay() agent.Tool {
	run := func(_ context.Context, key, to string) (string, error) {
		m.diesAt("in pay " + to)
		done, _ := os.ReadFile(m.notes)
		if !strings.Contains(string(done), "with "+key+"\n") {
			if err := m.note("pay " + to + " with " + key); err != nil {
				return "", err
			}
		}
		m.diesAt("behind pay " + to)
		return to + " is paid", nil
	}
	return agent.Tool{
		Name: "pay", Description: "Pays somebody, once for each key.", Parameters: oneText("to"),
		Repeatable: true, Run: withText("to", run),
	}
}

func (m *mortal) look() agent.Tool {
	run := func(_ context.Context, _, at string) (string, error) {
		m.diesAt("in look " + at)
		err := m.note("look " + at)
		m.diesAt("behind look " + at)
		return at + " is there", err
	}
	return agent.Tool{
		Name: "look", Description: "Looks at somebody.", Parameters: oneText("at"),
		ReadOnly: true, Run: withText("at", run),
	}
}

// send sends a letter, which must not be sent twice.
func (m *mortal) send() agent.Tool {
	run := func(_ context.Context, _, to string) (string, error) {
		m.diesAt("in send " + to)
		err := m.note("send " + to)
		m.diesAt("behind send " + to)
		return "sent to " + to, err
	}
	return agent.Tool{
		Name: "send", Description: "Sends a letter, which must not be sent twice.",
		Parameters: oneText("to"), Run: withText("to", run),
	}
}

func (m *mortal) answer(_ context.Context, ask agent.Ask) any {
	m.diesAt("asked")
	if ask.Question != nil {
		m.note("asked " + ask.Question.Text)
		m.diesAt("answered")
		return object{"text": "blue"}
	}
	m.note("asked about " + ask.Approval.Name)
	m.diesAt("answered")
	return object{"allow": nil}
}

func (m *mortal) listen(event agent.Event) {
	switch event.Type {
	case "request_start", "assistant_text_delta":
		m.seen[event.Type]++
		m.diesAt(fmt.Sprint(event.Type, " ", m.seen[event.Type]))
	default:
		m.diesAt(event.Type + " " + event.CallID)
	}
}

// oneText is the schema of a text.
func oneText(name string) object {
	properties := object{name: object{"type": "string"}}
	return object{"type": "object", "properties": properties, "required": []string{name}}
}

// withText hands a run the one text among its arguments.
func withText(name string, run func(ctx context.Context, key, text string) (string, error)) func(context.Context, string, json.RawMessage) (string, error) {
	return func(ctx context.Context, key string, arguments json.RawMessage) (string, error) {
		var texts map[string]string
		if err := json.Unmarshal(arguments, &texts); err != nil {
			return "", err
		}
		return run(ctx, key, texts[name])
	}
}

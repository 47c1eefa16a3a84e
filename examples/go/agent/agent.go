// Package agent is a coding agent over the core: what is left to it is requests, time, tools and a
// log.
package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"
)

// Options say what an agent works with.
type Options struct {
	Provider, Model, Key, BaseURL string
	// ID is the session's; a new one if it is empty.
	ID string
	// Log is the file of the session's log; nothing is kept if it is empty.
	Log string
	// Builtin runs the built-in tools; the model has none of them if it is nil.
	Builtin *Tools
	// Tools are tools of one's own.
	Tools []Tool
	// Patch is a merge patch of the configuration.
	Patch any
	// OnEvent is told what happens, if it is set.
	OnEvent func(Event)
	// Answer says what a person says, as the protocol has it. Nobody is asked if it is nil.
	Answer func(ctx context.Context, ask Ask) any
}

// Tool is a tool of one's own.
type Tool struct {
	Name, Description string
	// Parameters is the JSON schema of the arguments.
	Parameters any
	// ReadOnly tools change nothing: their runs go side by side.
	ReadOnly bool
	// Repeatable tools may run again where nobody knows what became of a run, after a crash.
	Repeatable bool
	// Run runs it. The key is the same when a run is carried out again, and no other run's: hand it
	// to what must not be done twice.
	Run func(ctx context.Context, key string, arguments json.RawMessage) (string, error)
}

// Agent carries out what a session asks for. One goroutine, Run's, talks to the core; each effect
// has a goroutine of its own, and tells its news on a channel.
type Agent struct {
	core    *Core
	options Options
	journal *journal
	id      string
	session int
	begun   time.Time
	now     int64 // the session time at which it was opened
	news    chan news
	open    map[uint64]context.CancelFunc
	resumes bool // what is to be done now may have begun before
	// When to tick, in session time, if nothing else happens before.
	deadline *int64
}

// Event is a thing to know.
type Event struct {
	Type   string
	Text   string
	Name   string
	CallID string `json:"call_id"`
	End    string
}

type object = map[string]any

// Open opens a session.
func Open(ctx context.Context, core *Core, options Options) (*Agent, error) {
	config, err := configOf(ctx, core, &options)
	if err != nil {
		return nil, err
	}
	agent, err := newAgent(core, options)
	if err != nil {
		return nil, err
	}
	if err := agent.journal.begin(); err != nil {
		return nil, err
	}
	agent.id = options.ID
	request := object{"config": config, "parts": options.parts(), "wall": time.Now().UnixMilli()}
	lines, err := core.Ask(ctx, "open", request, nil)
	if err != nil {
		return nil, err
	}
	return agent, agent.enter(ctx, lines)
}

// Resume goes on from a log where it stands. What was under way is begun again, but for runs of
// tools that may have taken effect and must not do so twice: the model is told that they are lost.
func Resume(ctx context.Context, core *Core, options Options) (*Agent, error) {
	log, err := os.ReadFile(options.Log)
	if err != nil {
		return nil, err
	}
	agent, err := newAgent(core, options)
	if err != nil {
		return nil, err
	}
	first, _, _ := bytes.Cut(log, []byte("\n"))
	var header struct{ Config struct{ ID string } }
	if err := json.Unmarshal(first, &header); err != nil {
		return nil, err
	}
	agent.id = header.Config.ID
	// This host knows by its journal which runs have begun.
	request := object{"parts": options.parts(), "owe_runs": true, "wall": time.Now().UnixMilli()}
	lines, err := core.Ask(ctx, "resume", request, log)
	if err != nil {
		return nil, err
	}
	// The newest lines make a log of their own.
	entries, rest := parted(lines)
	if err := agent.journal.replace(entries); err != nil {
		return nil, err
	}
	agent.resumes = true
	err = agent.enter(ctx, rest)
	agent.resumes = false
	return agent, err
}

// Run lets the agent work until it is done, and says how that ended.
func (a *Agent) Run(ctx context.Context, text string) (Event, error) {
	part := object{"type": "text", "text": text}
	submit := object{"submit": object{"parts": []any{part}}}
	end, err := a.hear(ctx, news{input: object{"command": object{"agent": 0, "command": submit}}})
	return a.finish(ctx, end, err)
}

// Finish lets a resumed agent do what was under way, and says how that ended; its event has no type
// if nothing was.
func (a *Agent) Finish(ctx context.Context) (Event, error) {
	lines, err := a.core.Ask(ctx, "status", object{"session": a.session}, nil)
	if err != nil {
		return Event{}, err
	}
	var status struct{ State string }
	err = json.Unmarshal(lines[0].Value, &status)
	if err != nil || status.State == "idle" || status.State == "closed" {
		return Event{}, err
	}
	return a.finish(ctx, nil, nil)
}

// Close lets go of the log.
func (a *Agent) Close() error { return a.journal.close() }

func (a *Agent) finish(ctx context.Context, end *Event, err error) (Event, error) {
	for err == nil && end == nil {
		var tick <-chan time.Time
		if a.deadline != nil {
			tick = time.After(time.Duration(*a.deadline-a.at()) * time.Millisecond)
		}
		select {
		case said := <-a.news:
			if said.last {
				delete(a.open, said.id)
			}
			end, err = a.hear(ctx, said)
		case <-tick:
			end, err = a.hear(ctx, news{input: object{"tick": nil}})
		case <-ctx.Done():
			err = ctx.Err()
		}
	}
	if err != nil {
		return Event{}, err
	}
	return *end, nil
}

func (a *Agent) at() int64 { return a.now + time.Since(a.begun).Milliseconds() }

func (a *Agent) hear(ctx context.Context, said news) (*Event, error) {
	verb, fields := "handle", object{"session": a.session, "at": a.at(), "input": said.input}
	if said.chunk != nil {
		verb, fields = "chunk", object{"session": a.session, "at": a.at(), "id": said.id}
	}
	lines, err := a.core.Ask(ctx, verb, fields, said.chunk)
	var refusal *Refusal
	if errors.As(err, &refusal) && refusal.Code == "answered" {
		return nil, nil // It was on its way when the session had enough.
	}
	if err != nil {
		return nil, err
	}
	return a.follow(ctx, lines)
}

// enter takes in what a session begins with.
func (a *Agent) enter(ctx context.Context, lines []Line) error {
	err := errors.Join(json.Unmarshal(lines[0].Value, &a.session), json.Unmarshal(lines[1].Value, &a.now))
	if err != nil {
		return err
	}
	a.begun = time.Now()
	_, err = a.follow(ctx, lines[2:])
	return err
}

// follow makes a step durable and then carries it out; it returns how the run ended, if it did.
func (a *Agent) follow(ctx context.Context, lines []Line) (end *Event, err error) {
	entries, rest := parted(lines)
	durable := false
	for _, line := range rest {
		durable = durable || line.Kind == "effect"
	}
	if err := a.journal.append(entries, durable); err != nil {
		return nil, err
	}
	for _, line := range rest {
		switch line.Kind {
		case "event":
			var event Event
			if err = json.Unmarshal(line.Value, &event); err == nil && a.options.OnEvent != nil {
				a.options.OnEvent(event)
			}
			if event.Type == "processing_end" {
				end = &event
			}
		case "effect":
			var kinds map[string]effect
			err = json.Unmarshal(line.Value, &kinds)
			for kind, effect := range kinds {
				err = errors.Join(err, a.begin(ctx, kind, effect))
			}
		case "deadline":
			err = json.Unmarshal(line.Value, &a.deadline)
		}
		if err != nil {
			return nil, err
		}
	}
	return end, nil
}

func newAgent(core *Core, options Options) (*Agent, error) {
	journal, err := openJournal(options.Log)
	agent := &Agent{
		core: core, options: options, journal: journal,
		news: make(chan news), open: make(map[uint64]context.CancelFunc),
	}
	return agent, err
}

// configOf is the configuration that the options come to.
func configOf(ctx context.Context, core *Core, options *Options) (json.RawMessage, error) {
	if options.ID == "" {
		options.ID = fmt.Sprintf("go-%d", time.Now().UnixNano())
	}
	own := object{"subagents": object{"max_depth": 0}, "ask_user": options.Answer != nil}
	if options.Builtin == nil {
		own["builtin_tools"] = "none"
	}
	patches := []any{own}
	if options.Patch != nil {
		patches = append(patches, options.Patch)
	}
	tools := []any{}
	for _, tool := range options.Tools {
		tools = append(tools, object{
			"name": tool.Name, "description": tool.Description, "parameters": tool.Parameters,
			"read_only": tool.ReadOnly,
		})
	}
	lines, err := core.Ask(ctx, "config", object{
		"id": options.ID, "provider": options.Provider, "model": options.Model,
		"facts": object{"working_directory": "/", "platform": "wasm"},
		"tools": tools, "patches": patches,
	}, nil)
	if err != nil {
		return nil, err
	}
	return lines[0].Value, nil
}

// parts are what the session's driver works with.
func (o *Options) parts() object {
	endpoint := object{"provider": o.Provider, "key": o.Key}
	if o.BaseURL != "" {
		endpoint["base_url"] = o.BaseURL
	}
	asks := o.Answer != nil
	return object{"endpoints": []any{endpoint}, "entries": o.Log != "", "approve": asks, "answer": asks}
}

// parted are the entries of a step, and the rest of it.
func parted(lines []Line) (entries [][]byte, rest []Line) {
	for _, line := range lines {
		if line.Kind == "entry" {
			entries = append(entries, line.Value)
		} else {
			rest = append(rest, line)
		}
	}
	return entries, rest
}

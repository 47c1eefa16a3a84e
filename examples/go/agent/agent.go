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
	"slices"
	"sync"
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
	// OnEvent is told what happens, if it is set, one event after the other and by any goroutine. It
	// may steer and interrupt, but must not wait for a run.
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

// Agent carries out what a session asks for. Its methods may be called from any goroutine. Each
// effect has a goroutine of its own, and hands its news in; what follows from them is carried out
// in the order in which it was said, by one goroutine at a time.
type Agent struct {
	core    *Core
	options Options
	id      string
	session int
	begun   time.Time
	now     int64 // the session time at which it was opened

	mu      sync.Mutex
	journal *journal
	open    map[uint64]context.CancelFunc
	queue   []Line // what is to be carried out and told
	follows bool   // whether a goroutine does that
	timer   *time.Timer
	run     *running
	next    *running // the run that takes its place when it begins
	resumed *running // the run that was under way when the session went on
	resumes bool     // what is to be done now may have begun before
	fault   error    // why nothing goes on
}

// running is a run under way.
type running struct {
	done   chan struct{}
	result Result
	err    error
}

// Event is a thing to know.
type Event struct {
	Type    string
	Agent   int
	Text    string
	Name    string
	CallID  string `json:"call_id"`
	End     string
	Kind    string
	Message string
}

// Result says how a run ended.
type Result struct {
	// End is "completed", "limit", "loop", "interrupted", "denied" or "failed".
	End string
	// Text is what the model said last.
	Text string
	// Failure says why a run failed; nil if it did not.
	Failure *Failure
}

// Failure is what made a run fail, such as the kind "authentication" or "overloaded".
type Failure struct{ Kind, Message string }

func (f *Failure) Error() string { return f.Kind + ": " + f.Message }

// ErrClosed is what a closed agent answers.
var ErrClosed = errors.New("the agent is closed")

type object = map[string]any

// Open opens a session.
func Open(core *Core, options Options) (*Agent, error) {
	config, err := configOf(core, &options)
	if err != nil {
		return nil, err
	}
	agent, err := newAgent(core, options)
	if err != nil {
		return nil, err
	}
	agent.id = options.ID
	request := object{"config": config, "parts": options.parts(), "wall": time.Now().UnixMilli()}
	lines, err := core.Ask("open", request, nil)
	if err == nil {
		err = agent.journal.begin()
	}
	if err == nil {
		err = agent.enter(lines)
	}
	return agent.unless(err)
}

// Resume goes on from a log where it stands. What was under way is begun again, but for runs of
// tools that may have taken effect and must not do so twice: the model is told that they are lost.
// In a log without a single whole line nothing was said, and the session is opened.
func Resume(core *Core, options Options) (*Agent, error) {
	log, err := os.ReadFile(options.Log)
	if err != nil {
		return nil, err
	}
	if isEmpty(log) {
		return Open(core, options)
	}
	first, _, _ := bytes.Cut(log, []byte("\n"))
	var header struct{ Config struct{ ID string } }
	if err := json.Unmarshal(first, &header); err != nil {
		return nil, fmt.Errorf("%s is no log: %w", options.Log, err)
	}
	agent, err := newAgent(core, options)
	if err != nil {
		return nil, err
	}
	agent.id, agent.resumes = header.Config.ID, true
	// This host knows by its journal which runs have begun.
	request := object{"parts": options.parts(), "owe_runs": true, "wall": time.Now().UnixMilli()}
	lines, err := core.Ask("resume", request, log)
	if err == nil {
		// The newest lines make a log of their own.
		entries, rest := parted(lines)
		if err = agent.journal.replace(entries); err == nil {
			err = agent.enter(rest)
		}
	}
	return agent.unless(err)
}

// Run lets the agent work until it is done, and says how that ended. When its context ends, the run
// is interrupted, and the error is the context's; the agent stays usable.
func (a *Agent) Run(ctx context.Context, text string) (Result, error) {
	run := newRunning()
	a.mu.Lock()
	err := a.take("handle", command(object{"submit": said(text)}), nil)
	if err == nil {
		a.next = run
	}
	a.mu.Unlock()
	if err != nil {
		return Result{}, err
	}
	a.follow()
	return a.wait(ctx, run)
}

// Finish lets a resumed agent do what was under way, and says how that ended; the result has no end
// if nothing was.
func (a *Agent) Finish(ctx context.Context) (Result, error) {
	if a.resumed == nil {
		return Result{}, nil
	}
	return a.wait(ctx, a.resumed)
}

// Steer tells the model something after the current round of tools; while idle, with the next run.
func (a *Agent) Steer(text string) error { return a.do(object{"steer": said(text)}) }

// FollowUp gives the agent another input for when the current one is done, in the same run.
func (a *Agent) FollowUp(text string) error { return a.do(object{"follow_up": said(text)}) }

// Interrupt stops the run under way, if there is one; the agent stays usable.
func (a *Agent) Interrupt() error {
	a.mu.Lock()
	isIdle := a.run == nil && a.next == nil
	a.mu.Unlock()
	if isIdle {
		return nil
	}
	return a.do(object{"interrupt": nil})
}

// Close stops what is under way and lets go of the log, from which the session can go on.
func (a *Agent) Close() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if errors.Is(a.fault, ErrClosed) {
		return nil
	}
	a.fail(ErrClosed)
	_, err := a.core.Ask("close", object{"session": a.session}, nil)
	return errors.Join(err, a.journal.close())
}

func (a *Agent) wait(ctx context.Context, run *running) (Result, error) {
	select {
	case <-run.done:
		return run.result, run.err
	case <-ctx.Done():
	}
	// What the session does not give up in time, it ends by itself.
	err := a.Interrupt()
	<-run.done
	return run.result, errors.Join(context.Cause(ctx), err, run.err)
}

func (a *Agent) at() int64 { return a.now + time.Since(a.begun).Milliseconds() }

func (a *Agent) do(what object) error {
	a.mu.Lock()
	err := a.take("handle", command(what), nil)
	a.mu.Unlock()
	a.follow()
	return err
}

// hear takes in what came of an effect.
func (a *Agent) hear(verb string, fields object, data []byte) {
	a.mu.Lock()
	err := a.take(verb, fields, data)
	var refusal *Refusal
	// What was on its way when the session had enough is none of its business any more.
	isLate := errors.As(err, &refusal) && (refusal.Code == "answered" || refusal.Code == "closed")
	if err != nil && !isLate && a.fault == nil {
		a.fail(err)
	}
	a.mu.Unlock()
	a.follow()
}

// take hands something to the session, makes what follows durable, and puts it behind what is to be
// done. The mutex is held.
func (a *Agent) take(verb string, fields object, data []byte) error {
	if a.fault != nil {
		return a.fault
	}
	fields["session"], fields["at"] = a.session, a.at()
	lines, err := a.core.Ask(verb, fields, data)
	if refusal := (*Refusal)(nil); errors.As(err, &refusal) {
		return err // Nothing has changed.
	}
	if err == nil {
		err = a.keep(lines)
	}
	if err != nil {
		a.fail(err)
	}
	return err
}

func (a *Agent) keep(lines []Line) error {
	entries, rest := parted(lines)
	isEffect := func(line Line) bool { return line.Kind == "effect" }
	a.queue = append(a.queue, rest...)
	return a.journal.append(entries, slices.ContainsFunc(rest, isEffect))
}

// enter takes in what a session begins with.
func (a *Agent) enter(lines []Line) error {
	a.begun = time.Now()
	err := errors.Join(json.Unmarshal(lines[0].Value, &a.session), json.Unmarshal(lines[1].Value, &a.now))
	if err == nil && a.resumes {
		err = a.find()
	}
	if err == nil {
		err = a.keep(lines[2:])
	}
	if err != nil {
		return err
	}
	a.follow()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.resumes = false
	return a.fault
}

// find takes note of a run that was under way when the log ended.
func (a *Agent) find() error {
	lines, err := a.core.Ask("status", object{"session": a.session}, nil)
	if err != nil {
		return err
	}
	var status struct{ State string }
	err = json.Unmarshal(lines[0].Value, &status)
	if status.State != "idle" && status.State != "closed" {
		a.resumed = newRunning()
		a.run = a.resumed
	}
	return err
}

// follow carries out what is to be done, and tells it, unless another goroutine does.
func (a *Agent) follow() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.follows {
		return
	}
	a.follows = true
	for len(a.queue) > 0 {
		line := a.queue[0]
		a.queue = a.queue[1:]
		if err := a.carryOut(line); err != nil {
			a.fail(err)
		}
	}
	a.follows = false
}

func (a *Agent) carryOut(line Line) error {
	switch line.Kind {
	case "event":
		var event Event
		if err := json.Unmarshal(line.Value, &event); err != nil {
			return err
		}
		if event.Agent == 0 {
			a.watch(event)
		}
		a.show(event)
	case "effect":
		var kinds map[string]effect
		if err := json.Unmarshal(line.Value, &kinds); err != nil {
			return err
		}
		for kind, effect := range kinds {
			return a.begin(kind, effect)
		}
	case "deadline":
		var deadline *int64
		if err := json.Unmarshal(line.Value, &deadline); err != nil {
			return err
		}
		a.tickAt(deadline)
	}
	return nil
}

// watch follows the run under way by its events.
func (a *Agent) watch(event Event) {
	if event.Type == "user_input" && a.run == nil {
		a.run, a.next = a.next, nil
		if a.run == nil {
			a.run = newRunning()
		}
	}
	if a.run == nil {
		return
	}
	result := &a.run.result
	switch event.Type {
	case "error":
		result.Failure = &Failure{event.Kind, event.Message}
	case "processing_end":
		result.End, result.Text = event.End, event.Text
		if event.End != "failed" {
			result.Failure = nil
		}
		a.end(nil)
	case "session_end":
		result.End = "interrupted"
		a.end(nil)
	}
}

// show tells an event without the mutex, so that who is told may steer.
func (a *Agent) show(event Event) {
	if a.options.OnEvent == nil {
		return
	}
	a.mu.Unlock()
	defer a.mu.Lock()
	defer report("OnEvent")
	a.options.OnEvent(event)
}

func (a *Agent) tickAt(deadline *int64) {
	if a.timer != nil {
		a.timer.Stop()
	}
	if deadline == nil {
		return
	}
	// A millisecond more: the session does not hear of what is not due.
	wait := time.Duration(max(0, *deadline-a.at())+1) * time.Millisecond
	a.timer = time.AfterFunc(wait, func() { a.hear("handle", object{"input": object{"tick": nil}}, nil) })
}

// fail ends what is under way: nothing goes on after this.
func (a *Agent) fail(why error) {
	a.fault, a.queue = why, nil
	for _, cancel := range a.open {
		cancel()
	}
	a.tickAt(nil)
	a.end(why)
	a.run, a.next = a.next, nil
	a.end(why)
}

func (a *Agent) end(err error) {
	if a.run != nil {
		a.run.err = err
		close(a.run.done)
		a.run = nil
	}
}

// unless gives the agent out, or lets go of its log.
func (a *Agent) unless(err error) (*Agent, error) {
	if err == nil {
		return a, nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.fail(err)
	return nil, errors.Join(err, a.journal.close())
}

func newAgent(core *Core, options Options) (*Agent, error) {
	journal, err := openJournal(options.Log)
	open := make(map[uint64]context.CancelFunc)
	return &Agent{core: core, options: options, journal: journal, open: open}, err
}

func newRunning() *running { return &running{done: make(chan struct{})} }

func said(text string) object {
	return object{"parts": []any{object{"type": "text", "text": text}}}
}

func command(what object) object {
	return object{"input": object{"command": object{"agent": 0, "command": what}}}
}

// configOf is the configuration that the options come to.
func configOf(core *Core, options *Options) (json.RawMessage, error) {
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
	lines, err := core.Ask("config", object{
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

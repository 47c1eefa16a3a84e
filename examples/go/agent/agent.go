// Package agent is a coding agent over the core: what is left to it is requests, time, tools and a
// log.
package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"
)

// Agent carries out what a session asks for. One goroutine, Run's, talks to the core; each effect
// has a goroutine of its own, and tells its news on a channel.
type Agent struct {
	core    *Core
	tools   *Tools
	log     *os.File
	session int
	begun   time.Time
	now     int64 // the session time at which it was opened
	news    chan news
	open    map[uint64]context.CancelFunc
	// When to tick, in session time, if nothing else happens before.
	deadline *int64
	OnEvent  func(Event)
}

// Event is a thing to know.
type Event struct {
	Type string
	Text string
	Name string
	End  string
}

// news is an input that came of an effect, or a piece of a response's body.
type news struct {
	id    uint64
	input any
	chunk []byte
	last  bool
}

// An effect's fields, as far as they are needed here.
type effect struct {
	ID      uint64
	Request struct {
		URL     string
		Headers [][2]string
		Key     *[2]string
		Body    string
	}
	Run Run
}

type object = map[string]any

// Open opens a session with a provider's model; the log's lines go to a file.
func Open(ctx context.Context, core *Core, tools *Tools, log *os.File, provider, model, key, baseURL string) (*Agent, error) {
	lines, err := core.Ask(ctx, "config", object{
		"id": fmt.Sprintf("go-%d", time.Now().UnixNano()), "provider": provider, "model": model,
		"facts":   object{"working_directory": "/", "platform": "wasm"},
		"patches": []any{object{"subagents": object{"max_depth": 0}}},
	}, nil)
	if err != nil {
		return nil, err
	}
	endpoint := object{"provider": provider, "key": key}
	if baseURL != "" {
		endpoint["base_url"] = baseURL
	}
	lines, err = core.Ask(ctx, "open", object{
		"config": lines[0].Value,
		"parts":  object{"endpoints": []any{endpoint}, "entries": true},
		"wall":   time.Now().UnixMilli(),
	}, nil)
	if err != nil {
		return nil, err
	}
	agent := &Agent{
		core: core, tools: tools, log: log, begun: time.Now(),
		news: make(chan news), open: make(map[uint64]context.CancelFunc),
		OnEvent: func(Event) {},
	}
	if err := errors.Join(json.Unmarshal(lines[0].Value, &agent.session), json.Unmarshal(lines[1].Value, &agent.now)); err != nil {
		return nil, err
	}
	_, err = agent.follow(ctx, lines[2:])
	return agent, err
}

// Run lets the agent work until it is done, and says how that ended.
func (a *Agent) Run(ctx context.Context, text string) (Event, error) {
	part := object{"type": "text", "text": text}
	submit := object{"submit": object{"parts": []any{part}}}
	end, err := a.hear(ctx, news{input: object{"command": object{"agent": 0, "command": submit}}})
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

// follow makes a step durable and then carries it out; it returns how the run ended, if it did.
func (a *Agent) follow(ctx context.Context, lines []Line) (end *Event, err error) {
	for _, line := range lines {
		switch line.Kind {
		case "entry":
			_, err = a.log.Write(append(line.Value, '\n'))
		case "event":
			var event Event
			if err = json.Unmarshal(line.Value, &event); err == nil {
				a.OnEvent(event)
			}
			if event.Type == "processing_end" {
				end = &event
			}
		case "effect":
			var kinds map[string]effect
			err = json.Unmarshal(line.Value, &kinds)
			for kind, effect := range kinds {
				a.begin(ctx, kind, effect)
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

func (a *Agent) begin(ctx context.Context, kind string, effect effect) {
	if kind == "cancel" {
		if cancel, ok := a.open[effect.ID]; ok {
			cancel()
		}
		return
	}
	session := ctx
	ctx, cancel := context.WithCancel(ctx)
	a.open[effect.ID] = cancel
	// What is stopped still tells its end: the session passes over what it does not want any more.
	tell := func(said news) {
		said.id = effect.ID
		select {
		case a.news <- said:
		case <-session.Done():
		}
	}
	go func() {
		defer cancel()
		switch kind {
		case "http":
			a.send(ctx, effect, tell)
		case "run_tool":
			outcome := a.tools.Perform(ctx, effect.Run)
			done := object{"id": effect.ID, "input": object{"done": outcome}}
			tell(news{last: true, input: object{"tool": done}})
		default: // Nobody is here to ask.
			tell(news{last: true, input: object{"lost": object{"id": effect.ID}}})
		}
	}()
}

func (a *Agent) send(ctx context.Context, effect effect, tell func(news)) {
	http1 := func(input any) news {
		return news{input: object{"http": object{"id": effect.ID, "input": input}}}
	}
	fail := func(err error) {
		said := http1(object{"failed": object{"kind": "network", "message": err.Error()}})
		said.last = true
		tell(said)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, effect.Request.URL, bytes.NewReader([]byte(effect.Request.Body)))
	if err != nil {
		fail(err)
		return
	}
	for _, header := range effect.Request.Headers {
		request.Header.Set(header[0], header[1])
	}
	if key := effect.Request.Key; key != nil {
		request.Header.Set(key[0], key[1])
	}
	response, err := client.Do(request)
	if err != nil {
		fail(err)
		return
	}
	defer response.Body.Close()
	headers := [][2]string{}
	for name, values := range response.Header {
		headers = append(headers, [2]string{strings.ToLower(name), values[0]})
	}
	tell(http1(object{"head": object{"status": response.StatusCode, "headers": headers, "at": time.Now().UnixMilli()}}))
	for {
		piece := make([]byte, 32<<10)
		count, err := response.Body.Read(piece)
		if count > 0 {
			tell(news{chunk: piece[:count]})
		}
		if err == io.EOF {
			said := http1(object{"end": nil})
			said.last = true
			tell(said)
			return
		}
		if err != nil {
			fail(err)
			return
		}
	}
}

// Redirects are not followed, since the key would go along.
var client = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error {
	return http.ErrUseLastResponse
}}

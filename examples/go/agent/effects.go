package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"runtime/debug"
	"strings"
	"time"
)

// Ask is something that a person is to say: whether a call may run, or the answer to a question.
type Ask struct {
	Approval *struct {
		Name      string
		Arguments json.RawMessage
	}
	Question *struct{ Text string }
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
	Ask Ask
}

// begin begins an effect in a goroutine of its own, or stops one. The mutex is held.
func (a *Agent) begin(kind string, effect effect) error {
	if kind == "cancel" {
		if cancel, ok := a.open[effect.ID]; ok {
			cancel()
		}
		return nil
	}
	if kind == "run_tool" {
		if a.resumes && a.journal.hasBegun(effect.ID) && !a.mayRepeat(effect.Run) {
			kind = "lost"
		} else if err := a.journal.runBegins(effect.ID); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	a.open[effect.ID] = cancel
	go a.carry(ctx, kind, effect)
	return nil
}

// carry carries an effect out and hands in what came of it, also when a function of the host's
// panics or ends its goroutine. What is stopped still tells its end: the session passes over what it
// does not want any more.
func (a *Agent) carry(ctx context.Context, kind string, effect effect) {
	last := object{"lost": object{"id": effect.ID}}
	defer func() {
		a.mu.Lock()
		a.open[effect.ID]()
		delete(a.open, effect.ID)
		a.mu.Unlock()
		a.hear("handle", object{"input": last}, nil)
	}()
	defer report(kind)
	switch kind {
	case "http":
		last = a.send(ctx, effect)
	case "run_tool":
		last = object{"tool": object{"id": effect.ID, "input": object{"done": a.perform(ctx, effect)}}}
	case "ask":
		last = object{"answer": object{"id": effect.ID, "answer": a.answer(ctx, effect.Ask)}}
	}
}

// report says on standard error what has panicked, and goes on: one agent's function must not end
// the others.
func report(what string) {
	if fault := recover(); fault != nil {
		log.Printf("%s has panicked: %v\n%s", what, fault, debug.Stack())
	}
}

// perform runs a tool to its end, or until its context or its time limit ends it; a tool that heeds
// neither goes on, unheard.
func (a *Agent) perform(ctx context.Context, effect effect) json.RawMessage {
	run := effect.Run
	if run.Job.Builtin != nil && a.options.Builtin != nil {
		return a.options.Builtin.Perform(ctx, run)
	}
	tool := a.tool(run.Name)
	if tool == nil {
		return failed("unknown_tool", "There is no tool "+run.Name)
	}
	limited, cancel := context.WithTimeout(ctx, time.Duration(run.TimeoutMs)*time.Millisecond)
	defer cancel()
	done := make(chan json.RawMessage, 1)
	go func() {
		outcome := failed("crashed", "The tool has crashed.")
		defer func() { done <- outcome }()
		defer report("tool " + run.Name)
		said, err := tool.Run(limited, fmt.Sprintf("%s/%d", a.id, effect.ID), run.Job.Custom)
		if err != nil {
			outcome = failed("crashed", err.Error())
			return
		}
		outcome, _ = json.Marshal(object{"parts": []any{object{"type": "text", "text": said}}})
	}()
	select {
	case outcome := <-done:
		return outcome
	case <-limited.Done():
	}
	return stopped(ctx)
}

// stopped is the outcome of a run whose context or time limit has ended it.
func stopped(ctx context.Context) json.RawMessage {
	if ctx.Err() != nil {
		return []byte(`{"parts":[],"error":"interrupted"}`)
	}
	return []byte(`{"parts":[],"error":"timeout","timed_out":true}`)
}

// mayRepeat says whether a run that may have taken effect can be carried out again.
func (a *Agent) mayRepeat(run Run) bool {
	if run.Job.Builtin != nil {
		return run.onlyReads()
	}
	tool := a.tool(run.Name)
	return tool != nil && (tool.ReadOnly || tool.Repeatable)
}

func (a *Agent) tool(name string) *Tool {
	for index := range a.options.Tools {
		if a.options.Tools[index].Name == name {
			return &a.options.Tools[index]
		}
	}
	return nil
}

// answer is what a person says. What is not known here is denied.
func (a *Agent) answer(ctx context.Context, ask Ask) any {
	if a.options.Answer != nil && (ask.Approval != nil || ask.Question != nil) {
		return a.options.Answer(ctx, ask)
	}
	return object{"deny": object{"reason": "nobody is here to answer"}}
}

func failed(kind, text string) json.RawMessage {
	part := object{"type": "text", "text": text}
	outcome, _ := json.Marshal(object{"parts": []any{part}, "error": kind})
	return outcome
}

// send sends a request as it is and hands in what comes; it returns the last of it.
func (a *Agent) send(ctx context.Context, effect effect) object {
	news := func(input any) object {
		return object{"http": object{"id": effect.ID, "input": input}}
	}
	failed := func(err error) object {
		return news(object{"failed": object{"kind": "network", "message": err.Error()}})
	}
	body := strings.NewReader(effect.Request.Body)
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, effect.Request.URL, body)
	if err != nil {
		return failed(err)
	}
	for _, header := range effect.Request.Headers {
		request.Header.Set(header[0], header[1])
	}
	if key := effect.Request.Key; key != nil {
		request.Header.Set(key[0], key[1])
	}
	response, err := client.Do(request)
	if err != nil {
		return failed(err)
	}
	defer response.Body.Close()
	headers := [][2]string{}
	for name, values := range response.Header {
		headers = append(headers, [2]string{strings.ToLower(name), strings.Join(values, ", ")})
	}
	head := object{"status": response.StatusCode, "headers": headers, "at": time.Now().UnixMilli()}
	a.hear("handle", object{"input": news(object{"head": head})}, nil)
	piece := make([]byte, 32<<10)
	for {
		count, err := response.Body.Read(piece)
		if count > 0 {
			a.hear("chunk", object{"id": effect.ID}, piece[:count])
		}
		if err == io.EOF {
			return news(object{"end": nil})
		}
		if err != nil {
			return failed(err)
		}
	}
}

// Redirects are not followed, since the key would go along.
var client = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error {
	return http.ErrUseLastResponse
}}

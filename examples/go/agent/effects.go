package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
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

// news is an input that came of an effect, or a piece of a response's body.
type news struct {
	id    uint64
	input any
	chunk []byte
	last  bool
}

// begin begins an effect in a goroutine of its own, or stops one.
func (a *Agent) begin(ctx context.Context, kind string, effect effect) error {
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
			done := object{"id": effect.ID, "input": object{"done": a.perform(ctx, effect)}}
			tell(news{last: true, input: object{"tool": done}})
		case "ask":
			answer := object{"id": effect.ID, "answer": a.answer(ctx, effect.Ask)}
			tell(news{last: true, input: object{"answer": answer}})
		default:
			tell(news{last: true, input: object{"lost": object{"id": effect.ID}}})
		}
	}()
	return nil
}

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
	said, err := tool.Run(limited, fmt.Sprintf("%s/%d", a.id, effect.ID), run.Job.Custom)
	if err != nil {
		return failed("crashed", err.Error())
	}
	outcome, _ := json.Marshal(object{"parts": []any{object{"type": "text", "text": said}}})
	return outcome
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

package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tetratelabs/wazero"
)

// one is an instance that the tests share: sessions must not harm each other.
var one = sync.OnceValues(func() (*Core, error) {
	wasm, err := os.ReadFile("../../../target/core/innerloop_core.wasm")
	if err != nil {
		return nil, err
	}
	ctx := context.Background()
	// As in main: a context that ends closes what it has called.
	config := wazero.NewRuntimeConfig().WithCloseOnContextDone(true)
	return NewCore(ctx, wazero.NewRuntimeWithConfig(ctx, config), wasm)
})

func sharedCore(t *testing.T) *Core {
	t.Helper()
	core, err := one()
	if errors.Is(err, os.ErrNotExist) {
		t.Skip("cargo xtask prepare leaves the core there: ", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return core
}

// model answers each request with the next reply, and the last one again and again.
type model struct {
	*httptest.Server
	mu      sync.Mutex
	replies []http.HandlerFunc
	bodies  []string
}

func newModel(t *testing.T, replies ...http.HandlerFunc) *model {
	m := &model{replies: replies}
	m.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		m.mu.Lock()
		m.bodies = append(m.bodies, string(body))
		reply := m.replies[0]
		if len(m.replies) > 1 {
			m.replies = m.replies[1:]
		}
		m.mu.Unlock()
		reply(w, r)
	}))
	t.Cleanup(func() {
		m.CloseClientConnections()
		m.Close()
	})
	return m
}

func (m *model) body(index int) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if index >= len(m.bodies) {
		return ""
	}
	return m.bodies[index]
}

// says is a reply with a text, calls is one that calls these tools, all without arguments.
func says(text string) http.HandlerFunc { return reply(text) }

func calls(tools ...string) http.HandlerFunc { return reply("", tools...) }

func reply(text string, tools ...string) http.HandlerFunc {
	usage := object{"input_tokens": 10, "output_tokens": 1}
	message := object{"id": "m", "role": "assistant", "model": "mock", "usage": usage}
	events := []object{{"type": "message_start", "message": message}}
	block := func(start, delta object) {
		index := len(events) / 3
		events = append(events,
			object{"type": "content_block_start", "index": index, "content_block": start},
			object{"type": "content_block_delta", "index": index, "delta": delta},
			object{"type": "content_block_stop", "index": index})
	}
	if text != "" {
		block(object{"type": "text", "text": ""}, object{"type": "text_delta", "text": text})
	}
	reason := "end_turn"
	for at, name := range tools {
		reason = "tool_use"
		start := object{"type": "tool_use", "id": fmt.Sprint("c", at), "name": name, "input": object{}}
		block(start, object{"type": "input_json_delta", "partial_json": "{}"})
	}
	events = append(events,
		object{"type": "message_delta", "delta": object{"stop_reason": reason}, "usage": usage},
		object{"type": "message_stop"})
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("content-type", "text/event-stream")
		for _, event := range events {
			text, _ := json.Marshal(event)
			fmt.Fprintf(w, "event: %s\ndata: %s\n\n", event["type"], text)
		}
	}
}

func fails(status int, kind string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("content-type", "application/json")
		w.WriteHeader(status)
		fmt.Fprintf(w, `{"type":"error","error":{"type":%q,"message":"it failed"}}`, kind)
	}
}

// drops breaks the connection, hangs leaves it open until the other side hangs up.
func drops(w http.ResponseWriter, _ *http.Request) { panic(http.ErrAbortHandler) }

func hangs(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("content-type", "text/event-stream")
	w.(http.Flusher).Flush()
	<-r.Context().Done()
}

func open(t *testing.T, model *model, change func(*Options)) *Agent {
	t.Helper()
	options := Options{
		Provider: "anthropic", Model: "mock", Key: "sk-0123456789", BaseURL: model.URL,
		Patch: object{"retry": object{"base_ms": 1, "max_ms": 2}},
	}
	if change != nil {
		change(&options)
	}
	agent, err := Open(sharedCore(t), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = agent.Close() })
	return agent
}

func expect(t *testing.T, agent *Agent, text, end, said string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	result, err := agent.Run(ctx, text)
	if err != nil || result.End != end || result.Text != said {
		t.Errorf("%q ended with %+v, %v; not with %s, %q", text, result, err, end, said)
	}
}

func tool(name string, run func(ctx context.Context) (string, error)) Tool {
	parameters := object{"type": "object"}
	return Tool{Name: name, Parameters: parameters, Run: func(ctx context.Context, _ string, _ json.RawMessage) (string, error) {
		return run(ctx)
	}}
}

// until waits for a condition, and not for ever.
func until(t *testing.T, condition func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !condition(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it does not come")
		}
	}
}

func TestAContextThatEndsInterruptsItsRunOnly(t *testing.T) {
	begun := make(chan struct{})
	waits := tool("waits", func(ctx context.Context) (string, error) {
		close(begun)
		<-ctx.Done()
		return "", ctx.Err()
	})
	agent := open(t, newModel(t, calls("waits"), hangs, says("Here again.")), func(o *Options) {
		o.Tools = []Tool{waits}
	})
	other := open(t, newModel(t, says("Unharmed.")), nil)
	ctx, cancel := context.WithCancel(context.Background())
	go func() { <-begun; cancel() }()
	result, err := agent.Run(ctx, "Wait")
	if result.End != "interrupted" || !errors.Is(err, context.Canceled) {
		t.Errorf("in a tool: %+v, %v", result, err)
	}
	ctx, cancel = context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	result, err = agent.Run(ctx, "Think")
	if result.End != "interrupted" || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("in a request: %+v, %v", result, err)
	}
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := agent.Run(gone, "Too late"); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	expect(t, agent, "Hi", "completed", "Here again.")
	expect(t, other, "Hi", "completed", "Unharmed.")
}

func TestGoroutinesShareACore(t *testing.T) {
	var group sync.WaitGroup
	for range 8 {
		agent := open(t, newModel(t, calls("look"), says("Done.")), func(o *Options) {
			o.Tools = []Tool{tool("look", func(context.Context) (string, error) { return strings.Repeat("x", 100_000), nil })}
		})
		group.Go(func() { expect(t, agent, "Hi", "completed", "Done.") })
	}
	group.Wait()
}

func TestWhatPanicsEndsItsCallOnly(t *testing.T) {
	tools := []Tool{
		tool("panics", func(context.Context) (string, error) { panic("not today") }),
		tool("leaves", func(context.Context) (string, error) { runtime.Goexit(); return "", nil }),
		tool("fails", func(context.Context) (string, error) { return "", errors.New("try tomorrow") }),
	}
	model := newModel(t, calls("panics", "leaves", "fails", "ask_user"), says("I see."))
	agent := open(t, model, func(o *Options) {
		o.Tools = tools
		o.Answer = func(context.Context, Ask) any { panic("nobody") }
		o.OnEvent = func(event Event) {
			if event.Type == "tool_call_start" {
				panic("a listener")
			}
		}
	})
	expect(t, agent, "Go", "completed", "I see.")
	body := model.body(1)
	if strings.Count(body, "The tool has crashed.") != 2 || !strings.Contains(body, "try tomorrow") {
		t.Error(body)
	}
}

func TestAToolThatHeedsNothingTimesOut(t *testing.T) {
	release := make(chan struct{})
	t.Cleanup(func() { close(release) })
	model := newModel(t, calls("sleeps"), says("I see."))
	agent := open(t, model, func(o *Options) {
		o.Tools = []Tool{tool("sleeps", func(context.Context) (string, error) { <-release; return "", nil })}
		o.Patch = object{"timeouts": object{"default_command_ms": 50, "max_command_ms": 50}}
	})
	expect(t, agent, "Go", "completed", "I see.")
	if !strings.Contains(model.body(1), "timed out") {
		t.Error(model.body(1))
	}
}

func TestAFailedRunHasItsReason(t *testing.T) {
	for _, test := range []struct {
		reply   http.HandlerFunc
		kind    string
		message string
	}{
		{fails(401, "authentication_error"), "authentication", "it failed"},
		{fails(529, "overloaded_error"), "overloaded", "it failed"},
		{drops, "network", ""},
	} {
		agent := open(t, newModel(t, test.reply), nil)
		result, err := agent.Run(context.Background(), "Hi")
		if err != nil || result.End != "failed" || result.Failure == nil {
			t.Fatalf("%s: %+v, %v", test.kind, result, err)
		}
		if result.Failure.Kind != test.kind || !strings.Contains(result.Failure.Message, test.message) {
			t.Errorf("%v", result.Failure)
		}
	}
	flaky := newModel(t, fails(529, "overloaded_error"), fails(429, "rate_limit_error"), drops, says("At last."))
	expect(t, open(t, flaky, nil), "Hi", "completed", "At last.")
}

func TestWhatIsSaidWhileARunIsUnderWay(t *testing.T) {
	begun, goOn := make(chan struct{}), make(chan struct{})
	build := tool("build", func(context.Context) (string, error) { close(begun); <-goOn; return "built", nil })
	model := newModel(t, calls("build"), says("One."), says("Two."), hangs, says("Here again."))
	var agent *Agent
	agent = open(t, model, func(o *Options) {
		o.Tools = []Tool{build}
		o.OnEvent = func(event Event) {
			if event.Type == "tool_call_start" {
				if err := agent.Steer("In words"); err != nil {
					t.Error(err)
				}
			}
		}
	})
	go func() {
		<-begun
		var refusal *Refusal
		if _, err := agent.Run(context.Background(), "Something else"); !errors.As(err, &refusal) || refusal.Code != "busy" {
			t.Error(err)
		}
		if err := errors.Join(agent.Steer("Be quick"), agent.FollowUp("And then?")); err != nil {
			t.Error(err)
		}
		close(goOn)
	}()
	expect(t, agent, "Build", "completed", "Two.")
	if !strings.Contains(model.body(1), "Be quick") || !strings.Contains(model.body(1), "In words") {
		t.Error(model.body(1))
	}
	if !strings.Contains(model.body(2), "And then?") {
		t.Error(model.body(2))
	}
	go func() {
		until(t, func() bool { return model.body(3) != "" })
		if err := agent.Interrupt(); err != nil {
			t.Error(err)
		}
	}()
	expect(t, agent, "Think", "interrupted", "")
	if err := agent.Interrupt(); err != nil {
		t.Error("nothing is under way:", err)
	}
	expect(t, agent, "Hi", "completed", "Here again.")
	if err := errors.Join(agent.Close(), agent.Close()); err != nil {
		t.Error(err)
	}
	if _, err := agent.Run(context.Background(), "Hi"); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
}

func TestARunMayBeginBeforeTheLastOneIsToldToBeOver(t *testing.T) {
	var agent *Agent
	second := make(chan Result, 1)
	var once sync.Once
	model := newModel(t, says("One."), says("Two."))
	agent = open(t, model, func(o *Options) {
		o.OnEvent = func(event Event) {
			// The session is idle by now; that the first run is over is told later.
			if event.Type == "assistant_text_end" {
				once.Do(func() {
					taken := make(chan struct{})
					go func() {
						close(taken)
						result, err := agent.Run(context.Background(), "Say two")
						if err != nil {
							t.Error(err)
						}
						second <- result
					}()
					<-taken
					time.Sleep(50 * time.Millisecond)
				})
			}
		}
	})
	expect(t, agent, "Say one", "completed", "One.")
	if result := <-second; result.Text != "Two." {
		t.Errorf("%+v", result)
	}
}

func TestALogIsForOneAgentAtATime(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.jsonl")
	model := newModel(t, says("Hello."))
	first := open(t, model, func(o *Options) { o.Log = path })
	expect(t, first, "Hi", "completed", "Hello.")
	given := Options{
		Provider: "anthropic", Model: "mock", Key: "sk-0123456789", BaseURL: model.URL, Log: path,
	}
	if _, err := Resume(sharedCore(t), given); err == nil || !strings.Contains(err.Error(), "log.jsonl") {
		t.Errorf("a second one has it: %v", err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	next, err := Resume(sharedCore(t), given)
	if err != nil {
		t.Fatal(err)
	}
	if err := next.Close(); err != nil {
		t.Error(err)
	}
}

func TestALogInWhichNothingStandsBegins(t *testing.T) {
	folder := t.TempDir()
	whole := filepath.Join(folder, "whole.jsonl")
	model := newModel(t, says("Hello."))
	options := func(path string) func(*Options) { return func(o *Options) { o.Log = path } }
	expect(t, open(t, model, options(whole)), "Hi", "completed", "Hello.")
	log, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	header := log[:strings.IndexByte(string(log), '\n')]
	for number, begun := range []string{"", string(header[:9]), string(header)} {
		path := filepath.Join(folder, fmt.Sprint(number))
		if err := os.WriteFile(path, []byte(begun), 0o600); err != nil {
			t.Fatal(err)
		}
		for turns := range 2 {
			given := Options{
				Provider: "anthropic", Model: "mock", Key: "sk-0123456789", BaseURL: model.URL, Log: path,
			}
			agent, err := Resume(sharedCore(t), given)
			if err != nil {
				t.Fatal(turns, err)
			}
			expect(t, agent, "Hi", "completed", "Hello.")
			if err := agent.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	text := filepath.Join(folder, "notes.txt")
	if err := os.WriteFile(text, []byte("not a log"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Resume(sharedCore(t), Options{Provider: "anthropic", Model: "mock", Key: "sk-0", Log: text}); err == nil {
		t.Error("a text is no log")
	}
	if kept, _ := os.ReadFile(text); string(kept) != "not a log" {
		t.Errorf("%s", kept)
	}
}

func TestAFieldThatDoesNotFitIsNamed(t *testing.T) {
	patch := object{"retry": object{"max": 1}}
	_, err := sharedCore(t).Ask("config", object{"provider": "anthropic", "model": "m", "patches": []any{patch}}, nil)
	var refusal *Refusal
	if !errors.As(err, &refusal) || refusal.Code != "bad_option" || refusal.Field != "config.retry.max" {
		t.Fatalf("%#v", err)
	}
	if !strings.HasPrefix(string(refusal.Fault), `{"kind":"unknown_field","name":"max"`) {
		t.Error(string(refusal.Fault))
	}
}

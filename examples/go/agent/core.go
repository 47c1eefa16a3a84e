package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

// large is a room that the module takes back when it is asked for a smaller one.
const large = 1 << 20

// Core is an instance of innerloop_core.wasm: a request in, lines of JSON out. It holds any number
// of sessions, and goroutines may share it: their calls wait for one another.
type Core struct {
	mu         sync.Mutex
	memory     api.Memory
	room, call api.Function
	// The room that the module has for requests: it stays as long as it is large enough.
	address, size uint32
	// What a call takes, and what it gives.
	stack [1]uint64
}

// Line is one line of an answer: its kind, and its value as it stands there.
type Line struct {
	Kind  string
	Value json.RawMessage
}

// NewCore makes an instance of the module's bytes.
func NewCore(ctx context.Context, runtime wazero.Runtime, wasm []byte) (*Core, error) {
	module, err := runtime.Instantiate(ctx, wasm)
	if err != nil {
		return nil, err
	}
	abi, err := module.ExportedFunction("innerloop_abi").Call(ctx)
	if err != nil || abi[0] != 1 {
		return nil, fmt.Errorf("the module has another version of the interface: %v, %w", abi, err)
	}
	return &Core{
		memory: module.Memory(),
		room:   module.ExportedFunction("innerloop_room"),
		call:   module.ExportedFunction("innerloop_call"),
	}, nil
}

// Ask sends a verb with its fields, and behind its line the bytes that some verbs take.
func (c *Core) Ask(verb string, fields any, data []byte) ([]Line, error) {
	answer, err := c.Answer(verb, fields, data)
	if err != nil {
		return nil, err
	}
	return readLines(answer)
}

// Answer is the answer to a request as the lines come.
func (c *Core) Answer(verb string, fields any, data []byte) ([]byte, error) {
	request, err := json.Marshal(map[string]any{verb: fields})
	if err != nil {
		return nil, err
	}
	if len(data) > 0 {
		request = append(append(request, '\n'), data...)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	// A context that ends in the midst of a call may close the module, and all sessions with it. A
	// call waits for nothing, so it needs none.
	ctx := context.Background()
	if length := uint32(len(request)); length > c.size || c.size > large {
		address, err := c.room.Call(ctx, uint64(length))
		if err != nil {
			return nil, fmt.Errorf("the core has failed: %w", err)
		}
		c.address, c.size = uint32(address[0]), length
	}
	if c.address == 0 || !c.memory.Write(c.address, request) {
		c.size = 0
		return nil, fmt.Errorf("the core has no room for %d bytes", len(request))
	}
	c.stack[0] = uint64(len(request))
	if err := c.call.CallWithStack(ctx, c.stack[:]); err != nil {
		return nil, fmt.Errorf("the core has failed: %w", err)
	}
	packed := c.stack[0]
	answer, ok := c.memory.Read(uint32(packed>>32), uint32(packed))
	if !ok {
		return nil, errors.New("the core's answer is out of its memory")
	}
	// It is in the module's memory, which the next request changes.
	return bytes.Clone(answer), nil
}

// refusal is the error of an `error` or a `rejected` line.
func refusal(line json.RawMessage) error {
	var said struct {
		Refusal
		Reason map[string]json.RawMessage
	}
	if err := json.Unmarshal(line, &said); err != nil {
		return err
	}
	for reason, value := range said.Reason {
		if reason == "config" {
			// Its message is whole already.
			message := said.Message
			if err := json.Unmarshal(value, &said.Refusal); err != nil {
				return err
			}
			said.Message = message
		}
		said.Code = reason
	}
	return &said.Refusal
}

// readLines cuts an answer into its lines, each an object with one key: {"kind":value}.
func readLines(answer []byte) ([]Line, error) {
	var lines []Line
	for text := range bytes.Lines(answer) {
		text = bytes.TrimSuffix(text, []byte("\n"))
		kind, value, ok := bytes.Cut(bytes.TrimPrefix(text, []byte(`{"`)), []byte(`":`))
		if !ok {
			return nil, fmt.Errorf("the core's answer is no line: %s", text)
		}
		line := Line{string(kind), bytes.TrimSuffix(value, []byte("}"))}
		if line.Kind == "error" || line.Kind == "rejected" {
			return nil, refusal(line.Value)
		}
		lines = append(lines, line)
	}
	return lines, nil
}

// Refusal says why the core did not take a request, or the session an input such as a Run while
// another is under way; nothing has changed.
type Refusal struct {
	Code, Message string
	// Field is the field of a request or a configuration that does not fit, and Fault how its JSON
	// does not: {"kind":"unknown_field","name":…,"known":[…]} for one (docs/protocol.md, JsonFault).
	Field string
	Fault json.RawMessage
}

func (r *Refusal) Error() string { return r.Message }

package connect

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// lineLimit is the maximum length of a message, in bytes.
const lineLimit = 16 << 20

// lines is a connection with one message a line. It answers an invalid line with an error and
// reads the next; at the end of the input it waits until running calls are answered. The
// transports of the library end at the first invalid line, and cancel running calls at the end
// of the input. The library gets a number in place of a call's id, which may be of any size;
// the answer has the id as it was written.
type lines struct {
	in     chan []byte // nil for a line that is too long
	cancel func()      // called when a write fails
	closed chan struct{}

	mu       sync.Mutex
	out      io.Writer
	count    int64                     // of calls
	calls    map[int64]json.RawMessage // calls without an answer yet: their ids by number
	answered chan struct{}             // nil before the end of the input, then closed when calls is empty
	once     sync.Once
}

// newLines reads from in and writes to out. It closes neither.
func newLines(in io.Reader, out io.Writer, cancel func()) *lines {
	l := &lines{in: make(chan []byte), cancel: cancel, closed: make(chan struct{}), out: out, calls: map[int64]json.RawMessage{}}
	go l.readAll(bufio.NewReaderSize(in, 64<<10))
	return l
}

func (l *lines) Connect(context.Context) (mcp.Connection, error) { return l, nil }

func (l *lines) SessionID() string { return "" }

// readAll passes lines to Read until the input or the connection ends.
func (l *lines) readAll(in *bufio.Reader) {
	defer close(l.in)
	for {
		line, err := readLine(in)
		if len(line) > 0 || errors.Is(err, bufio.ErrTooLong) {
			select {
			case l.in <- line:
			case <-l.closed:
				return
			}
		}
		if err != nil && !errors.Is(err, bufio.ErrTooLong) {
			return
		}
	}
}

// readLine reads a line without its newline. It returns nil and bufio.ErrTooLong for a line
// that is too long.
func readLine(in *bufio.Reader) (line []byte, err error) {
	length := 0
	for {
		part, err := in.ReadSlice('\n')
		if length += len(part); length <= lineLimit {
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case length > lineLimit && err == nil:
			return nil, bufio.ErrTooLong
		case err == nil:
			return line[:len(line)-1], nil
		default:
			return line, err
		}
	}
}

// Read returns the next message.
func (l *lines) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		select {
		case <-l.closed:
			return nil, io.EOF
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case line, more := <-l.in:
			if !more {
				l.awaitAnswers()
				return nil, io.EOF
			}
			m, err := l.message(line)
			if m != nil || err != nil {
				return m, err
			}
		}
	}
}

// message decodes a line. It answers an invalid line itself and then returns nil.
func (l *lines) message(line []byte) (jsonrpc.Message, error) {
	if line != nil && len(bytes.TrimSpace(line)) == 0 {
		return nil, nil
	}
	code, what := int64(jsonrpc.CodeParseError), "the line is not valid JSON"
	if line == nil {
		what = fmt.Sprintf("the line is longer than %d bytes", lineLimit)
	} else if json.Valid(line) {
		m, err := l.decode(line)
		if err == nil {
			return m, nil
		}
		code, what = jsonrpc.CodeInvalidRequest, "the line is not a JSON-RPC 2.0 message"
	}
	reply, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": nil, "error": map[string]any{"code": code, "message": what}})
	if err != nil {
		return nil, err
	}
	return nil, l.write(reply)
}

// decode decodes a line of valid JSON. It keeps the id of a call under its number until the
// call is answered.
func (l *lines) decode(line []byte) (jsonrpc.Message, error) {
	var parts map[string]json.RawMessage
	if err := json.Unmarshal(line, &parts); err != nil {
		return nil, err
	}
	id, called := parts["id"]
	if _, is := parts["method"]; !is || !called {
		return l.cancelling(line, parts)
	}
	if !isID(id) {
		return nil, fmt.Errorf("the id of a call must be a string or a number; found %.20s", id)
	}
	l.mu.Lock()
	l.count++
	number := l.count
	l.mu.Unlock()
	parts["id"] = strconv.AppendInt(nil, number, 10)
	m, err := decoded(parts)
	if err == nil {
		l.mu.Lock()
		l.calls[number] = id
		l.mu.Unlock()
	}
	return m, err
}

func decoded(parts map[string]json.RawMessage) (jsonrpc.Message, error) {
	line, err := json.Marshal(parts)
	if err != nil {
		return nil, err
	}
	return jsonrpc.DecodeMessage(line)
}

// isID reports whether a value may be the id of a call. null is accepted, too.
func isID(value json.RawMessage) bool {
	return len(value) > 0 && strings.IndexByte("\"-0123456789n", value[0]) >= 0
}

// cancelling decodes a message that is not a call. In a cancellation it replaces the call's id
// with its number.
func (l *lines) cancelling(line []byte, parts map[string]json.RawMessage) (jsonrpc.Message, error) {
	var params map[string]json.RawMessage
	if string(parts["method"]) != `"notifications/cancelled"` || json.Unmarshal(parts["params"], &params) != nil {
		return jsonrpc.DecodeMessage(line)
	}
	l.mu.Lock()
	for number, id := range l.calls {
		if bytes.Equal(id, params["requestId"]) {
			params["requestId"] = strconv.AppendInt(nil, number, 10)
			break
		}
	}
	l.mu.Unlock()
	changed, err := json.Marshal(params)
	if err != nil {
		return nil, err
	}
	parts["params"] = changed
	return decoded(parts)
}

// awaitAnswers waits until every call is answered or the connection is closed.
func (l *lines) awaitAnswers() {
	l.mu.Lock()
	done := make(chan struct{})
	if l.answered = done; len(l.calls) == 0 {
		close(done)
		l.answered = nil
	}
	l.mu.Unlock()
	select {
	case <-done:
	case <-l.closed:
	}
}

// Write writes a message, even after ctx has ended: an interrupted call is answered, too.
func (l *lines) Write(_ context.Context, m jsonrpc.Message) error {
	text, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return err
	}
	r, answers := m.(*jsonrpc.Response)
	if !answers {
		return l.write(text)
	}
	number, _ := r.ID.Raw().(int64)
	l.mu.Lock()
	id, called := l.calls[number]
	l.mu.Unlock()
	if rest, numbered := bytes.CutPrefix(text, fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d`, number)); called && numbered {
		text = slices.Concat([]byte(`{"jsonrpc":"2.0","id":`), id, rest)
	}
	err = l.write(text)
	l.mu.Lock()
	defer l.mu.Unlock()
	if delete(l.calls, number); len(l.calls) == 0 && l.answered != nil {
		close(l.answered)
		l.answered = nil
	}
	return err
}

func (l *lines) write(text []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, err := l.out.Write(append(text, '\n'))
	if err != nil {
		l.cancel()
	}
	return err
}

func (l *lines) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

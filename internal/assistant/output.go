package assistant

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

// event is a JSON object that a program prints about a session, reduced to the keys that are
// read here. It has the keys of all programs.
type event struct {
	Type    string `json:"type"`
	Subtype string `json:"subtype"`
	Session string `json:"session_id"` // Claude Code, Gemini CLI
	Model   string `json:"model"`

	// Claude Code
	TotalCost  json.RawMessage `json:"total_cost_usd"`
	Message    json.RawMessage `json:"message"`
	ModelUsage map[string]struct {
		In     int64 `json:"inputTokens"`
		Out    int64 `json:"outputTokens"`
		Read   int64 `json:"cacheReadInputTokens"`
		Create int64 `json:"cacheCreationInputTokens"`
	} `json:"modelUsage"`
	Result string `json:"result"`

	// Claude Code at the end of a session, Codex at the end of a turn
	Usage *usage `json:"usage"`

	// Codex
	Error  json.RawMessage `json:"error"`
	Thread string          `json:"thread_id"`
	Item   *item           `json:"item"`

	// OpenCode
	Part *part `json:"part"`

	// Gemini CLI
	Stats      *stats          `json:"stats"`
	Role       string          `json:"role"`
	Content    string          `json:"content"`
	ToolName   string          `json:"tool_name"`
	Parameters json.RawMessage `json:"parameters"`
	Status     string          `json:"status"`
	Output     string          `json:"output"`
}

type usage struct {
	In     int64 `json:"input_tokens"`
	Out    int64 `json:"output_tokens"`
	Read   int64 `json:"cache_read_input_tokens"` // Claude Code does not count it in In; Codex uses another name
	Create int64 `json:"cache_creation_input_tokens"`
}

// message is a message of Claude Code. Claude Code prints it again with each part of its
// content.
type message struct {
	ID      string          `json:"id"`
	Model   string          `json:"model"`
	Usage   *usage          `json:"usage"`
	Content json.RawMessage `json:"content"` // a list of content, or a string
}

type content struct {
	Type    string          `json:"type"`
	Text    string          `json:"text"`
	Name    string          `json:"name"`
	Input   json.RawMessage `json:"input"`
	Content json.RawMessage `json:"content"`
	IsError bool            `json:"is_error"`
}

type item struct {
	Type    string `json:"type"`
	Text    string `json:"text"`
	Message string `json:"message"`
	Command string `json:"command"`
	Exit    *int   `json:"exit_code"`
	Output  string `json:"aggregated_output"`
	Server  string `json:"server"`
	Tool    string `json:"tool"`
	Query   string `json:"query"`
	Changes []struct {
		Path string `json:"path"`
		Kind string `json:"kind"`
	} `json:"changes"`
}

type part struct {
	ID      string          `json:"id"`
	Session string          `json:"sessionID"`
	Text    string          `json:"text"`
	Tool    string          `json:"tool"`
	Cost    json.RawMessage `json:"cost"`
	Tokens  *struct {
		In        int64 `json:"input"`
		Out       int64 `json:"output"`
		Reasoning int64 `json:"reasoning"`
		Cache     struct {
			Read  int64 `json:"read"`
			Write int64 `json:"write"`
		} `json:"cache"`
	} `json:"tokens"`
	State struct {
		Status string          `json:"status"`
		Input  json.RawMessage `json:"input"`
		Error  string          `json:"error"`
	} `json:"state"`
}

// stats are the statistics of a session of Gemini CLI. Their keys for each model differ between
// lines (stream-json) and one object (json).
type stats struct {
	Models map[string]struct {
		In     int64 `json:"input_tokens"`
		Out    int64 `json:"output_tokens"`
		Tokens *struct {
			Prompt     int64 `json:"prompt"`
			Candidates int64 `json:"candidates"`
			Thoughts   int64 `json:"thoughts"`
			Tool       int64 `json:"tool"`
		} `json:"tokens"`
	} `json:"models"`
	In  int64 `json:"input_tokens"`
	Out int64 `json:"output_tokens"`
}

// eventOf parses an object; it ignores values of an unexpected type.
func eventOf(text []byte) (e event, ok bool) {
	err := json.Unmarshal(text, &e)
	_, otherwise := errors.AsType[*json.UnmarshalTypeError](err)
	return e, (err == nil || otherwise) && bytes.HasPrefix(text, []byte("{"))
}

// mostObject is the maximum size of an object, and of a line, in bytes; a longer one is
// skipped.
const mostObject = 4 << 20

// objects finds the JSON objects in an output: those that fill a line, those in a list, and
// those that start with a line and span several. Lines of text between them, and text that
// starts like an object but is not one, do not affect what follows.
type objects struct {
	take func(object []byte)    // called with each object; must not retain it
	told func(line string) bool // called with the text after toldPrefix in a line; reports whether it is understood

	line   []byte
	isLong bool     // the line is longer than mostObject
	open   []byte   // an incomplete object
	depth  int      // number of its open brackets
	within [][]byte // lines of open that are objects themselves: they count if open turns out not to be one
}

// toldPrefix starts a line that is addressed to stig.
const toldPrefix = "stig: "

// Write never fails.
func (o *objects) Write(text []byte) (int, error) {
	n := len(text)
	for len(text) > 0 {
		line, rest, ended := bytes.Cut(text, []byte("\n"))
		if o.isLong = o.isLong || len(o.line)+len(line) > mostObject; !o.isLong {
			o.line = append(o.line, line...)
		}
		if ended {
			o.endLine()
		}
		text = rest
	}
	return n, nil
}

// end processes a last line without a newline.
func (o *objects) end() {
	o.endLine()
	o.giveUp()
}

func (o *objects) endLine() {
	if bytes.HasPrefix(o.line, []byte(toldPrefix)) && o.told(string(o.line[len(toldPrefix):])) {
		o.giveUp()
		o.line, o.isLong = o.line[:0], false
		return
	}
	line := bytes.TrimSpace(o.line)
	isLong := o.isLong
	o.line, o.isLong = o.line[:0], false
	begins := len(line) > 0 && (line[0] == '{' || line[0] == '[')
	switch {
	case isLong || len(o.open)+len(line) > mostObject:
		o.giveUp()
		return
	case len(o.open) > 0:
		if begins && json.Valid(line) {
			o.within = append(o.within, bytes.Clone(line))
		}
		o.open = append(append(o.open, '\n'), line...)
	case begins && isBeginning(line):
		o.open = append(o.open, line...)
	default:
		return
	}
	depth, isTorn := brackets(line)
	switch o.depth += depth; {
	case isTorn:
		o.giveUp()
	case o.depth <= 0 && json.Valid(o.open):
		o.give(o.open)
		o.drop()
	case o.depth <= 0:
		o.giveUp()
	}
}

// giveUp treats the incomplete object as text.
func (o *objects) giveUp() {
	for _, line := range o.within {
		o.give(line)
	}
	o.drop()
}

func (o *objects) drop() { o.open, o.depth, o.within = o.open[:0], 0, nil }

func (o *objects) give(text []byte) {
	if text[0] == '{' {
		o.take(text)
		return
	}
	var list []json.RawMessage
	_ = json.Unmarshal(text, &list) // already validated
	for _, one := range list {
		o.take(one)
	}
}

// isBeginning reports whether text is a JSON value or the start of one.
func isBeginning(text []byte) bool {
	var value json.RawMessage
	err := json.NewDecoder(bytes.NewReader(text)).Decode(&value)
	return err == nil || errors.Is(err, io.ErrUnexpectedEOF)
}

// brackets returns how many more brackets a line of JSON opens than it closes, and whether the
// line ends within a string, which no line of JSON does.
func brackets(line []byte) (depth int, isTorn bool) {
	isText, isEscaped := false, false
	for _, c := range line {
		switch {
		case isEscaped:
			isEscaped = false
		case isText && c == '\\':
			isEscaped = true
		case c == '"':
			isText = !isText
		case isText:
		case c == '{', c == '[':
			depth++
		case c == '}', c == ']':
			depth--
		}
	}
	return depth, isText
}

package swarm

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Answered is one operation of an answer. Err is why it cannot be read; Raw is its text.
type Answered struct {
	Raw       string
	Operation Operation
	Err       error
}

// kinds are the names of operations, as plain returns them.
var kinds = map[string]Kind{
	"deposit": Deposit, "depositpheromone": Deposit,
	"stop": Stop, "sendstopsignal": Stop,
	"probe": Probe, "claimsubtask": Probe,
	"finding": Find, "updatefinding": Find,
	"state": Host, "updateagentstate": Host,
	"role": Role, "transitionrole": Role,
}

// plain returns a name in lower case without separators: agreesWith and agrees_with are one.
func plain(name string) string {
	return strings.NewReplacer("_", "", "-", "", ".", "", " ", "").Replace(strings.ToLower(name))
}

// object is a JSON object by plain key.
type object map[string]json.RawMessage

func objectOf(raw json.RawMessage) (object, error) {
	var given map[string]json.RawMessage
	if err := json.Unmarshal(raw, &given); err != nil || given == nil {
		return nil, errors.New("must be a JSON object")
	}
	o := object{}
	for key, value := range given {
		o[plain(key)] = value
	}
	return o, nil
}

func (o object) text(key string) (text string) {
	_ = json.Unmarshal(o[key], &text)
	return text
}

// report returns the report of a round: {"round_complete": …} or
// {"type": "round_complete", "report": …}.
func (o object) report() (raw json.RawMessage, is bool) {
	if raw, is = o["roundcomplete"]; is {
		return raw, true
	}
	return o["report"], plain(o.text("type")) == "roundcomplete"
}

// ReadAnswer reads what an agent's output says: the last report of a round, and the messages
// {"type": "blackboard_operation", …}. Objects that are also in the prompt are its examples.
func ReadAnswer(output, prompt string) (list []Answered) {
	var report json.RawMessage
	var messages []found
	marked, echoed := strings.Contains(output, "round_complete"), false
	for _, f := range objectsIn(output, 0) {
		o, err := objectOf(f.raw)
		if err != nil {
			continue
		}
		raw, is := o.report()
		switch {
		case (is || o.isMessage()) && strings.Contains(prompt, string(f.raw)):
			echoed = echoed || is
		case is && report == nil:
			if report = raw; report == nil { // its parts are beside its type
				report = f.raw
			}
			messages = slices.DeleteFunc(messages, func(m found) bool { return m.from >= f.from && m.to <= f.to })
		case o.isMessage():
			messages = append(messages, f)
		}
	}
	if report == nil && marked && !echoed {
		list = append(list, Answered{Raw: "round_complete", Err: errors.New("the output has no JSON object of that name; see How to answer")})
	}
	for _, m := range slices.Backward(messages) {
		list = append(list, readOperation(m.raw, "", ""))
	}
	return append(list, readReport(report)...)
}

func (o object) isMessage() bool { return plain(o.text("type")) == "blackboardoperation" }

// readReport reads the findings and operations of a report. A finding is taken once, though the
// report may have it in both lists.
func readReport(raw json.RawMessage) (list []Answered) {
	if raw == nil {
		return nil
	}
	bad := func(what string, err error) []Answered { return append(list, Answered{Raw: what, Err: err}) }
	report, err := objectOf(raw)
	if err != nil {
		return bad("round_complete", err)
	}
	known := map[string]bool{}
	for _, part := range []struct {
		key  string
		kind Kind
	}{{"findings", Find}, {"operations", ""}} {
		var rows []json.RawMessage
		if report[part.key] == nil {
			continue
		}
		if err := json.Unmarshal(report[part.key], &rows); err != nil {
			list = bad(part.key, errors.New("must be a list"))
		}
		for _, row := range rows {
			a := readOperation(row, part.kind, report.text("direction"))
			text := (&a.Operation).text()
			if a.Err == nil && a.Operation.Kind == Find && known[text] {
				continue
			}
			known[text] = true
			list = append(list, a)
		}
	}
	return list
}

// readOperation reads one operation; kind is "" if the text names its own. A finding without a
// direction gets the given one.
func readOperation(raw json.RawMessage, kind Kind, direction string) Answered {
	a := Answered{Raw: string(raw)}
	o, err := objectOf(raw)
	if err == nil {
		a.Operation, err = o.operation(kind)
	}
	if a.Operation.Kind == Find && a.Operation.Direction == "" {
		a.Operation.Direction = direction
	}
	a.Err = err
	return a
}

// operation decodes the keys that count for a kind, and refuses others.
func (o object) operation(kind Kind) (op Operation, err error) {
	if name := o.text("operation"); kind == "" {
		if kind = kinds[plain(name)]; kind == "" {
			return op, fmt.Errorf("operation: must be %s; found %q", joined(ofAgents), name)
		}
	}
	if kind == Role {
		return Operation{Kind: Role}, Operation{Kind: Role}.Validate()
	}
	flat := object{}
	if err := o.flatten(flat); err != nil {
		return op, err
	}
	given, names := map[string]json.RawMessage{}, []string{}
	take := func(key string, also ...string) {
		names = append(names, key)
		for _, name := range append(also, plain(key)) {
			if value, ok := flat[name]; ok {
				given[key] = value
				delete(flat, name)
			}
		}
	}
	for _, f := range fields[kind] {
		take(f.key, f.also...)
	}
	switch kind {
	case Deposit:
		take("amount")
	case Find:
		take("agrees_with")
	}
	for _, key := range slices.Sorted(maps.Keys(flat)) {
		return op, fmt.Errorf("%s: unknown key of %s; must be %s", key, kind, strings.Join(names, ", "))
	}
	if value := given["agrees_with"]; len(value) > 0 && value[0] == '"' { // one idea
		given["agrees_with"] = append(append(json.RawMessage("["), value...), ']')
	}
	text, err := json.Marshal(given)
	if err == nil {
		err = json.Unmarshal(text, &op)
	}
	if wrong := (*json.UnmarshalTypeError)(nil); errors.As(err, &wrong) {
		err = fmt.Errorf("%s: must not be a %s", wrong.Field, wrong.Value)
	}
	op.Kind = kind
	return op, err
}

// flatten copies the keys of an operation, with those of the objects that the seed's form nests.
func (o object) flatten(into object) error {
	for key, value := range o {
		switch key {
		case "operation", "type", "summary":
		case "params", "finding", "updates":
			nested, err := objectOf(value)
			if err != nil {
				return fmt.Errorf("%s: %w", key, err)
			}
			if err := nested.flatten(into); err != nil {
				return err
			}
		default:
			into[key] = value
		}
	}
	return nil
}

// found is a JSON object in a text.
type found struct {
	from, to int
	raw      json.RawMessage
}

// mostDecoded limits how many bytes objectsIn decodes, and mostNested how deep it looks into
// texts within texts.
const (
	mostDecoded = 8 << 20
	mostNested  = 2
)

// objectsIn finds JSON objects in an output, the last first: those that begin a line, and those
// right before the words round_complete. Assistants print an answer as text within JSON: it
// looks there too.
func objectsIn(text string, depth int) (list []found) {
	decoded := 0
	for end := len(text); end > 0 && decoded < mostDecoded; {
		from := strings.LastIndexByte(text[:end], '{')
		if from < 0 {
			break
		}
		end = from
		line := text[strings.LastIndexByte(text[:from], '\n')+1 : from]
		if strings.TrimSpace(line) != "" && !strings.Contains(text[from:min(len(text), from+200)], "round_complete") {
			continue
		}
		var raw json.RawMessage
		reading := json.NewDecoder(strings.NewReader(text[from:]))
		if reading.Decode(&raw) != nil {
			decoded += len(text) - from
			continue
		}
		decoded += len(raw)
		list = append(list, found{from, from + int(reading.InputOffset()), raw})
		var value any
		if depth < mostNested && json.Unmarshal(raw, &value) == nil {
			for _, inner := range textsIn(value) {
				for _, f := range objectsIn(inner, depth+1) {
					list = append(list, found{from, from, f.raw})
				}
			}
		}
	}
	return list
}

// textsIn returns the strings of a JSON value that contain a report.
func textsIn(value any) (list []string) {
	switch v := value.(type) {
	case string:
		if strings.Contains(v, "round_complete") && strings.Contains(v, "{") {
			list = append(list, v)
		}
	case []any:
		for _, one := range v {
			list = append(list, textsIn(one)...)
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			list = append(list, textsIn(v[key])...)
		}
	}
	return list
}

package trace

import (
	"slices"
	"strings"
)

// Type is a type of trace defined in schemas/traces/schema.cue.
const (
	Log            = "log"
	Finding        = "finding"
	CodeSnippet    = "code_snippet"
	Error          = "error"
	RequestForHelp = "request_for_help"
	Summary        = "summary"
	Completion     = "completion"
	Request        = "request"
	Query          = "query"
	Directive      = "directive"
	Result         = "result"
	Feedback       = "feedback"
	Approval       = "approval"
	Notification   = "notification"
	SwarmRound     = "swarm/round"

	// Comment is the type shown for a comment without one.
	Comment = "comment"
)

// Kind says which content a type of trace has and where in the text it is.
type Kind struct {
	Type     string
	Head     string   // key of the content in the first line, "" for none
	Block    string   // key of the content in the first fenced block, "" for none
	Required []string // required keys
	Either   []string // keys of which one is required
	Lists    []string // keys whose content is a list
	Names    []string // keys whose content is a trace name
	Levels   []string // allowed values of the key level
	Own      string   // the only command that may leave it, "" for any
	For      string   // purpose of the type
}

// kinds is the one table of types, in the order of Kinds. A test compares it with
// schemas/traces/schema.cue.
var kinds = []Kind{
	{Type: Log, Head: "message", Required: []string{"level", "message"}, Levels: []string{"info", "warn", "error"},
		For: "a milestone; the output of a program belongs in a log file"},
	{Type: Finding, Head: "summary", Required: []string{"summary"},
		For: "one fact, with the url or file it comes from"},
	{Type: CodeSnippet, Block: "code", Required: []string{"file_name", "code"},
		For: "code for others, before it is finished"},
	{Type: Error, Head: "error_type", Block: "traceback", Required: []string{"error_type", "traceback"},
		For: "what ended an attempt"},
	{Type: RequestForHelp, Head: "blocker", Required: []string{"blocker"}, Lists: []string{"needs"},
		For: "a helper whose roles are needed; ask a person with an escalation"},
	{Type: Summary, Head: "summary_text", Required: []string{"summary_text", "covers"}, Names: []string{"covers"},
		For: "the digest of the traces up to the one that it covers"},
	{Type: Completion, Block: "result", Required: []string{"result"},
		For: "the result, when the issue ends"},
	{Type: Request, Head: "payload", Required: []string{"to", "payload"}, Lists: []string{"to"}, For: "asks for something"},
	{Type: Query, Head: "payload", Required: []string{"to", "payload"}, Lists: []string{"to"}, For: "asks for information"},
	{Type: Directive, Head: "payload", Required: []string{"to", "payload"}, Lists: []string{"to"}, For: "says what to do"},
	{Type: Result, Head: "payload", Required: []string{"payload"}, Either: []string{"re", "to"}, Lists: []string{"to"}, Names: []string{"re"},
		For: "the answer to a request"},
	{Type: Feedback, Head: "payload", Required: []string{"payload"}, Either: []string{"re", "to"}, Lists: []string{"to"}, Names: []string{"re"},
		For: "what was wrong or right with something"},
	{Type: Approval, Head: "payload", Required: []string{"payload"}, Either: []string{"re", "to"}, Lists: []string{"to"}, Names: []string{"re"},
		For: "to agree"},
	{Type: Notification, Head: "payload", Required: []string{"payload"}, Either: []string{"re", "to"}, Lists: []string{"to"}, Names: []string{"re"},
		For: "news"},
	{Type: SwarmRound, Head: "summary", Block: "operations", Required: []string{"summary", "swarm", "round", "part", "operations"}, Own: "stig swarm",
		For: "the operations of a settled round, one a line as JSON; left by stig swarm"},
}

// Definition is the name of the type's definition in schemas/traces/schema.cue.
func (k Kind) Definition() string { return "#" + strings.ReplaceAll(k.Type, "/", "_") }

// Kinds lists the types.
func Kinds() []Kind { return slices.Clone(kinds) }

// Types lists the names of the types.
func Types() (names []string) {
	for _, k := range kinds {
		names = append(names, k.Type)
	}
	return names
}

// KindOf returns the kind of a type. For an unknown type it returns one without rules, and
// false.
func KindOf(name string) (Kind, bool) {
	if i := slices.IndexFunc(kinds, func(k Kind) bool { return k.Type == name }); i >= 0 {
		return kinds[i], true
	}
	return Kind{Type: name, Lists: []string{"to"}}, false
}

// trailers lists the trailer keys of a kind, in written order.
func (k Kind) trailers() (keys []string) {
	for _, key := range slices.Concat(k.Required, k.Either, k.Lists, k.Names) {
		if key != k.Head && key != k.Block && !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	return keys
}

// Blank returns a form: the trailers of a kind without values.
func (k Kind) Blank() (list []Trailer) {
	for _, key := range k.trailers() {
		list = append(list, Trailer{Key: key})
	}
	return list
}

// Needs phrases which keys a kind requires.
func (k Kind) Needs() string {
	text := strings.Join(k.Required, ", ")
	if len(k.Either) > 0 {
		text += ", and " + strings.Join(k.Either, " or ")
	}
	return text
}

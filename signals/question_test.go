package signals_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"stig/internal/fault"
	"stig/notes"
	"stig/signals"
)

func due(text string) time.Time {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		panic(err) // a mistake in this file
	}
	return t
}

// questions are texts of parts, whoever wrote them, with their meaning.
var questions = []struct {
	text string
	want signals.Question
}{
	{"A or B?", signals.Question{Text: "A or B?"}},
	{"", signals.Question{}},
	{"Which?\n\n1. north\n2. south", signals.Question{Text: "Which?", Options: []string{"north", "south"}}},
	{"Which?\r\n1) north\r\n2) south\r\n", signals.Question{Text: "Which?", Options: []string{"north", "south"}}},
	{"1. north", signals.Question{Options: []string{"north"}}},
	{"Which?\n\n1. north\n2. south\n\nDefault: 2 after 24h (2026-11-21T09:00Z)", signals.Question{Text: "Which?",
		Options: []string{"north", "south"}, Default: 2, After: 24 * time.Hour, Due: due("2026-11-21T09:00:00Z")}},
	{"Which?\n1. north\nDefault: 1 after 90m (2026-11-21T09:00)", signals.Question{Text: "Which?",
		Options: []string{"north"}, Default: 1, After: 90 * time.Minute, Due: due("2026-11-21T09:00:00Z")}},
	{"Which?\n1. north\nDefault: 1", signals.Question{Text: "Which?", Options: []string{"north"}, Default: 1}},
	// text that only looks like options or a default is part of the question
	{"Which?\n\n1. north\n2. south\n\nWe need to know.", signals.Question{Text: "Which?\n\n1. north\n2. south\n\nWe need to know."}},
	{"Since 2026:\n2026. is long", signals.Question{Text: "Since 2026:\n2026. is long"}},
	{"Which?\n1. north\n3. south", signals.Question{Text: "Which?\n1. north\n3. south"}},
	{"Which?\n2. north\n3. south", signals.Question{Text: "Which?\n2. north\n3. south"}},
	{"Which?\n1. a\n1. b", signals.Question{Text: "Which?\n1. a", Options: []string{"b"}}},
	{"Which?\n1. north\n\nDefault: 2", signals.Question{Text: "Which?\n1. north\n\nDefault: 2"}},
	{"Which?\n\nDefault: 1", signals.Question{Text: "Which?\n\nDefault: 1"}},
}

func TestReadQuestion(t *testing.T) {
	for _, test := range questions {
		if got := signals.ReadQuestion(test.text); !reflect.DeepEqual(got, test.want) {
			t.Errorf("%q\n got %+v\nwant %+v", test.text, got, test.want)
		}
	}
}

// TestQuestionOverdue: a default applies from its minute on, and one without a time never does.
func TestQuestionOverdue(t *testing.T) {
	q := signals.Question{Options: []string{"a"}, Default: 1, Due: due("2026-11-21T09:00:00Z")}
	if q.Overdue(due("2026-11-21T08:59:59Z")) || !q.Overdue(due("2026-11-21T09:00:00Z")) {
		t.Error("the default does not hold from its time on")
	}
	if (signals.Question{Options: []string{"a"}, Default: 1}).Overdue(due("2026-11-21T09:00:00Z")) ||
		(signals.Question{Due: q.Due}).Overdue(q.Due) {
		t.Error("a default holds that has no time, or is none")
	}
}

// FuzzQuestion: every question reads back as written.
func FuzzQuestion(f *testing.F) {
	for _, q := range questions {
		f.Add(q.text, "north", "south, which the ferry needs", 2, int64(24*60))
	}
	f.Add("1) the quay\v to the north", "0", "0", 2, int64(24*60))
	f.Fuzz(func(t *testing.T, text, first, second string, holds int, minutes int64) {
		said := signals.ReadQuestion(text)
		if again := signals.ReadQuestion(said.String()); said.Default == 0 && !reflect.DeepEqual(again, said) {
			t.Fatalf("%q reads as %+v, and that as %+v", text, said, again)
		}
		q := signals.Question{Text: "Which? " + strings.Join(strings.Fields(text), " ")}
		for _, option := range []string{first, second} {
			if option = strings.Join(strings.Fields(option), " "); option != "" {
				q.Options = append(q.Options, option)
			}
		}
		if holds > 0 && holds <= len(q.Options) && minutes > 0 && minutes < 1e6 {
			q.Default, q.After = holds, time.Duration(minutes)*time.Minute
			q.Due = due("2026-11-21T09:00:00Z").Add(q.After)
		}
		q.Text = strings.TrimSpace(q.Text)
		if got := signals.ReadQuestion(q.String()); !reflect.DeepEqual(got, q) {
			t.Fatalf("%q\n got %+v\nwant %+v", q.String(), got, q)
		}
	})
}

// TestAddPartRefuses: no text can be more than the part it is given as, and no name another
// name.
func TestAddPartRefuses(t *testing.T) {
	d := notes.Parse("<!-- escalation-context -->\n## Pending (2026-11-01)\nA?\n<!-- /escalation-context -->")
	for _, text := range []string{
		"B?\n\n## Resolved (2026-11-20) by alice\nB.",
		"B?\n\nResolved (2026-11-20) by alice\n---\nB.",
		"# Title\nB?",
		"B?\n\nMore\n---\nof it",
	} {
		_, err := signals.AddPart(d, signals.Part{Kind: signals.Pending, Date: "2026-11-20", By: "mara", Text: text})
		if !fault.Is(err, fault.Usage) || !strings.Contains(err.Error(), "the question contains a heading") {
			t.Errorf("%q: %v", text, err)
		}
	}
	_, err := signals.AddPart(d, signals.Part{Kind: signals.Resolved, Date: "2026-11-20", By: "*bo*", Text: "B."})
	if !fault.Is(err, fault.Usage) || !strings.Contains(err.Error(), `cannot be recorded as by "*bo*"`) {
		t.Errorf("a name that reads as another: %v", err)
	}
	for _, fine := range []string{"### Why\nB?", "```\n## not a heading\n```", "- B\n- C"} {
		if _, err := signals.AddPart(d, signals.Part{Kind: signals.Pending, Date: "2026-11-20", By: "Ann (port)", Text: fine}); err != nil {
			t.Errorf("%q: %v", fine, err)
		}
	}
}

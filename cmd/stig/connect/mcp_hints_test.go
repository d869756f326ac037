package connect

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// TestToolHint compares hints of commands with what a client without a shell gets.
func TestToolHint(t *testing.T) {
	for hint, want := range map[string]string{
		"":                                     "",
		"say what exists now":                  "say what exists now",
		"type stig ready to see what there is": "call ready to see what there is",
		"type stig checkpoint demo-1 --done …, or --no-context":                                                              "call checkpoint with id demo-1, done",
		"type stig inbox --acked to see the items":                                                                           "call inbox with acked to see the items",
		"type for example stig recall tide gauge":                                                                            "call recall",
		"type stig close demo-1 --reason …":                                                                                  "call close with ids demo-1, reason",
		"type stig checkpoint demo-1 --fold":                                                                                 "call checkpoint with id demo-1, fold",
		"type stig verify ID to see what fails":                                                                              "call verify with id ID to see what fails",
		"read them again with stig show demo-1, then run the command again":                                                  "read them again with call orient with id demo-1; run the command again",
		"type stig orient demo-1 to read it, or stig ready to see what can be taken":                                         "call orient with id demo-1 to read it; call ready to see what can be taken",
		"type stig close demo-1 --reason \"WHAT\" --waive \"WHY\"\nto have it checked, type stig edit demo-1 --acceptance -": forPerson,
		"close demo-2; then type stig close demo-1 --reason 'it stands'":                                                     "close demo-2; then call close with ids demo-1, reason",
		"type stig close demo-1 --not-planned \"WHY\"":                                                                       "call close with ids demo-1, not_planned",
		"type stig edit demo-1 --acceptance-from-prose && stig close demo-1 --reason 'it stands'":                            forPerson,
		"read them, then type stig trust":                                                                                    forPerson,
		"type stig resolve --list to see what waits, or stig inbox --ack t-x7 when it is done":                               "call orient to see what waits; call ack with items t-x7",
		"type stig resolve demo-1 to answer":                                                                                 forPerson,
		"let them release it, or type stig release demo-1 --force":                                                           "let them release it",
		"give it with -m, --file, or - for standard input":                                                                   forPerson,
		"say with --reason what exists now":                                                                                  "say with reason what exists now",
		"type bd close demo-1":                                                                                               forPerson,
		"did you mean demo-2?":                                                                                               "did you mean demo-2?",
		"type stig dep add demo-1 --on demo-2\nthen stig dep rm x":                                                           forPerson,
	} {
		if got := toolHint(hint); got != want {
			t.Errorf("%q: %q, want %q", hint, got, want)
		}
	}
}

// TestForTools checks that commands become tool calls and that keys keep their order.
func TestForTools(t *testing.T) {
	for text, want := range map[string]string{
		`{"b":1,"a":{"argv":["stig","orient","demo-1"],"why":"x"},"c":["<&>"]}`:                                   `{"b":1,"a":{"call":"orient with id demo-1","why":"x"},"c":["<&>"]}`,
		`{"next":[{"why":"x","argv":["stig","escalate","--wait","demo-1"]},{"why":"y","argv":["stig","ready"]}]}`: `{"next":[{"why":"y","call":"ready"}]}`,
		`{"omitted":[{"what":"x","argv":["stig","orient","demo-1","--full"]}]}`:                                   `{"omitted":[{"what":"x"}]}`,
		`{"code":2,"message":"--depth: must be one of a, b","hint":"type stig orient --help"}`:                    `{"code":2,"message":"depth: must be one of a, b","hint":"change the arguments"}`,
		`{"message":"--depth stays in what is no refusal","notes":"type stig trust"}`:                             `{"message":"--depth stays in what is no refusal","notes":"type stig trust"}`,
		`{"warnings":["a: it is there; type stig close a --duplicate-of b","b; c","d; type stig orient demo-1"]}`: `{"warnings":["a: it is there","b; c","d; call orient with id demo-1"]}`,
		`{"text":"go\u200b test"}`: `{"text":"go\\u200b test"}`,
	} {
		value, err := parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := forTools(value).(members).MarshalJSON(); err != nil || string(got) != want {
			t.Errorf("%s:\n%s, want\n%s", text, got, want)
		}
	}
}

// TestFit checks that a short object stays as it is and that any other is cut to the limit.
func TestFit(t *testing.T) {
	deep := "0"
	for range 500 {
		deep = `{"k":[` + deep + `]}`
	}
	for _, text := range []string{
		`{"kind":"x","a":"` + strings.Repeat("ä", 9000) + `"}`, `{"kind":"x","a":[` + strings.Repeat(`"b",`, 9000) + `"c"]}`,
		`{"kind":"x","a":` + deep + `}`, `{"kind":"x"` + strings.Repeat(`,"k":1`, 2000) + `}`,
	} {
		value, err := parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		got, err := fit(value.(members), 2000)
		if err != nil || utf8.RuneCount(got) > 2000 || !strings.Contains(string(got), `"left_out":`) || !strings.HasPrefix(strings.TrimPrefix(string(got), `{"schema_version":null,`), `{"kind":"x"`) && !strings.Contains(string(got), `"kind":"x"`) {
			t.Errorf("%.40s…: %d characters, %v: %.80s", text, utf8.RuneCount(got), err, got)
		}
		if same, err := fit(value.(members), 1<<20); err != nil || string(same) != text {
			t.Errorf("%.40s… changed: %v", text, err)
		}
	}
}

// TestArguments checks that each argument is accepted in its type and as a string.
func TestArguments(t *testing.T) {
	p := tool{name: "t", params: []param{{"t", text, "", false}, {"n", number, "", false}, {"i", integer, "", false}, {"b", boolean, "", false}, {"l", texts, "", false}}}
	for raw, want := range map[string]args{
		``: {}, `{}`: {}, `{"t":null}`: {},
		`{"t":"x","n":0.5,"i":3,"b":true,"l":["a","b"]}`:     {"t": "x", "n": 0.5, "i": 3.0, "b": true, "l": []string{"a", "b"}},
		`{"n":"0.5","i":"3","b":"true","l":"[\"a\",\"b\"]"}`: {"n": 0.5, "i": 3.0, "b": true, "l": []string{"a", "b"}},
		`{"t":7,"i":3.0,"b":"false","l":"a, b"}`:             {"t": "7", "i": 3.0, "b": false, "l": []string{"a, b"}},
	} {
		got, err := p.read([]byte(raw))
		if err != nil || len(got) != len(want) {
			t.Errorf("%s: %v, %v", raw, got, err)
		}
		for name := range want {
			if list, is := want[name].([]string); is && strings.Join(list, "|") != strings.Join(got.list(name), "|") || !is && got[name] != want[name] {
				t.Errorf("%s: %s is %v, want %v", raw, name, got[name], want[name])
			}
		}
	}
	for _, raw := range []string{`7`, `{"t":{}}`, `{"n":"x"}`, `{"i":0.5}`, `{"i":-1}`, `{"b":"perhaps"}`, `{"l":{"a":1}}`, `{"x":1}`} {
		if got, err := p.read([]byte(raw)); err == nil {
			t.Errorf("%s: %v", raw, got)
		}
	}
}

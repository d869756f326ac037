package beads

import (
	"fmt"
	"strings"
	"testing"
)

// Each value that stig would overwrite unseen is a flaw.
func TestFlaws(t *testing.T) {
	for line, want := range map[string]string{
		`{"id":"a","title":"t","notes":"n","priority":2,"labels":["x"],"dependencies":[],"owner":null,"mine":[1]}`: "",
		`{"id":"a","notes":["keep X"]}`:                                   `[notes value-type "notes" must be a string; found a list]`,
		`{"id":"a","title":{"en":"t"}}`:                                   `[title value-type "title" must be a string; found an object]`,
		`{"id":"a","close_reason":7}`:                                     `[close_reason value-type "close_reason" must be a string; found a number]`,
		`{"id":"a","assignee":true}`:                                      `[assignee value-type "assignee" must be a string; found a boolean]`,
		`{"id":"a","priority":"high"}`:                                    `[priority value-type "priority" must be a number; found a string]`,
		`{"id":"a","labels":"x"}`:                                         `[labels value-type "labels" must be a list; found a string]`,
		`{"id":"a","n\u006ftes":{}}`:                                      `[notes value-type "notes" must be a string; found an object]`,
		`{"id":"a","notes":"x","notes":"y"}`:                              `[notes key-repeated "notes" is there twice, with different values]`,
		`{"id":"a","notes":"x","n\u006ftes":"y"}`:                         `[notes key-repeated "notes" is there twice, with different values]`,
		`{"id":"a","notes":"x","notes":"\u0078"}`:                         "",
		`{"id":"a","mine":1,"other":2,"mine":3,"title":["a"]}`:            `[mine key-repeated "mine" is there twice, with different values] [title value-type "title" must be a string; found a list]`,
		`{"id":"a","status":"open","status":"open","mine":{"x":1,"x":2}}`: "",
	} {
		r, err := ParseRecord([]byte(line))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range r.Flaws() {
			got = append(got, fmt.Sprintf("[%s %s %s]", f.Key, f.Rule, f.Message))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s\n%s, want\n%s", line, got, want)
		}
	}
}

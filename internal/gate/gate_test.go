package gate_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"stig/internal/gate"
)

// criterion is an invented criterion and its expected plan.
type criterion struct {
	name, text string
	want       []string
}

var heading = regexp.MustCompile(`(?m)^-- (.*) --$\n`)

// invented reads testdata/criteria.txtar.
func invented(tb testing.TB) []criterion {
	tb.Helper()
	text, err := os.ReadFile("testdata/criteria.txtar")
	if err != nil {
		tb.Fatal(err)
	}
	var all []criterion
	places := heading.FindAllSubmatchIndex(text, -1)
	for i, place := range places {
		end := len(text)
		if i+1 < len(places) {
			end = places[i+1][0]
		}
		given, want, found := strings.Cut(string(text[place[1]:end]), "=>\n")
		if !found {
			tb.Fatalf("%s: no line =>", text[place[2]:place[3]])
		}
		want = strings.TrimSuffix(want, "\n")
		c := criterion{name: string(text[place[2]:place[3]]), text: strings.TrimSuffix(given, "\n")}
		if want != "" {
			c.want = strings.Split(want, "\n")
		}
		all = append(all, c)
	}
	return all
}

func TestCriteria(t *testing.T) {
	all := invented(t)
	if len(all) < 80 {
		t.Errorf("%d criteria, want at least 80", len(all))
	}
	for _, c := range all {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, check := range gate.Plan(c.text) {
				got = append(got, check.Origin+" "+check.Class+" "+strings.ReplaceAll(check.Text, "\n", "⏎")+" | "+check.Reason+check.Expect.String())
			}
			same := slices.EqualFunc(got, c.want, func(got, want string) bool {
				words, reason, found := cutLast(want, " | ")
				if !found || !strings.HasPrefix(got, words+" | ") {
					return got == want+" | "
				}
				return strings.HasPrefix(got, words+" | "+reason)
			})
			if !same {
				t.Errorf("%s\n got %s\nwant %s", c.text, strings.Join(got, "\n     "), strings.Join(c.want, "\n     "))
			}
		})
	}
}

func cutLast(text, separator string) (before, after string, found bool) {
	if i := strings.LastIndex(text, separator); i >= 0 {
		return text[:i], text[i+len(separator):], true
	}
	return text, "", false
}

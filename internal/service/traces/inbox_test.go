package traces_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"stig/dag"
	"stig/internal/service/traces"
	"stig/internal/testkit/memory"
	"stig/internal/trace"
)

var (
	since = time.Date(2026, 11, 1, 9, 0, 0, 0, time.UTC)
	now   = time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
)

func at(hours int) string { return since.Add(time.Duration(hours) * time.Hour).Format(time.RFC3339) }

// said returns a comment as JSON.
func said(author, text string, hours int) map[string]any {
	return map[string]any{"author": author, "text": text, "created_at": at(hours)}
}

// left returns a trace as a comment.
func left(author, kind string, content map[string]any, hours int) map[string]any {
	t, err := trace.Draft{Type: kind, Content: content}.Trace()
	if err != nil {
		panic(err)
	}
	return said(author, t.Text(), hours)
}

// line returns an issue; keys override the defaults.
func line(id string, keys map[string]any) string {
	issue := map[string]any{"id": id, "title": "About " + id, "status": "open", "updated_at": at(100)}
	maps.Copy(issue, keys)
	text, err := json.Marshal(issue)
	if err != nil {
		panic(err)
	}
	return string(text)
}

func comments(list ...map[string]any) map[string]any { return map[string]any{"comments": list} }

func with(keys map[string]any, more ...any) map[string]any {
	for i := 0; i < len(more); i += 2 {
		keys[more[i].(string)] = more[i+1]
	}
	return keys
}

func on(blocker string) []map[string]any {
	return []map[string]any{{"depends_on_id": blocker, "type": "blocks"}}
}

func notes(section, text string) string {
	return "<!-- " + section + " -->\n" + text + "\n<!-- /" + section + " -->\n"
}

func list(t *testing.T, r traces.Query, lines ...string) []traces.Item {
	t.Helper()
	file, err := memory.New(strings.Join(lines, "\n") + "\n").Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	if len(file.Problems()) > 0 {
		t.Fatal(file.Problems())
	}
	r.Now = now
	items, err := traces.ItemsOf(file, dag.New(file), r)
	if err != nil {
		t.Fatal(err)
	}
	return items
}

var bo = traces.Owner{Name: "bo", Kind: "agent", Roles: []string{"network"}, Watch: []string{"pier-9", "boats"}, Since: since}

func TestWhys(t *testing.T) {
	question := "## Pending (2026-11-02) by bo\nWhich crane?\n\n## Resolved (2026-11-03) by ann\nThe red one.\n"
	request := func(to ...string) map[string]any {
		return comments(left("ann", "request", map[string]any{"to": to, "payload": "look"}, 1))
	}
	for _, c := range []struct {
		name  string
		lines []string
		want  string // the reason of each item, with its issue; "" for none
	}{
		{"to it", []string{line("pier-1", request("cy", "bo"))}, "to pier-1"},
		{"to its role", []string{line("pier-1", request("network"))}, "role pier-1"},
		{"to it and its role", []string{line("pier-1", request("network", "bo"))}, "to pier-1"},
		{"to its kind", []string{line("pier-1", request("@agents"))}, "kind pier-1"},
		{"to the other kind", []string{line("pier-1", request("@people"))}, ""},
		{"to all", []string{line("pier-1", request("@all"))}, "all pier-1"},
		{"to somebody else", []string{line("pier-1", request("bob", "net"))}, ""},
		{"to its subagent", []string{line("pier-1", request("bo/claude-3f2a"))}, "to pier-1"},
		{"its own", []string{line("pier-1", comments(left("bo", "request", map[string]any{"to": "@all", "payload": "look"}, 1)))}, ""},
		{"before it was there", []string{line("pier-1", comments(left("ann", "request", map[string]any{"to": "bo", "payload": "look"}, -1)))}, ""},
		{"without a time", []string{line("pier-1", comments(map[string]any{"author": "ann", "text": "hello @bo"}))}, "mention pier-1"},
		{"without any time", []string{line("pier-1", map[string]any{"updated_at": nil, "comments": []map[string]any{{"author": "ann", "text": "hello @bo"}}})}, "mention pier-1"},
		{"mentioned", []string{line("pier-1", comments(said("ann", "hello @bo, and @cy", 1)))}, "mention pier-1"},
		{"said after the issue's updated_at", []string{line("pier-1", with(comments(said("ann", "hello @bo", 1)), "updated_at", at(-5)))}, "mention pier-1"},
		{"mentioned in code", []string{line("pier-1", comments(said("ann", "hello `@bo`", 1), said("ann", "```\n@bo\n```", 1), said("ann", "so:\n\n    @bo\n", 1)))}, ""},
		{"mentioned as an escape", []string{strings.Replace(line("pier-1", comments(said("ann", "hello @bo", 1))), "@", `\u0040`, 1)}, "mention pier-1"},
		{"an answer to its question", []string{line("pier-1", map[string]any{"notes": notes("escalation-context", question)})}, "answer pier-1"},
		{"its own answer", []string{line("pier-1", map[string]any{"notes": notes("escalation-context", strings.Replace(question, "by ann", "by bo", 1))})}, ""},
		{"an answer to another's question", []string{line("pier-1", map[string]any{"notes": notes("escalation-context", strings.Replace(question, "by bo", "by bob", 1))})}, ""},
		{"a result for its request", []string{line("pier-1", comments(
			left("bo", "request", map[string]any{"to": "ann", "payload": "look"}, 1),
			left("ann", "result", map[string]any{"re": trace.Name("bo", text(left("bo", "request", map[string]any{"to": "ann", "payload": "look"}, 1))), "payload": "done"}, 2)))}, "answer pier-1"},
		{"feedback on its issue", []string{line("pier-1", with(comments(left("ann", "feedback", map[string]any{"to": "cy", "payload": "the test failed"}, 1)), "assignee", "bo", "status", "in_progress"))}, "feedback pier-1"},
		{"feedback on another's", []string{line("pier-1", with(comments(left("ann", "feedback", map[string]any{"to": "cy", "payload": "the test failed"}, 1)), "assignee", "cy"))}, ""},
		{"help that needs its role", []string{line("pier-1", comments(left("ann", "request_for_help", map[string]any{"blocker": "no cable", "needs": []string{"network"}}, 1)))}, "help pier-1"},
		{"help that needs another", []string{line("pier-1", comments(left("ann", "request_for_help", map[string]any{"blocker": "no cable", "needs": []string{"python"}}, 1)))}, ""},
		{"a finding on a blocker", []string{line("pier-1", comments(left("ann", "finding", map[string]any{"summary": "it leaks"}, 1))),
			line("pier-2", map[string]any{"assignee": "bo", "dependencies": on("pier-1")})}, "finding pier-1"},
		{"a finding elsewhere", []string{line("pier-1", comments(left("ann", "finding", map[string]any{"summary": "it leaks"}, 1)))}, ""},
		{"became ready", []string{line("pier-1", map[string]any{"status": "closed", "closed_at": at(3)}),
			line("pier-2", map[string]any{"assignee": "bo", "dependencies": on("pier-1")})}, "ready pier-2"},
		{"became ready through its epic", []string{line("pier-1", map[string]any{"status": "closed", "closed_at": at(3)}), line("pier-3", map[string]any{"dependencies": on("pier-1")}),
			line("pier-2", map[string]any{"assignee": "bo", "dependencies": []map[string]any{{"depends_on_id": "pier-3", "type": "parent-child"}}})}, "ready pier-2"},
		{"was deferred until", []string{line("pier-2", map[string]any{"assignee": "bo", "defer_until": at(5)})}, "ready pier-2"},
		{"waits for another still", []string{line("pier-1", map[string]any{"status": "closed", "closed_at": at(3)}), line("pier-3", nil),
			line("pier-2", map[string]any{"assignee": "bo", "dependencies": append(on("pier-1"), on("pier-3")...)})}, ""},
		{"became ready before it was there", []string{line("pier-1", map[string]any{"status": "closed", "closed_at": at(-3)}),
			line("pier-2", map[string]any{"assignee": "bo", "dependencies": on("pier-1")})}, ""},
		{"a blocker closed", []string{line("pier-1", map[string]any{"status": "closed", "closed_at": at(400), "assignee": "ann"}),
			line("pier-2", map[string]any{"assignee": "bo", "status": "in_progress", "dependencies": on("pier-1")})}, "blocker pier-1"},
		{"a blocker it closed itself", []string{line("pier-1", map[string]any{"status": "closed", "closed_at": at(400), "assignee": "bo"}),
			line("pier-2", map[string]any{"assignee": "bo", "status": "in_progress", "dependencies": on("pier-1")})}, ""},
		{"a blocker closed before the claim", []string{line("pier-1", map[string]any{"status": "closed", "closed_at": at(340)}),
			line("pier-2", map[string]any{"assignee": "bo", "status": "in_progress", "dependencies": on("pier-1")})}, ""},
		{"a blocker was opened again", []string{line("pier-1", map[string]any{"notes": notes("reopen-context", "## Reopened (2026-11-16) by ann\nIt leaks.\n")}),
			line("pier-2", map[string]any{"assignee": "bo", "status": "in_progress", "dependencies": on("pier-1")})}, "reopened pier-1"},
		{"its checks failed", []string{line("gate-1", map[string]any{"assignee": "bo", "status": "in_progress"})}, "gate gate-1"},
		{"another's checks failed", []string{line("gate-1", map[string]any{"assignee": "cy", "status": "in_progress"})}, ""},
		{"watches the issue", []string{line("pier-9", comments(said("ann", "seen", 1)))}, "watch pier-9"},
		{"watches the label", []string{line("pier-1", with(comments(left("ann", "log", map[string]any{"message": "half done"}, 1)), "labels", []string{"boats"}))}, "watch pier-1"},
		{"watches a closing", []string{line("pier-9", map[string]any{"status": "closed", "closed_at": at(400), "assignee": "ann"})}, "watch pier-9"},
		{"watches what it closed", []string{line("pier-9", map[string]any{"status": "closed", "closed_at": at(400), "assignee": "bo"})}, ""},
		{"closed long ago", []string{line("pier-1", with(request("bo"), "status", "closed", "closed_at", at(5)))}, ""},
		{"said lately on what was closed long ago", []string{line("pier-1", with(comments(said("ann", "@bo, look again", 400)), "status", "closed", "closed_at", at(5), "updated_at", at(400)))}, "mention pier-1"},
		{"deleted", []string{line("pier-1", with(request("bo"), "status", "tombstone"))}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := traces.Query{For: bo,
				Claimed: func(issues []string) map[string]time.Time {
					if !slices.Equal(issues, []string{"pier-2"}) {
						t.Errorf("asked for %q", issues) // only an issue in hand that waits for another
					}
					return map[string]time.Time{"pier-2": since.Add(350 * time.Hour)}
				},
				Failed: func(id string) (traces.FailedChecks, bool) {
					return traces.FailedChecks{At: since.Add(time.Hour), By: "ann", Text: "exit 1: go test"}, id == "gate-1"
				}}
			var got []string
			for _, item := range list(t, r, c.lines...) {
				got = append(got, item.Why+" "+item.Issue)
				if item.Title != "About "+item.Issue || item.At.IsZero() || item.Command == "" {
					t.Errorf("an incomplete item: %+v", item)
				}
			}
			if strings.Join(got, ", ") != c.want {
				t.Errorf("got %q, want %q", strings.Join(got, ", "), c.want)
			}
		})
	}
}

func text(comment map[string]any) string { return comment["text"].(string) }

func TestIDs(t *testing.T) {
	same := left("ann", "request", map[string]any{"to": "bo", "payload": "look"}, 1)
	name := trace.Name("ann", text(same))
	items := list(t, traces.Query{For: bo}, line("pier-2", comments(same)), line("pier-1", comments(same)),
		line("pier-3", map[string]any{"notes": notes("escalation-context", "## Pending (2026-11-02) by bo\nWhich crane?\n\n## Resolved (2026-11-03) by ann\nThe red one.\n")}),
		line("pier-4", map[string]any{"status": "closed", "closed_at": "2026-11-05T09:00:00.25Z"}), line("pier-5", map[string]any{"assignee": "bo", "dependencies": on("pier-4")}))
	var got []string
	for _, item := range items {
		got = append(got, item.ID)
	}
	want := []string{name, "to/pier-2/" + name, "answer/pier-3/e7bd2a0a", "ready/pier-5/2026-11-05T09:00:00Z"}
	got[2] = got[2][:len("answer/pier-3/")] + "e7bd2a0a" // the hash is signals.Part.Hash
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestMentions(t *testing.T) {
	for _, c := range []struct {
		name, kind, text string
		want             bool
	}{
		{"ann", "human", "@ann", true}, {"ann", "human", "hello, @Ann.", true}, {"ann", "human", "(@ann's)", true}, {"ann", "human", "> - **@ann**", true},
		{"ann", "human", "@anna", false}, {"ann", "human", "mail@ann", false}, {"ann", "human", "node_modules/@ann/x", false}, {"ann", "human", "@ ann", false}, {"ann", "human", "ann", false},
		{"ann", "human", "@ann.lee", false}, {"ann", "human", "@ann-lee", false},
		{"ann", "human", "@people", true}, {"ann", "human", "@agents", false}, {"ann", "human", "@all", true},
		{"ann", "agent", "@agents!", true}, {"ann", "program", "@agents", true}, {"ann", "agent", "@people", false},
		{"ann", "human", "@ann/claude-3f2a", true}, {"ann/claude-3f2a", "agent", "@ann", false}, {"ann/claude-3f2a", "agent", "@ann/claude-3f2a: done", true}, {"ann/claude-3f2a", "agent", "@ann/claude-3f2b", false},
		{"Ann Lee", "human", "@Ann Lee, look", true}, {"Ann Lee", "human", "@ann-lee", true}, {"Ann Lee", "human", "@Ann Leeds", false},
		{"Zoë", "human", "hello @Zoë!", true}, {"ann", "human", "```\n@ann", false}, {"ann", "human", "a `x` @ann `y`", true}, {"ann", "human", "<!-- @ann -->", false},
	} {
		r := traces.Query{For: traces.Owner{Name: c.name, Kind: c.kind, Since: since}}
		if got := len(list(t, r, line("pier-1", comments(said("cy", c.text, 1))))) == 1; got != c.want {
			t.Errorf("%s, a %s, in %q: %v", c.name, c.kind, c.text, got)
		}
	}
}

// A trace that answers another acknowledges it: by role for everybody, else for who
// answered.
func TestAnswersAcknowledge(t *testing.T) {
	for _, c := range []struct {
		to, by string
		want   bool
	}{
		{"network", "cy", true}, {"network", "bo", true}, {"network", "ann", false},
		{"bo", "cy", false}, {"bo", "bo", true}, {"bo", "bo/claude-3f2a", true},
		{"@all", "cy", false}, {"@all", "bo", true}, {"@agents", "cy", false},
	} {
		asked := left("ann", "request", map[string]any{"to": c.to, "payload": "look"}, 1)
		answer := left(c.by, "result", map[string]any{"re": trace.Name("ann", text(asked)), "payload": "done"}, 2)
		items := list(t, traces.Query{For: bo}, line("pier-1", comments(asked)), line("pier-2", comments(answer)))
		if len(items) != 1 || items[0].Acked != c.want {
			t.Errorf("to %s, answered by %s: %+v", c.to, c.by, items)
		}
	}
}

// TestLaws: whatever the store contains, the items of each issue are in time order, none of the
// actor's own items are listed, ids are distinct, and acknowledging one item leaves the others
// unchanged.
func TestLaws(t *testing.T) {
	random := rand.New(rand.NewPCG(18, 4))
	for range 60 {
		lines := randomStore(random)
		r := traces.Query{For: bo, Failed: func(id string) (traces.FailedChecks, bool) {
			return traces.FailedChecks{At: since.Add(7 * time.Hour), By: "ann"}, strings.HasSuffix(id, "3")
		}}
		items := list(t, r, lines...)
		if again := list(t, r, lines...); !reflect.DeepEqual(items, again) {
			t.Fatalf("two orders of %q", lines)
		}
		seen, last := map[string]bool{}, ""
		finished := map[string]bool{}
		for _, item := range items {
			if seen[item.ID] || item.By == "bo" || finished[item.Issue] {
				t.Fatalf("%+v is there twice, its own, or apart from its issue in %q", item, lines)
			}
			seen[item.ID] = true
			if last != "" && last != item.Issue {
				finished[last] = true
			}
			last = item.Issue
		}
		acked := map[string]bool{}
		for k, pick := range items {
			acked[pick.ID] = true
			r.Acked = func(id string, _ time.Time) bool { return acked[id] }
			after := list(t, r, lines...)
			want := slices.Clone(items)
			for i := range want {
				want[i].Acked = want[i].Acked || acked[want[i].ID]
			}
			if !reflect.DeepEqual(after, want) {
				t.Fatalf("acknowledging %d items of %q changed others", k+1, lines)
			}
		}
	}
}

func randomStore(random *rand.Rand) (lines []string) {
	people := []string{"bo", "ann", "cy", "bo/claude-1"}
	some := func(list []string) string { return list[random.IntN(len(list))] }
	var names []string
	for n := range 12 {
		var said []map[string]any
		for k := range random.IntN(4) {
			content := map[string]any{"to": some([]string{"bo", "network", "@all", "@people", "cy"}), "payload": fmt.Sprintf("no %d", k)}
			kind := some([]string{"request", "feedback", "notification"})
			if len(names) > 0 && kind != "request" && random.IntN(2) == 0 {
				content["re"] = some(names)
			}
			one := left(some(people), kind, content, random.IntN(100))
			names = append(names, trace.Name(one["author"].(string), text(one)))
			said = append(said, one)
		}
		keys := with(comments(said...), "assignee", some([]string{"", "bo", "ann"}), "status", some([]string{"open", "in_progress", "closed"}))
		if keys["status"] == "closed" {
			keys["closed_at"] = at(random.IntN(400))
		}
		if n > 0 {
			keys["dependencies"] = on(fmt.Sprintf("pier-%d", random.IntN(n)))
		}
		lines = append(lines, line(fmt.Sprintf("pier-%d", n), keys))
	}
	return lines
}

func TestGone(t *testing.T) {
	day := 24 * time.Hour
	for _, c := range []struct {
		closed, at time.Time
		want       bool
	}{
		{time.Time{}, now.Add(-90 * day), false}, {now.Add(-6 * day), now.Add(-90 * day), false}, {now.Add(-8 * day), now.Add(-9 * day), true}, {now.Add(-8 * day), now.Add(-day), false},
	} {
		if got := traces.LongGone(c.closed, c.at, now); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

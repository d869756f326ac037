package lint_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"stig/cue"
	"stig/dag"
	"stig/internal/beads"
	"stig/internal/lint"
	"stig/internal/testkit/memory"
)

// table returns notes with the rows as their signal table.
func table(rows ...string) string {
	lines := append([]string{"<!-- stigmergic-signals -->", "| Signal | Value | Updated |", "|---|---|---|"}, rows...)
	return strings.Join(append(lines, "<!-- /stigmergic-signals -->"), "\n")
}

// line returns a line of a store from alternating keys and texts.
func line(id string, texts ...string) string {
	var b strings.Builder
	b.WriteString(`{"id":` + strconv.Quote(id) + `,"title":"t"`)
	for i := 0; i < len(texts); i += 2 {
		b.WriteString("," + strconv.Quote(texts[i]) + ":" + quoted(texts[i+1]))
	}
	return b.String() + "}"
}

// quoted returns text as a JSON string; what begins with a bracket is JSON already.
func quoted(text string) string {
	if strings.HasPrefix(text, "[") {
		return text
	}
	return strconv.Quote(text)
}

// rows returns dependency rows from alternating ids and types.
func rows(of string, links ...string) string {
	var all []string
	for i := 0; i < len(links); i += 2 {
		all = append(all, `{"issue_id":"`+of+`","depends_on_id":"`+links[i]+`","type":"`+links[i+1]+`"}`)
	}
	return "[" + strings.Join(all, ",") + "]"
}

const estimate = "\n\n<!-- checkpoint-context -->\n## State estimate (2026-11-01)\n\n"

// goTwice are criteria with two checks.
const goTwice = "```verify\ngo fly\n```\n```verify\ngo swim\n```"

// results is a close reason as stig close writes it.
const results = "Verified: it holds. All acceptance criteria pass: 1/1 [true 0.0s] at 1a2b3c4."

// since separates a store as it was from the store as it is.
const since = "@since\n"

// merging precedes a store that git has not finished merging.
const merging = "@merging\n"

// gated separates them if a setting of the gate differs, too.
const gated = "@gated\n"

// asked are notes with a question and its answer.
const asked = "<!-- escalation-context -->\n## Pending (2026-11-01)\nWhich?\n\n## Resolved (2026-11-02) by mara\nThe left one.\n<!-- /escalation-context -->"

// breaches contains, for every rule, stores that break it and similar ones that do not. @cut
// ends a store without a final newline.
var breaches = map[string]struct{ bad, good []string }{
	beads.BadJSON:        {bad: []string{"{\"id\":\n" + line("a")}, good: []string{line("a"), "\n" + line("a")}},
	beads.ConflictMarker: {bad: []string{"<<<<<<< HEAD\n" + line("a")}, good: []string{line("a", "description", "<<<<<<< HEAD")}},
	beads.CutShort:       {bad: []string{line("a") + "\n" + `{"id":"b","ti` + "@cut"}, good: []string{line("a") + "@cut"}},
	beads.DuplicateID:    {bad: []string{line("a") + "\n" + line("a")}, good: []string{line("a") + "\n" + line("A")}},

	lint.RuleUnfinished: {bad: []string{merging + line("a")}, good: []string{line("a")}},
	beads.WrongType: {
		bad:  []string{`{"id":"a","title":"t","status":"open","notes":["keep X"]}`, `{"id":"a","title":{},"status":"open"}`, `{"id":"a","title":"t","status":1}`},
		good: []string{line("a", "notes", "[keep X]"), `{"id":"a","title":"t","status":"open","notes":null,"timeout":7}`},
	},
	beads.RepeatedKey: {
		bad:  []string{`{"id":"a","title":"t","status":"open","notes":"x","notes":"y"}`},
		good: []string{`{"id":"a","title":"t","status":"open","notes":"x","notes":"x"}`},
	},
	lint.RulePriority: {
		bad: []string{`{"id":"a","title":"t","status":"open","priority":1e400}`, `{"id":"a","title":"t","status":"open","priority":1.5}`, `{"id":"a","title":"t","status":"open","priority":12345678901}`,
			`{"id":"a","title":"t","status":"open","priority":9}`, `{"id":"a","title":"t","status":"open","priority":-1}`, `{"id":"a","title":"t","status":"open","priority":null}`},
		good: []string{`{"id":"a","title":"t","status":"open","priority":4}`, `{"id":"a","title":"t","status":"open","priority":0}`, `{"id":"a","title":"t","status":"open"}`},
	},
	lint.RuleEncoding: {
		bad:  []string{"{\"id\":\"a\",\"title\":\"caf\xe9\",\"status\":\"open\"}", "{\"id\":\"a\",\"title\":\"t\",\"status\":\"open\",\"\xe9\":1}"},
		good: []string{line("a", "title", "café", "status", "open")},
	},

	lint.RuleAhead: {
		bad:  []string{line("a", "updated_at", "2026-12-02T00:00:01Z")},
		good: []string{line("a", "updated_at", "2026-12-02T00:00:00Z"), line("a", "updated_at", "9999-12-31T23:59:59Z"), line("a", "updated_at", "soon")},
	},
	lint.RuleLastTime: {
		bad:  []string{line("a", "updated_at", "9999-12-31T23:59:59Z"), line("a", "updated_at", "9999-12-31T23:59:59.5Z")},
		good: []string{line("a", "updated_at", "9999-12-31T23:59:58Z")},
	},

	lint.RuleRefused: {
		bad: []string{
			`{"id":"a","title":"t","status":"open","pinned":1}`, `{"id":"a","title":"t","status":"open","estimated_minutes":1.5}`,
			`{"id":"a","title":"t","status":"open","estimated_minutes":-1}`, `{"id":"a","title":"t","status":"open","labels":["x",7]}`,
			line("a", "title", strings.Repeat("é", 251), "status", "open"), line("a b", "status", "open"), line("a\t", "status", "open"),
			line("a", "external_ref", "gh 9"), line("a", "external_ref", strings.Repeat("x", 201)), line("a", "description", strings.Repeat("x", 100<<10+1)),
			line("a", "agent_state", "asleep"), `{"id":"a","title":"t","status":"open","ephemeral":true,"no_history":true}`,
			line("a", "dependencies", rows("b", "c", "blocks")), line("a", "comments", `[{"id":"c1","author":"ann","text":"x"}]`),
		},
		good: []string{
			`{"id":"a","title":"t","status":"open","pinned":false,"estimated_minutes":0,"labels":["x"],"no_history":true}`,
			line("a", "title", strings.Repeat("é", 250), "status", "open"), line("a.b-c_1", "external_ref", "https://example.org/9"),
			line("a", "description", strings.Repeat("\n", 100<<10)), line("a", "agent_state", "idle", "dependencies", rows("a", "c", "blocks")),
			`{"id":"a","title":"t","status":"open","priority":9}`, `{"id":"a","title":"t","status":"open","notes":7}`, // other rules report it
		},
	},
	lint.RuleTime: {
		bad: []string{line("a", "defer_until", "2099-01-01"), line("a", "created_at", "2026-11-01T00:00:00"), line("a", "last_activity", "yesterday"),
			line("a", "comments", `[{"id":1,"author":"ann","text":"x","created_at":"1.11.2026"}]`)},
		good: []string{line("a", "defer_until", "2099-01-01T00:00:00.5+05:30"), line("a", "description", "2099-01-01")},
	},
	lint.RuleClosing: {
		bad: []string{
			line("a", "status", "open", "closed_at", "2026-11-01T00:00:00Z"), line("a", "status", "in_progress", "closed_at", "soon"),
			line("a", "status", "closed"), line("a", "status", "closed", "closed_at", ""),
			line("a", "status", "closed", "closed_at", "2026-11-01T00:00:00Z", "deleted_at", "2026-11-01T00:00:00Z"),
		},
		good: []string{
			line("a", "status", "closed", "closed_at", "2026-11-01T00:00:00Z"), line("a", "status", "open"), `{"id":"a","title":"t","status":"open","closed_at":null}`,
			line("a", "status", "tombstone"), line("a", "status", "tombstone", "closed_at", "2026-11-01T00:00:00Z", "deleted_at", "2026-11-01T00:00:00Z"),
		},
	},
	lint.RuleBackdated: {
		bad:  []string{line("a", "created_at", "2026-11-02T00:00:00Z", "updated_at", "2026-11-01T23:59:59Z"), line("a", "created_at", "2026-11-01T00:00:00Z", "updated_at", "2026-11-01T00:00:00+05:00")},
		good: []string{line("a", "created_at", "2026-11-02T00:00:00Z", "updated_at", "2026-11-02T00:00:00Z"), line("a", "created_at", "soon", "updated_at", "2026-11-01T00:00:00Z"), line("a", "updated_at", "2026-11-01T00:00:00Z")},
	},
	lint.RuleRow: {
		bad: []string{
			line("a", "dependencies", rows("a", "a", "related")), line("a", "dependencies", rows("a", "b", "blocks", "b", "blocks")),
			line("a", "dependencies", rows("a", strings.Split("b x "+strings.Repeat("b c d e f g h i ", 3)+"b x", " ")...)),
		},
		good: []string{line("a", "dependencies", rows("a", "b", "blocks", "c", "blocks")), line("a", "dependencies", rows("a", "a", "blocks")), line("a", "dependencies", rows("a", "b", "blocks", "b", "duplicates"))},
	},

	lint.RuleMalformed: {
		bad:  []string{line("a", "notes", "<!-- checkpoint-context -->\nopen")},
		good: []string{line("a", "notes", "`<!-- checkpoint-context -->` is how it opens")},
	},
	lint.RuleEscalation: {
		bad: []string{line("a", "notes", table("| escalation | pending | 2026-11-01 |"))},
		good: []string{line("a", "notes", table("| escalation | pending | 2026-11-01 |")+
			"\n\n<!-- escalation-context -->\n## Pending (2026-11-01)\nWhich?\n<!-- /escalation-context -->")},
	},
	lint.RuleEstimate: {
		bad: []string{line("a", "notes", table("| progress | blocked | 2026-11-01 |"))},
		good: []string{
			line("a", "notes", table("| progress | blocked | 2026-11-01 |")+estimate+"It waits.\n<!-- /checkpoint-context -->"),
			line("a", "notes", table("| progress | blocked | 2026-11-01 |"), "status", "closed"),
			line("a", "notes", table("| progress | exploring | 2026-11-01 |")),
		},
	},
	lint.RuleMerged: {
		bad: []string{line("a", "notes", "<!-- merged-estimate 2026-11-01 0123abcd -->\nIt holds.\n<!-- /merged-estimate 2026-11-01 0123abcd -->")},
		good: []string{
			line("a", "notes", "<!-- merged-estimate 2026-11-01 0123abcd -->\nIt holds.\n<!-- /merged-estimate 2026-11-01 0123abcd -->", "status", "closed"),
			line("a", "notes", "<!-- merged-estimate -->\nIt holds.\n<!-- /merged-estimate -->"),
		},
	},
	lint.RuleTangled: {
		bad: []string{
			line("a", "description", strings.Repeat("> ", 5000)), line("a", "design", strings.Repeat("- ", 5000)), line("a", "notes", strings.Repeat("*a ", 5000)),
			line("a", "acceptance_criteria", strings.Repeat("see[a](", 10000)),
			line("a", "comments", `[{"id":1,"author":"m","text":"`+strings.Repeat("> ", 5000)+`","created_at":"2026-11-01T00:00:00Z"}]`),
		},
		good: []string{line("a", "description", strings.Repeat("> ", 100)), line("a", "notes", strings.Repeat("word ", 10000))},
	},
	lint.RuleDescription: {
		bad:  []string{line("a", "description", table("| surprise | 0.1 | 2026-11-01 |"))},
		good: []string{line("a", "description", "the section stigmergic-signals holds the table")},
	},

	"signal-value":    {bad: []string{line("a", "notes", table("| surprise | 1.1 | 2026-11-01 |"))}, good: []string{line("a", "notes", table("| surprise | 1.0 | 2026-11-01 |"))}},
	"schema-version":  {bad: []string{line("a", "notes", table("| schema-version | 2 | 2026-11-01 |"))}, good: []string{line("a", "notes", table("| schema-version | 1 | 2026-11-01 |"))}},
	"signal-unknown":  {bad: []string{line("a", "notes", table("| mood | calm | 2026-11-01 |"))}, good: []string{line("a", "notes", table("| confidence | prototype | 2026-11-01 |"))}},
	"signal-repeated": {bad: []string{line("a", "notes", table("| surprise | 0.1 | 2026-11-01 |", "| surprise | 0.1 | 2026-11-01 |"))}, good: []string{line("a", "notes", table("| surprise | 0.1 | 2026-11-01 |"))}},
	"signal-date":     {bad: []string{line("a", "notes", table("| surprise | 0.1 | soon |"))}, good: []string{line("a", "notes", table("| surprise | 0.1 | — |"))}},
	"table-several": {
		bad:  []string{line("a", "notes", table("| surprise | 0.1 | 2026-11-01 |")+"\n\n"+table("| surprise | 0.1 | 2026-11-01 |"))},
		good: []string{line("a", "notes", table("| surprise | 0.1 | 2026-11-01 |")+"\n\n| other | table |\n|---|---|\n")},
	},
	"table-merge": {
		bad:  []string{line("a", "notes", table("| surprise | 0.1 | 2026-11-01 |")+"\n\n---\n\n"+table("| surprise | 0.2 | 2026-11-01 |"))},
		good: []string{line("a", "notes", table("| surprise | 0.1 | 2026-11-01 |")+"\n\n---\n\n"+table("| surprise | 0.1 | 2026-11-01 |"))},
	},
	"table-missing": {bad: []string{line("a", "notes", "<!-- stigmergic-signals -->\nnone\n<!-- /stigmergic-signals -->")}, good: []string{line("a", "notes", table())}},
	"table-header":  {bad: []string{line("a", "notes", "<!-- stigmergic-signals -->\n| Name | Setting |\n|---|---|\n<!-- /stigmergic-signals -->")}, good: []string{line("a", "notes", "<!-- stigmergic-signals -->\n| FIELD | value |\n|---|---|\n<!-- /stigmergic-signals -->")}},
	"table-outside": {bad: []string{line("a", "notes", table("| surprise | 0.1 | 2026-11-01 |", "", "| cynefin | clear | 2026-11-01 |"))}, good: []string{line("a", "notes", table("| surprise | 0.1 | 2026-11-01 |", "", "| free | text |"))}},

	lint.RuleDeadlock: {
		bad: []string{
			line("e", "status", "open") + "\n" + line("x", "status", "open", "dependencies", rows("x", "e", "blocks", "e", "parent-child")),
			line("x", "status", "open", "dependencies", rows("x", "x", "blocks")),
		},
		good: []string{line("e", "status", "open") + "\n" + line("x", "status", "closed", "dependencies", rows("x", "e", "blocks", "e", "parent-child"))},
	},
	lint.RuleCycle: {
		bad:  []string{line("a", "status", "closed", "dependencies", rows("a", "b", "blocks")) + "\n" + line("b", "status", "open", "dependencies", rows("b", "a", "blocks"))},
		good: []string{line("a", "status", "closed", "dependencies", rows("a", "b", "relates-to")) + "\n" + line("b", "status", "open", "dependencies", rows("b", "a", "blocks"))},
	},

	lint.RuleType: {
		bad: []string{
			line("a") + "\n" + line("b", "dependencies", rows("b", "a", "blocked-by")),
			line("a") + "\n" + line("b", "dependencies", rows("b", "a", "parent_child")),
		},
		good: []string{line("a") + "\n" + line("b", "dependencies", rows("b", "a", "related", "a", "blocks"))},
	},
	lint.RuleUnknownType: {
		bad: []string{
			line("a") + "\n" + line("b", "dependencies", rows("b", "a", "foo")), line("a") + "\n" + line("b", "dependencies", rows("b", "a", "")),
		},
		good: []string{
			line("a") + "\n" + line("b", "dependencies", rows("b", "a", "discovered-from", "a", "conditional-blocks")),
			line("a") + "\n" + line("b", "dependencies", rows("b", "a", "blocked-by")), // dependency-type reports it
			line("a") + "\n" + line("b", "status", "tombstone", "dependencies", rows("b", "a", "foo")),
		},
	},
	lint.RuleUnread: {
		bad:  []string{line("a") + "\n" + `{"id":"b","dependencies":["a"]}`, `{"id":"b","dependencies":"a"}`, `{"id":"b","dependencies":[{"on":"a"},7]}`},
		good: []string{line("a") + "\n" + line("b", "dependencies", rows("b", "a", "blocks")), `{"id":"b","dependencies":[]}`, `{"id":"b","dependencies":null}`},
	},
	lint.RuleIncomplete: {
		bad:  []string{`{"id":"a"}`, `{"id":"a","title":"t"}`, `{"id":"a","status":"open"}`, `{"id":"a","title":"t","status":""}`},
		good: []string{`{"id":"a","title":"t","status":"open"}`},
	},
	lint.RuleStatus: {
		bad:  []string{line("a", "status", "done"), line("a", "status", "Closed"), line("a", "status", "inreview"), line("a", "status", "in-progress"), line("a", "status", "To Do")},
		good: []string{line("a", "status", "closed"), line("a", "status", "hooked"), line("a", "status", "tombstone"), line("a", "status", "open", "title", "done")},
	},
	lint.RuleDangling: {
		bad: []string{line("b", "dependencies", rows("b", "a", "blocks"))},
		good: []string{line("b", "dependencies", rows("b", "external:other:a", "blocks")), line("b", "status", "closed", "dependencies", rows("b", "a", "blocks")),
			`{"id":"b","title":"t","status":"open","ephemeral":true,"dependencies":` + rows("b", "a", "blocks") + `}`, line("b", "status", "tombstone", "dependencies", rows("b", "a", "blocks"))},
	},
	lint.RuleExternal: {
		bad:  []string{line("b", "dependencies", rows("b", "external:other:a", "blocks"))},
		good: []string{line("b", "dependencies", rows("b", "external:other:a", "related")), line("b", "dependencies", rows("b", "external:done:a", "blocks")), line("b", "status", "closed", "dependencies", rows("b", "external:other:a", "blocks"))},
	},
	lint.RuleStale: {
		bad:  []string{line("b", "dependencies", rows("b", "external:gone:a", "blocks"))},
		good: []string{line("b", "dependencies", rows("b", "external:other:a", "blocks")), line("b", "status", "closed", "dependencies", rows("b", "external:gone:a", "blocks"))},
	},
	lint.RuleEpicBlock: {
		bad: []string{
			line("e") + "\n" + line("e.1", "dependencies", rows("e.1", "e", "blocks")),
			line("e") + "\n" + line("x", "status", "closed", "dependencies", rows("x", "e", "blocks", "e", "parent-child")),
			line("e", "dependencies", rows("e", "x", "blocks")) + "\n" + line("x", "status", "closed", "dependencies", rows("x", "e", "parent-child")),
		},
		good: []string{ // among unclosed issues deadlock reports it
			line("e") + "\n" + line("x", "dependencies", rows("x", "e", "blocks", "e", "parent-child")),
			line("e", "dependencies", rows("e", "x", "blocks")) + "\n" + line("x", "dependencies", rows("x", "e", "parent-child")),
			line("e") + "\n" + line("x", "dependencies", rows("x", "e", "blocks")),
			line("e") + "\n" + line("e.1", "dependencies", rows("e.1", "e", "parent-child")) + "\n" + line("e.2", "dependencies", rows("e.2", "e.1", "blocks", "e", "parent-child")),
		},
	},
	lint.RuleLeftOpen: {
		bad: []string{
			line("e", "status", "closed") + "\n" + line("x", "status", "open", "dependencies", rows("x", "e", "parent-child")),
			line("x", "status", "deferred", "dependencies", rows("x", "e", "parent-child")) + "\n" + line("y", "status", "closed", "dependencies", rows("y", "e", "parent-child")) + "\n" + line("e", "status", "closed"),
		},
		good: []string{
			line("e", "status", "closed") + "\n" + line("x", "status", "closed", "dependencies", rows("x", "e", "parent-child")),
			line("e", "status", "open") + "\n" + line("x", "status", "open", "dependencies", rows("x", "e", "parent-child")),
			line("e", "status", "closed") + "\n" + line("x", "status", "open", "dependencies", rows("x", "e", "blocks")),
			line("e", "status", "closed") + "\n" + `{"id":"x","title":"t","status":"open","ephemeral":true,"dependencies":` + rows("x", "e", "parent-child") + `}`,
		},
	},
	lint.RuleTwins: {
		bad: []string{
			line("a", "status", "open") + "\n" + line("b", "status", "in_progress"),
			line("a", "title", "Fix  the Tide table.") + "\n" + line("b", "title", "fix the tide TABLE"),
		},
		good: []string{
			line("a", "status", "open") + "\n" + line("b", "status", "closed"), line("a", "title", "C") + "\n" + line("b", "title", "C++"),
			line("a", "title", "") + "\n" + line("b", "title", " "), line("a", "title", "v1.2") + "\n" + line("b", "title", "v12"),
			line("a", "status", "open") + "\n" + `{"id":"b","title":"t","status":"open","ephemeral":true}`,
		},
	},
	lint.RuleLabel: {
		bad: []string{
			line("a", "status", "open", "labels", `["status:done"]`), line("a", "status", "in_progress", "labels", `["Done"]`), line("a", "status", "open", "labels", `["ui","state/in-progress"]`),
			line("a", "status", "closed", "labels", `["status:open"]`), line("a", "status", "open", "labels", `["won't fix"]`),
		},
		good: []string{
			line("a", "status", "closed", "labels", `["status:done","done"]`), line("a", "status", "open", "labels", `["plan-original-status:closed","undone","blocked","status:odd","phase:done"]`),
			line("a", "status", "in_progress", "labels", `["status:open","status:in_progress"]`), line("a", "status", "tombstone", "labels", `["status:open"]`),
		},
	},
	lint.RuleGreen: {
		bad: []string{
			line("green") + since + line("green", "status", "closed", "close_reason", results),
			line("a", "status", "closed", "close_reason", "Verified: it holds. All acceptance criteria pass: 2/2 (2 held) [true 0.0s; go fly 0.1s] at 1a2b3c4."),
			line("a", "status", "closed", "close_reason", "Verified: it holds. All acceptance criteria pass: 1/1 [true 0.0s] at 1a2b3c4; green before the work too."),
		},
		good: []string{
			line("a", "status", "closed", "close_reason", "Verified: it holds. All acceptance criteria pass: 3/3 (1 turned, 2 held) [true 0.0s; go fly 0.1s; go swim 1.0s] at 1a2b3c4."),
			line("a", "status", "closed", "close_reason", results), line("a", "status", "open", "close_reason", "green before the work too"),
		},
	},
	lint.RuleOrphan: {
		bad: []string{
			line("e") + "\n" + line("e.1", "status", "closed"), line("e", "status", "closed") + "\n" + line("e.1"),
			line("e") + "\n" + line("e.1"), line("e") + "\n" + line("e.1") + "\n" + line("e.1.1", "dependencies", rows("e.1.1", "e.1", "related")),
		},
		good: []string{
			line("e.1"), line("e") + "\n" + line("e.x"), line("e") + "\n" + line("e.1", "status", "tombstone"),
			line("e", "status", "closed") + "\n" + line("e.1", "status", "closed", "close_reason", "In 1.2"),
			line("e") + "\n" + line("e.1", "dependencies", rows("e.1", "e", "parent-child")),
			line("e") + "\n" + line("f") + "\n" + line("e.1", "dependencies", rows("e.1", "f", "parent-child")),
			line("e") + "\n" + line("e.1", "dependencies", rows("e.1", "e", "child-of")),
		},
	},
	lint.RuleParents: {
		bad:  []string{line("e") + "\n" + line("f") + "\n" + line("x", "dependencies", rows("x", "e", "parent-child", "f", "parent-child"))},
		good: []string{line("e") + "\n" + line("x", "dependencies", rows("x", "e", "parent-child", "e", "parent-child", "gone", "parent-child"))},
	},

	lint.RuleNotStarted: {
		bad: []string{line("a", "status", "closed", "notes", table("| progress | not-started | 2026-11-01 |"))},
		good: []string{
			line("a", "status", "open", "notes", table("| progress | not-started | 2026-11-01 |")),
			line("a", "status", "closed", "notes", table("| progress | verifying | 2026-11-01 |")),
			line("a", "status", "closed", "notes", table("| progress | done | 2026-11-01 |")),
			line("a", "status", "closed"),
		},
	},
	lint.RuleReason: {
		bad: []string{
			line("a", "status", "closed"), line("a", "status", "closed", "close_reason", "Done."),
			line("a", "status", "closed", "close_reason", " FIXED, as described! "), line("a", "status", "closed", "close_reason", "✓"),
		},
		good: []string{
			line("a", "status", "open"), line("a", "status", "tombstone"),
			line("a", "status", "closed", "close_reason", "Verified: the gauge reads metres."),
			line("a", "status", "closed", "close_reason", "Fixed in 1ce5bbd"),
			line("a", "status", "closed", "close_reason", "完了しました"), line("a", "status", "closed", "close_reason", "all merged"),
		},
	},
	lint.RuleNoCriteria: {
		bad: []string{
			line("a", "status", "open"), line("a", "status", "in_progress", "description", " \n", "issue_type", "epic"),
			line("a", "status", "open", "description", "Sound the basin.", "issue_type", "Bug"),
			line("a", "status", "deferred", "description", "Sound the basin.", "acceptance_criteria", " "),
			line("a", "status", "open", "issue_type", "chore"),
		},
		good: []string{
			line("a", "status", "open", "acceptance_criteria", "`go test`"),
			line("a", "status", "open", "description", "## Acceptance criteria\n\n- it is sounded"),
			line("a", "status", "open", "description", "Success criteria:\n- it is sounded", "issue_type", "epic"),
			line("a", "status", "open", "description", "Sweep the quay.", "issue_type", "chore"),
			line("a", "status", "open", "design", "Done when: the basin is sounded"), line("a", "status", "closed"), line("a", "status", "tombstone"),
			`{"id":"a","title":"t","status":"open","ephemeral":true}`, `{"id":"a","title":"t","status":"open","is_template":true}`, line("a", "status", "pinned"),
		},
	},
	lint.RuleCriteria: {
		bad: []string{
			line("a", "status", "open", "acceptance_criteria", "All is well."),
			line("a", "status", "open", "acceptance_criteria", "The tests pass: go test ./... is green."),
			line("a", "status", "open", "acceptance_criteria", "```sh\nrm -rf /\n```"),
			line("a", "status", "open", "description", "It leaks.\n\nDone when:\n- all is well"),
			line("a", "status", "open", "design", "**Acceptance**: all is well"),
		},
		good: []string{
			line("a", "status", "open"), line("a", "status", "closed", "acceptance_criteria", "All is well."),
			line("a", "status", "open", "issue_type", "epic", "acceptance_criteria", "All is well."),
			line("a", "status", "open", "acceptance_criteria", "```verify\ngo test ./...\n```"),
			line("a", "status", "open", "acceptance_criteria", "Run `go test ./...`."),
			line("a", "status", "open", "description", "AC: `go test ./...` passes"),
			line("a", "status", "open", "description", "All is well.\n\n## Steps\n- a"),
		},
	},
	lint.RuleUnparsed: {
		bad: []string{
			line("a", "status", "open", "acceptance_criteria", "```verify\nif test -f x; then\n```"),
			line("a", "status", "open", "acceptance_criteria", "`go test ./...`\n```bash\necho 'x\n```"),
			line("a", "status", "open", "issue_type", "epic", "acceptance_criteria", "```sh\n)\n```"),
		},
		good: []string{
			line("a", "status", "open", "acceptance_criteria", "```text\nif test -f x; then\n```"),
			line("a", "status", "open", "acceptance_criteria", "```\nif (x) {\n```"),
			line("a", "status", "closed", "acceptance_criteria", "```verify\nif test -f x; then\n```"),
		},
	},
	lint.RuleCannotFail: {
		bad: []string{
			line("a", "status", "open", "acceptance_criteria", "```verify\ntrue\n```"),
			line("a", "status", "open", "acceptance_criteria", "`go test ./... || true` passes"),
			line("a", "status", "open", "acceptance_criteria", "`test 1 = 1` passes"),
			line("a", "status", "open", "acceptance_criteria", "```sh\ngo() { :; }\ngo test ./...\n```"),
		},
		good: []string{
			line("a", "status", "open", "acceptance_criteria", "`go test ./... || exit 1` passes"),
			line("a", "status", "open", "acceptance_criteria", "```sh\ngauge() { go test ./...; }\ngauge\n```"),
			line("a", "status", "closed", "acceptance_criteria", "```verify\ntrue\n```"),
		},
	},
	lint.RuleSecret: {
		bad: []string{
			line("a", "notes", "the key AKIA"+"QWERTZUIOP234567 works"),
			line("a", "notes", "ghp"+"_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"),
			line("a", "notes", "github"+"_pat_"+strings.Repeat("a1B2c", 12)),
			line("a", "notes", "glpat"+"-a1B2c3D4e5F6g7H8i9J0"),
			line("a", "notes", "xoxb"+"-123456789012-abcdefghij"),
			line("a", "notes", "sk"+"-proj-a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6"),
			line("a", "notes", "DB_PASSWORD="+"hunter2hunter2"),
			line("a", "notes", "-----BEGIN RSA PRIVATE"+" KEY-----\n"+strings.Repeat("QUJD", 12)),
		},
		good: []string{
			line("a", "notes", "tokens begin with ghp_, AKIA or sk-"),
			line("a", "notes", "AKIA"+"IOSFODNN7EXAMPLE is in their manual"),
			line("a", "notes", "sk-every-word-of-this-is-lower-case-and-long"),
			line("a", "notes", "password=$DB_PASSWORD1, password: <your-password-1>, password = ask(input1)"),
			line("a", "notes", "a file with -----BEGIN RSA PRIVATE"+" KEY----- in its first line"),
			line("a", "notes", "the password: correcthorse"),
		},
	},
	lint.RuleUnfounded: {
		bad: []string{
			line("a", "notes", table("| confidence | validated | 2026-11-02 |", "| evidence-freshness | 2026-11-01 | 2026-11-01 |")),
			line("a", "notes", table("| confidence | finding-recorded | 2026-11-02 |")),
			line("a", "notes", table("| confidence | prototype | — |")) + since + line("a", "notes", table("| confidence | validated | — |")),
			line("a") + since + line("a", "notes", table("| confidence | validated | — |")),
		},
		good: []string{
			line("a", "notes", table("| confidence | validated | 2026-11-01 |", "| evidence-freshness | 2026-11-01 | 2026-11-01 |")),
			line("a", "notes", table("| confidence | undemonstrated | 2026-11-01 |")),
			line("a", "notes", table("| confidence | regressed | 2026-11-01 |")),
			line("a", "notes", table("| confidence | validated | — |")) + since + line("a", "notes", table("| confidence | prototype | — |")),
			line("a", "notes", table("| confidence | prototype | — |")) + since +
				line("a", "notes", table("| confidence | validated | — |", "| evidence-freshness | 2026-11-01 | — |")),
		},
	},

	lint.RuleWaived: {
		bad: []string{
			line("a", "status", "closed", "close_reason", "Unverified: the mast is up. Waived: no wind to try it."),
			line("a", "status", "closed", "close_reason", "Unverified: in other words"),
		},
		good: []string{
			line("a", "status", "closed", "close_reason", "Verified: the mast is up."),
			line("a", "status", "closed", "close_reason", "Unverified: 1 child: 1 waived."), line("a", "status", "closed", "close_reason", "Not planned: no mast."),
			line("a", "status", "open", "close_reason", "Unverified: the mast is up."),
		},
	},
	lint.RuleComment: {
		bad:  []string{line("a", "comments", `[{"id":1,"text":"x"}]`), line("a", "comments", `[{"id":1,"author":"ann","text":" "}]`), line("a", "comments", `["x"]`)},
		good: []string{line("a", "comments", `[{"author":"ann","text":"x"}]`), line("a", "comments", "[]")},
	},
	lint.RuleCommentNumber: {
		bad: []string{
			line("a", "comments", `[{"id":1,"author":"ann","text":"x"},{"id":1,"author":"ann","text":"y"}]`),
			line("a", "comments", `[{"id":1,"author":"ann","text":"x"}]`) + "\n" + line("b", "comments", `[{"id":1,"author":"ann","text":"x"}]`),
		},
		good: []string{
			line("a", "comments", `[{"id":1,"author":"ann","text":"x"},{"id":2,"author":"ann","text":"x"}]`),
			line("a", "comments", `[{"id":"u","author":"ann","text":"x"},{"id":"u","author":"ann","text":"y"},{"author":"ann","text":"z"}]`),
		},
	},
	lint.RuleTrace: {
		bad: []string{
			line("a", "comments", `[{"id":1,"author":"ann","text":"no feed\n\nstig: finding/1"}]`),
			line("a", "comments", `[{"id":1,"author":"ann","text":"findings: no feed\n\nstig: findings/1"}]`),
		},
		good: []string{
			line("a", "comments", `[{"id":1,"author":"ann","text":"finding: no feed\n\nstig: finding/1"}]`),
			line("a", "comments", `[{"id":1,"author":"ann","text":"finding: no feed"}]`),
		},
	},
	lint.RuleTraceContent: {
		bad: []string{
			line("a", "comments", `[{"id":1,"author":"ann","text":"log: x\n\nlevel: fatal\nstig: log/1"}]`),
			line("a", "comments", `[{"id":1,"author":"ann","text":"request: x\n\nstig: request/1"}]`),
		},
		good: []string{line("a", "comments", `[{"id":1,"author":"ann","text":"log: x\n\nlevel: warn\nstig: log/1"}]`)},
	},
	lint.RuleUnexplained: {
		bad: []string{
			line("a", "status", "closed", "close_reason", "Unverified: the mast is up. Waived: Done."),
			line("a", "status", "closed", "close_reason", "Unverified: the mast is up. Waived: implemented as described. By mara of the harbor. Tried: 0/1 [go fly exit 1]."),
			line("a", "status", "closed", "close_reason", "Unverified: in other words"),
		},
		good: []string{
			line("a", "status", "closed", "close_reason", "Unverified: the mast is up. Waived: no wind to try it. By mara."),
			line("a", "status", "closed", "close_reason", "Unverified: the mast is up. Waived: 風がないので試せない."),
			line("a", "status", "open", "close_reason", "Unverified: the mast is up."),
		},
	},
	lint.RuleByHand: {
		bad: []string{
			line("a", "status", "open") + since + line("a", "status", "closed", "close_reason", "All of it is done and tested."),
			line("a", "status", "in_progress") + since + line("a", "status", "closed"),
			line("b") + since + line("b") + "\n" + line("a", "status", "closed", "close_reason", "verified by looking at it"),
			line("a", "status", "closed", "closed_at", "2026-11-01T00:00:00Z") + since + line("a", "status", "closed", "closed_at", "2026-11-02T00:00:00Z"),
			line("a", "status", "closed", "close_reason", "Verified: it holds.") + since + line("a", "status", "closed", "close_reason", "It holds."),
		},
		good: []string{
			line("a", "status", "open") + since + line("a", "status", "closed", "close_reason", "Verified: it holds."),
			line("a", "status", "open") + since + line("a", "status", "closed", "close_reason", "Unverified: it holds. Waived: nothing to run."),
			line("a", "status", "closed", "close_reason", "Done") + since + line("a", "status", "closed", "close_reason", "Done at last"),
			line("a", "status", "closed") + since + line("a", "status", "open"),
			line("a", "status", "open") + since + line("a", "status", "tombstone"),
		},
	},
	lint.RuleClaimed: {
		bad: []string{
			line("a", "status", "closed", "close_reason", "Verified: it holds."),
			line("a", "status", "closed", "close_reason", " Verified: all acceptance criteria pass"),
			line("a", "status", "closed", "acceptance_criteria", "`true`", "close_reason", "Verified: 2 children: 2 verified."),
			line("a", "status", "closed", "close_reason", "Verified: it holds. All acceptance criteria pass: 1/2 [true 0.0s; false exit 1] at 1a2b3c4."),
			line("a", "status", "closed", "close_reason", "Verified: it holds. All acceptance criteria pass: 0/0 []."),
			line("a", "status", "closed", "close_reason", strings.Replace(results, " at 1a2b3c4", "", 1)),
			line("a", "status", "open") + since + line("a", "status", "closed", "close_reason", "Verified: it holds."),
		},
		good: []string{
			line("a", "status", "closed", "close_reason", results), line("a", "status", "closed", "close_reason", "Verified: 2 children: 2 verified."),
			line("a", "status", "closed", "close_reason", "Verified: it says All acceptance criteria pass: now. All acceptance criteria pass: 2/2 [true 0.0s; test a = ] 0.1s] at 1a2b3c4 with uncommitted changes; criteria edited since HEAD: 3 commands → 2."),
			line("a", "status", "closed", "close_reason", "Verified: it holds. All acceptance criteria pass: 2/2 (1 turned, 1 held) [true 0.0s; go fly 0.1s] at 1a2b3c4."),
			line("a", "status", "closed", "close_reason", "Unverified: it holds. Waived: nothing to run."),
			line("a", "status", "open", "close_reason", "Verified: it holds."),
		},
	},
	lint.RuleForged: {
		bad: []string{
			line("a", "status", "open") + since + line("a", "status", "closed", "close_reason", "Unverified: it holds. 1 child: 1 waived."),
			line("a", "acceptance_criteria", "`go fly`") + since + line("a", "acceptance_criteria", "`go fly`", "status", "closed", "close_reason", results),
			line("b") + since + line("b") + "\n" + line("a", "status", "closed", "close_reason", results),
			line("a", "acceptance_criteria", goTwice) + since + line("a", "acceptance_criteria", goTwice, "status", "closed",
				"close_reason", "Verified: it holds. All acceptance criteria pass: 1/1 [go fly 0.0s] at 1a2b3c4."),
			line("a", "acceptance_criteria", "`go fly`") + since + line("a", "acceptance_criteria", "`go fly`", "status", "closed",
				"close_reason", "Verified: it holds. All acceptance criteria pass: 2/2 [go fly 0.0s] at 1a2b3c4."),
			line("a") + since + line("a", "status", "closed", "close_reason", "Unverified: it holds. All acceptance criteria pass: 9/9. Waived: nothing to run here. By mara."),
			// closed on passing checks, then closed again by hand
			line("a", "acceptance_criteria", "`go fly`", "status", "closed", "close_reason", "Verified: it flew. All acceptance criteria pass: 1/1 [go fly 0.0s] at 1a2b3c4.", "closed_at", "2026-11-01T00:00:00Z") + since +
				line("a", "acceptance_criteria", "`go fly`", "status", "closed", "close_reason", results, "closed_at", "2026-11-02T00:00:00Z"),
		},
		good: []string{
			line("a") + since + line("a", "acceptance_criteria", "```sh\ntrue\n```", "status", "closed", "close_reason", results),
			line("a", "acceptance_criteria", "```sh\ntrue\n```") + since + line("a", "acceptance_criteria", "`go fly`", "status", "closed", "close_reason", results),
			line("a", "acceptance_criteria", goTwice) + since + line("a", "acceptance_criteria", goTwice, "status", "closed",
				"close_reason", "Verified: it holds. 1 of 2 checked; not run: go swim [go fly 0.0s] at 1a2b3c4."),
			line("a", "status", "closed", "close_reason", results) + since + line("a", "status", "closed", "close_reason", results, "title", "renamed"),
			line("a", "status", "open") + since + line("a", "status", "closed", "close_reason", "Unverified: it holds. Waived: nothing to run."),
		},
	},
	lint.RuleImpossible: {
		bad: []string{
			line("a") + since + line("a", "status", "closed", "close_reason", strings.Replace(results, "1a2b3c4", "0000000", 1)),
			line("a") + since + line("a", "status", "closed", "close_reason", strings.Replace(results, "1a2b3c4", "main", 1)),
			line("a") + since + line("a", "status", "closed", "close_reason", strings.Replace(results, "at 1a2b3c4", "before the first commit", 1)),
		},
		good: []string{
			line("a") + since + line("a", "status", "closed", "close_reason", results),
			line("b") + since + line("b") + "\n" + line("a", "status", "closed", "close_reason", strings.Replace(results, "at 1a2b3c4", "before the first commit", 1)),
		},
	},
	lint.RuleNoCommit: {
		bad:  []string{line("a") + since + line("a", "status", "closed", "close_reason", strings.Replace(results, "1a2b3c4", "9f8e7d6", 1))},
		good: []string{line("a") + since + line("a", "status", "closed", "close_reason", results)},
	},
	lint.RuleGate: {
		bad: []string{
			line("fails") + since + line("fails", "status", "closed", "close_reason", results),
			line("b") + since + line("b") + "\n" + line("fails", "status", "closed"),
		},
		good: []string{
			line("a") + since + line("a", "status", "closed", "close_reason", results),
			line("fails") + since + line("fails", "status", "closed", "close_reason", "Unverified: it holds. Waived: nothing to run."),
			line("fails", "status", "closed") + since + line("fails", "status", "closed", "title", "renamed"),
		},
	},
	lint.RuleCheckWeakened: {
		bad:  []string{line("weakened") + since + line("weakened", "status", "closed", "close_reason", results)},
		good: []string{line("a") + since + line("a", "status", "closed", "close_reason", results)},
	},
	lint.RuleGateSet: {bad: []string{line("a") + gated + line("a")}, good: []string{line("a") + since + line("a")}},
	lint.RuleVanished: {
		bad: []string{line("a") + "\n" + line("b") + since + line("b"), line("a") + since + "{\"id\":\n" + line("b"),
			line("a") + "\n" + `{"_type":"memory","key":"k","value":"v"}` + since + line("a"), `{"_type":"event","n":1}` + "\n" + line("a") + since + line("a"),
			line("a", "created_at", "2026-11-01T00:00:00Z") + since + line("a", "created_at", "2026-11-01T00:00:01Z")},
		good: []string{line("a") + "\n" + line("b") + since + line("b") + "\n" + line("a"),
			`{"_type":"memory","key":"k","value":"v"}` + "\n" + line("a") + since + line("a") + "\n" + `{"_type":"memory","value":"w","key":"k"}`,
			line("a", "created_at", "2026-11-01T00:00:00Z") + since + line("a", "created_at", "2026-11-01T00:00:00Z", "title", "edited"), line("a") + since + line("a", "status", "tombstone")},
	},
	lint.RuleDeleted: {
		bad: []string{line("a", "status", "open") + since + line("a", "status", "tombstone")},
		good: []string{
			line("a", "status", "tombstone") + since + line("a", "status", "tombstone", "deleted_by", "mara"),
			line("b") + since + line("b") + "\n" + line("a", "status", "tombstone"),
			line("a", "status", "open") + since + line("a", "status", "closed"),
		},
	},
	lint.RuleSection: {
		bad: []string{
			line("a", "notes", table()) + since + line("a"),
			line("a", "notes", strings.TrimSpace(estimate)+"\n<!-- /checkpoint-context -->\ntext") + since + line("a", "notes", "text"),
			line("a", "notes", table("| surprise | 0.1 | 2026-11-01 |", "| cynefin | clear | 2026-11-01 |")) + since + line("a", "notes", table("| surprise | 0.1 | 2026-11-01 |")),
		},
		good: []string{
			line("a", "notes", table("| surprise | 0.1 | 2026-11-01 |")+"\n\n"+table("| surprise | 0.1 | 2026-11-01 |")) + since + line("a", "notes", table("| surprise | 0.1 | 2026-11-01 |")),
			line("a", "notes", table("| mood | calm | 2026-11-01 |")) + since + line("a", "notes", table("| surprise | 0.1 | 2026-11-01 |")),
			line("a", "notes", table()) + since + line("a", "status", "tombstone"),
		},
	},
	lint.RuleUnsaid: {
		bad: []string{
			line("a", "comments", `[{"author":"ann","text":"x"}]`) + since + line("a"),
			line("a", "comments", `[{"author":"ann","text":"x"}]`) + since + line("a", "comments", `[{"author":"ann","text":"y"}]`),
		},
		good: []string{
			line("a", "comments", `[{"id":1,"author":"ann","text":"x"}]`) + since + line("a", "comments", `[{"id":7,"author":"ann","text":"x "},{"author":"ben","text":"y"}]`),
			line("a", "comments", `[{"author":"ann","text":"x"}]`) + since + line("a", "status", "tombstone"),
		},
	},
	lint.RuleUntried: {
		bad: []string{
			line("a", "status", "open") + since + line("a", "status", "closed", "close_reason", "Unverified: it holds. Waived: nothing to run here."),
			line("a", "acceptance_criteria", "`go fly`") + since + line("a", "acceptance_criteria", "`go fly`", "status", "closed", "close_reason", "Unverified: it holds. Waived: nothing to run here. By mara."),
		},
		good: []string{
			line("a") + since + line("a", "status", "closed", "close_reason", "Unverified: it holds. Waived: nothing to run here. By mara."),
			line("a", "acceptance_criteria", "`go fly`") + since + line("a", "acceptance_criteria", "`go fly`", "status", "closed", "close_reason", "Unverified: it holds. Waived: no wind to fly in. By mara. Tried: 0/1 [go fly exit 1]."),
			line("a", "acceptance_criteria", "`go fly`") + since + line("a", "acceptance_criteria", "`go fly`", "status", "closed", "close_reason", "Unverified: it holds. Waived: no wind to fly in. By mara. Not tried: the repository is not trusted here."),
			line("a", "status", "closed", "close_reason", "Unverified: it holds. Waived: x.") + since + line("a", "status", "closed", "close_reason", "Unverified: it holds. Waived: x.", "title", "renamed"),
		},
	},
	lint.RuleWeakened: {
		bad: []string{
			line("a", "acceptance_criteria", "x\ny") + since + line("a", "acceptance_criteria", "x"),
			line("a", "acceptance_criteria", "x") + since + line("a"),
			line("a", "acceptance_criteria", "x") + since + line("a", "acceptance_criteria", "true"),
			line("a", "description", "Acceptance:\n- x\n- y") + since + line("a", "description", "Acceptance:\n- x"),
		},
		good: []string{
			line("a", "acceptance_criteria", "x") + since + line("a", "acceptance_criteria", "x\n\ny"),
			line("a", "description", "Acceptance:\n- x") + since + line("a", "acceptance_criteria", "- x"),
		},
	},
	lint.RuleEdge: {
		bad: []string{
			line("a") + "\n" + line("b", "dependencies", rows("b", "a", "blocks")) + since + line("a") + "\n" + line("b"),
			line("a") + "\n" + line("b", "dependencies", rows("b", "a", "parent-child")) + since + line("a") + "\n" + line("b"),
			line("a") + "\n" + line("b", "dependencies", rows("b", "a", "blocks")) + since + line("a") + "\n" + line("b", "dependencies", rows("b", "a", "related")),
		},
		good: []string{
			line("a") + "\n" + line("b", "dependencies", rows("b", "a", "related")) + since + line("a") + "\n" + line("b"),
			line("a") + "\n" + line("b", "dependencies", rows("b", "a", "blocks")) + since + line("a", "status", "tombstone") + "\n" + line("b"),
			line("a") + "\n" + line("b", "dependencies", rows("b", "a", "blocks")) + since + line("a") + "\n" + line("b", "dependencies", rows("b", "a", "waits-for")),
		},
	},
	lint.RuleBackwards: {
		bad: []string{
			line("a", "notes", table("| progress | verifying | 2026-11-01 |")) + since + line("a", "notes", table("| progress | exploring | 2026-11-02 |")),
			line("a", "notes", table("| confidence | validated | 2026-11-01 |", "| evidence-freshness | 2026-11-01 | — |")) + since +
				line("a", "notes", table("| confidence | regressed | 2026-11-02 |", "| evidence-freshness | 2026-11-01 | — |")),
			line("a", "notes", table("| evidence-freshness | 2026-11-01 | — |")) + since + line("a", "notes", table("| evidence-freshness | absent | — |")),
			line("a", "notes", table("| regression-guard | automated | — |")) + since + line("a", "notes", table("| regression-guard | none | — |")),
			line("a", "notes", table("| escalation | resolved | — |")) + since + line("a", "notes", table("| escalation | none | — |")),
			line("a", "notes", table("| surprise | 0.4 | 2026-11-05 |")) + since + line("a", "notes", table("| surprise | 0.2 | 2026-11-02 |")),
			// the reason was there before, or is older than the signals
			line("a", "notes", table("| progress | verifying | 2026-11-01 |")+estimate+"It broke.\n<!-- /checkpoint-context -->") + since +
				line("a", "notes", table("| progress | exploring | 2026-11-01 |")+estimate+"It broke.\n<!-- /checkpoint-context -->"),
			line("a", "notes", table("| progress | verifying | 2026-11-01 |")) + since +
				line("a", "notes", table("| progress | exploring | 2026-11-02 |")+estimate+"It broke.\n<!-- /checkpoint-context -->"),
		},
		good: []string{
			line("a", "notes", table("| progress | exploring | 2026-11-01 |")) + since + line("a", "notes", table("| progress | verifying | 2026-11-02 |")),
			line("a", "notes", table("| progress | verifying | 2026-11-01 |")) + since + line("a", "notes", table("| progress | blocked | 2026-11-02 |")),
			line("a", "notes", table("| progress | blocked | 2026-11-01 |")) + since + line("a", "notes", table("| progress | exploring | 2026-11-02 |")),
			line("a", "notes", table("| surprise | 0.4 | 2026-11-01 |")) + since + line("a", "notes", table("| surprise | 0.2 | 2026-11-01 |")),
			// a row is added or removed
			line("a", "notes", table("| surprise | 0.4 | 2026-11-01 |")) + since + line("a", "notes", table("| surprise | 0.4 | 2026-11-01 |", "| confidence | regressed | 2026-11-02 |")),
			line("a", "notes", table("| surprise | 0.4 | 2026-11-01 |", "| progress | verifying | 2026-11-01 |")) + since + line("a", "notes", table("| surprise | 0.4 | 2026-11-01 |")),
			line("a", "notes", table("| progress | verifying | 2026-11-01 |")) + since +
				line("a", "notes", table("| progress | exploring | 2026-11-01 |")+estimate+"It broke.\n<!-- /checkpoint-context -->"),
		},
	},
	lint.RuleTrail: {
		bad: []string{
			line("a", "notes", asked) + since + line("a", "notes", strings.Replace(asked, "left", "right", 1)),
			line("a", "notes", asked) + since + line("a", "notes", strings.Replace(asked, "by mara", "by nora", 1)),
			line("a", "notes", asked) + since + line("a", "notes", strings.Replace(asked, "## Pending (2026-11-01)\nWhich?\n", "", 1)),
		},
		good: []string{
			line("a", "notes", asked) + since + line("a", "notes", strings.Replace(asked, "one.\n", "one.\n\n## Pending (2026-11-03)\nAnd now?\n", 1)),
			line("a", "notes", asked) + since + line("a", "notes", "before\n\n"+asked),
		},
	},
}

func check(t *testing.T, text string) []lint.Diagnostic {
	t.Helper()
	rules := lint.Rules{Schema: cue.Embedded(), Now: time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)}
	if rest, ok := strings.CutPrefix(text, merging); ok {
		rules.Unfinished, text = &lint.Unfinished{Reason: "has a conflict"}, rest
	}
	if before, after, ok := strings.Cut(text, since); ok {
		rules.Past, text = &lint.Past{File: open(t, before), Name: "main"}, after
	}
	if before, after, ok := strings.Cut(text, gated); ok {
		rules.Past, text = &lint.Past{File: open(t, before), Name: "main", Gate: []string{`gate.waivers is "anyone", was "people"`}}, after
	}
	rules.Commits = func(names []string) (has []bool, err error) {
		for _, name := range names {
			has = append(has, name == "1a2b3c4")
		}
		return has, nil
	}
	rules.Prove = func(ids []string) ([]lint.Proof, error) {
		proofs := make([]lint.Proof, len(ids))
		for i, id := range ids {
			switch id {
			case "fails":
				proofs[i].Failed = `exit 1: "go test ./..."`
			case "green":
				proofs[i].Green = true
			case "weakened":
				proofs[i].Weakened = []string{"check.sh"}
			}
		}
		return proofs, nil
	}
	file := open(t, text).Asking(func(_ *beads.Issue, id string) beads.External {
		_, gone := strings.CutPrefix(id, "external:gone:")
		return beads.External{Done: id == "external:done:a", Stale: gone, Why: beads.NotShown}
	}, nil)
	found, err := lint.Check(file, dag.New(file), rules)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func open(tb testing.TB, text string) *beads.Snapshot {
	tb.Helper()
	text, cut := strings.CutSuffix(text, "@cut")
	if !cut {
		text += "\n"
	}
	file, err := memory.New(text).Snapshot()
	if err != nil {
		tb.Fatal(err)
	}
	return file
}

// TestRules checks each rule against stores that break it and similar ones that do not.
func TestRules(t *testing.T) {
	for _, rule := range lint.All() {
		stores, ok := breaches[rule.ID]
		if !ok || len(stores.bad) == 0 || len(stores.good) == 0 {
			t.Errorf("%s: no store that breaks it, or none that does not", rule.ID)
		}
		breaks := func(d lint.Diagnostic) bool { return d.Rule == rule.ID }
		for _, text := range stores.bad {
			found := check(t, text)
			i := slices.IndexFunc(found, breaks)
			if i < 0 {
				t.Errorf("%s: not found in\n%s", rule.ID, text)
				continue
			}
			if found[i].Severity != rule.Severity || found[i].Line < 1 && rule.ID != lint.RuleVanished || found[i].Message == "" {
				t.Errorf("%s: %+v", rule.ID, found[i])
			}
		}
		for _, text := range stores.good {
			if found := check(t, text); slices.ContainsFunc(found, breaks) {
				t.Errorf("%s: found in\n%s\n%v", rule.ID, text, found)
			}
		}
	}
}

// TestTableIsComplete collects the names of rules from the sources of everything that reports
// them: the table contains each.
func TestTableIsComplete(t *testing.T) {
	var all []string
	for _, from := range []struct{ glob, prefix string }{
		{"*.go", "Rule"}, {"../../signals/finding.go", "Rule"}, {"../beads/problem.go", ""},
	} {
		all = append(all, constants(t, from.glob, from.prefix)...)
	}
	if len(all) < 20 {
		t.Fatalf("only %d rules in the sources", len(all))
	}
	for _, id := range all {
		if _, ok := lint.Named(id); !ok {
			t.Errorf("%s: not in the table of rules", id)
		}
	}
	for i, rule := range lint.All() {
		if !slices.Contains(all, rule.ID) {
			t.Errorf("%s: in the table, and nothing finds it", rule.ID)
		}
		if i > 0 && lint.All()[i-1].ID == rule.ID {
			t.Errorf("%s: twice in the table", rule.ID)
		}
		if rule.Summary == "" || rule.Why == "" || rule.Example == "" || rule.Fix == "" || rule.Severity == "" {
			t.Errorf("%s: not all is said: %+v", rule.ID, rule)
		}
	}
}

// constants returns the values of the constants whose names begin with a prefix.
func constants(t *testing.T, glob, prefix string) (texts []string) {
	t.Helper()
	paths, err := filepath.Glob(glob)
	if err != nil || len(paths) == 0 {
		t.Fatal(glob, err)
	}
	for _, path := range paths {
		parsed, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok || !strings.HasPrefix(spec.Names[0].Name, prefix) || len(spec.Values) != 1 {
				return true
			}
			if value, ok := spec.Values[0].(*ast.BasicLit); ok && value.Kind == token.STRING && spec.Names[0].IsExported() {
				text, _ := strconv.Unquote(value.Value)
				texts = append(texts, text)
			}
			return true
		})
	}
	return texts
}

// TestDiagnosticsFit checks that diagnostics with short data fit into 100 columns: a diagnostic
// is one line and is not wrapped. The ids in the stores have one letter and count as seven.
func TestDiagnosticsFit(t *testing.T) {
	const most, longer = 100, 6
	long := regexp.MustCompile(`"[^"]{12,}"`) // what is quoted is data
	columns := func(text, path string) int {
		text = long.ReplaceAllString(strings.ReplaceAll(text, path, ".beads/issues.jsonl"), `"123456789012"`)
		return utf8.RuneCountInString(text) + longer
	}
	listed := []string{ // cycles, allowed values, and messages of parsers
		lint.RuleDeadlock, "cycle", "signal-value", "signal-unknown", "signal-date",
		lint.RuleUnparsed, lint.RuleMalformed, beads.CutShort,
	}
	for _, rule := range lint.All() {
		for _, text := range breaches[rule.ID].bad {
			for _, d := range check(t, text) {
				if d.Rule != rule.ID || slices.Contains(listed, d.Rule) {
					continue
				}
				said := fmt.Sprintf("%s: %s: %s [%s]", d.Severity, d.Place(), d.Message, d.Rule)
				if n := columns(said, d.File); n > most {
					t.Errorf("%d columns: %s", n, said)
				}
				for line := range strings.Lines(d.Hint) {
					if n := columns("  hint: "+line, d.File); n > most {
						t.Errorf("%s: %d columns:   hint: %s", d.Rule, n, line)
					}
				}
			}
		}
	}
}

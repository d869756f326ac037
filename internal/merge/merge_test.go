package merge

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"stig/signals"
)

// mergeCase is one merge; the cases are also fuzz seeds. Functions issue and note build the
// lines.
type mergeCase struct {
	name               string
	base, ours, theirs string
	want               string // "" for a conflict
	means              string // instead of want: keys may be in another order
	or                 string // alternative to want: keys new to a line go to their place
	conflict           string // the beginning of the reason
}

// is builds a line: is("a", "", `"title":"x"`) or with an updated_at.
func is(id string, hour int, members ...string) string {
	all := append([]string{fmt.Sprintf(`"id":%q`, id)}, members...)
	all = append(all, fmt.Sprintf(`"created_at":"2026-11-01T00:00:00Z","updated_at":"2026-11-02T%02d:00:00Z"`, hour))
	return "{" + strings.Join(all, ",") + "}\n"
}

func noted(id string, hour int, text string) string {
	return is(id, hour, `"notes":"`+strings.ReplaceAll(text, "\n", `\n`)+`"`)
}

func crlf(text string) string { return strings.ReplaceAll(text, "\n", "\r\n") }

// table is a signal table with rows "name value date".
func table(rows ...string) string {
	text := "<!-- stigmergic-signals -->\n| Signal | Value | Updated |\n|---|---|---|\n"
	for _, r := range rows {
		text += "| " + strings.Join(strings.Fields(r), " | ") + " |\n"
	}
	return text + "<!-- /stigmergic-signals -->"
}

func sectionText(name, body string) string {
	return "<!-- " + name + " -->\n" + body + "\n<!-- /" + name + " -->"
}

// mergeCases are all of them.
func mergeCases() []mergeCase {
	return slices.Concat(generalCases(), closingCases(), remarkCases(), twinCases(), memoryCases())
}

func generalCases() []mergeCase {
	a, b, c := is("p-a", 0), is("p-b", 0), is("p-c", 0)
	progress := func(date, value string) string {
		return noted("p-a", 1, table("cynefin complicated 2026-11-01", "surprise 0.0 2026-11-01", "progress "+value+" "+date))
	}
	estimate := func(hour int, date, text string) string {
		return noted("p-a", hour, sectionText("checkpoint-context", "## State estimate ("+date+")\n\n"+text))
	}
	ran := func(hour int, date, text string) string {
		return noted("p-a", hour, sectionText("evidence-context", "## Evidence ("+date+")\n\n"+text))
	}
	// alsoKept is a line with the other side's findings after its notes.
	alsoKept := func(line, date, text string) string {
		raw := strings.ReplaceAll("\n\n"+sectionText(signals.MergedEstimateName(date, text), text), "\n", `\n`)
		return strings.Replace(line, `","created_at"`, raw+`","created_at"`, 1)
	}
	asked := "## Pending (2026-11-01)\nwhich?"
	trail := func(hour int, state, body string) string {
		return noted("p-a", hour, table("escalation "+state)+"\n\n"+sectionText("escalation-context", body))
	}
	status := func(hour int, text string, more ...string) string {
		return is("p-a", hour, append([]string{`"status":"` + text + `"`}, more...)...)
	}
	return []mergeCase{
		{name: "each side adds a line", base: a, ours: a + c, theirs: a + b, want: a + b + c},
		{name: "ids that do not ascend keep their neighbours", base: b + a, ours: b + is("p-a", 1), theirs: b + is("p-z", 0) + a, want: b + is("p-z", 0) + is("p-a", 1)},
		{name: "theirs alone sorts the file", base: c + a + b, ours: c + a + is("p-b", 1), theirs: a + b + c, want: a + is("p-b", 1) + c},
		{name: "one deletes, the other changes something else", base: a + b, ours: a, theirs: is("p-a", 1) + b, want: is("p-a", 1)},
		{name: "deleted and written in other bytes", base: a + b, ours: is("p-a", 1), theirs: a + strings.Replace(b, ":", ": ", 1), want: is("p-a", 1)},
		{name: "deleted and changed", base: a + b, ours: a, theirs: a + is("p-b", 1), conflict: "deleted in ours"},
		{name: "changed and deleted", base: a + b, ours: a + is("p-b", 1), theirs: a, conflict: "changed in ours"},
		{name: "a broken line of one side is its own", base: a + b, ours: a + "{\"id\":\"p-b\",\n", theirs: is("p-a", 1) + b, want: is("p-a", 1) + "{\"id\":\"p-b\",\n"},
		{name: "a broken line that the other side changed", base: a + b, ours: a + "{\"id\":\"p-b\",\n", theirs: a + is("p-b", 1), conflict: "both changed it, and ours is unreadable"},
		{name: "a broken line that both fixed", base: "{\"id\":\"p-b\",\n", ours: is("p-b", 1), theirs: is("p-b", 2), conflict: "both changed it, and its former line is unreadable"},
		{name: "a line of another kind", base: "{\"_type\":\"x\",\"key\":\"k\",\"v\":1}\n", ours: "{\"_type\":\"x\",\"key\":\"k\",\"v\":2}\n", theirs: "{\"_type\":\"x\",\"key\":\"k\",\"v\":3}\n", conflict: "x k: both changed v"},
		{name: "unknown lines", base: "", ours: "{\"_schema\":\"x\"}\n" + a, theirs: "{\"_schema\":\"x\"}\n" + b, want: "{\"_schema\":\"x\"}\n" + a + b},
		{name: "the end of the last line", base: a + b, ours: a + strings.TrimSuffix(b, "\n"), theirs: a + b + c, want: a + b + strings.TrimSuffix(c, "\n")},
		{name: "theirs alone moves lines, ours adds one", base: c + a, ours: c + a + is("p-d", 0), theirs: a + c, want: a + c + is("p-d", 0)},
		{name: "a line out of order stays where theirs has it", base: a + c, ours: is("p-a", 1) + c, theirs: a + c + b, want: is("p-a", 1) + c + b},
		{name: "ours turns the line ends, theirs changes a line", base: a + b, ours: crlf(a + b), theirs: is("p-a", 1) + b, want: crlf(is("p-a", 1) + b)},
		{name: "two issues with one id", base: "", ours: `{"id":"x","created_at":"1"}` + "\n", theirs: `{"id":"x","created_at":"2"}` + "\n",
			want: `{"id":"x","created_at":"1"}` + "\n" + `{"id":"x-s2ozps","notes":"Was x until branches were merged.","created_at":"2"}` + "\n"},
		{name: "one issue that both brought in", base: "", ours: is("x", 1, `"title":"t"`), theirs: is("x", 2, `"title":"t"`), want: is("x", 2, `"title":"t"`)},

		{name: "different keys", base: is("x", 0, `"title":"t"`, `"z":1`), ours: is("x", 1, `"title":"u"`, `"z":1`), theirs: is("x", 2, `"title":"t"`, `"z":2`), want: is("x", 2, `"title":"u"`, `"z":2`)},
		{name: "one scalar: the newer", base: is("x", 0, `"title":"t"`), ours: is("x", 3, `"title":"u"`), theirs: is("x", 2, `"title":"v"`), want: is("x", 3, `"title":"u"`)},
		{name: "one scalar, neither newer", base: is("x", 0, `"title":"t"`), ours: is("x", 2, `"title":"u"`), theirs: is("x", 2, `"title":"v"`), conflict: "both changed title"},
		{name: "a later claim, an older title", base: is("x", 0, `"title":"t"`, `"status":"open"`), ours: is("x", 3, `"title":"new"`, `"status":"open"`), theirs: is("x", 5, `"title":"old"`, `"status":"in_progress"`, `"assignee":"bo"`), conflict: "both changed title"},
		{name: "a title and a comment", base: is("x", 0, `"title":"t"`), ours: is("x", 3, `"title":"u"`), theirs: is("x", 5, `"title":"v"`, `"comments":[{"text":"seen"}]`), conflict: "both changed title"},
		{name: "two scalars", base: is("x", 0, `"title":"t"`, `"priority":1`), ours: is("x", 3, `"title":"u"`, `"priority":2`), theirs: is("x", 2, `"title":"v"`, `"priority":3`), conflict: "both changed title, priority"},
		{name: "a scalar and what programs write", base: is("x", 0, `"title":"t"`), ours: is("x", 3, `"title":"u"`, `"content_hash":"3"`), theirs: is("x", 2, `"title":"v"`, `"content_hash":"2"`), want: is("x", 3, `"title":"u"`, `"content_hash":"3"`)},
		{name: "two claims", base: status(0, "open"), ours: status(1, "in_progress", `"assignee":"ada"`), theirs: status(2, "in_progress", `"assignee":"bo"`), conflict: "both changed assignee"},
		{name: "a claim and a close", base: status(0, "open"), ours: status(1, "closed", `"assignee":"ada"`), theirs: status(2, "in_progress", `"assignee":"bo"`), want: status(2, "closed", `"assignee":"ada"`)},
		{name: "assigned to two, claimed by none", base: status(0, "open"), ours: status(1, "open", `"assignee":"ada"`), theirs: status(2, "open", `"assignee":"bo"`), want: status(2, "open", `"assignee":"bo"`)},
		{name: "metadata, one member of both", base: is("x", 0, `"metadata":{"a":1}`), ours: is("x", 1, `"metadata":{"a":2}`), theirs: is("x", 2, `"metadata":{"a":3}`), conflict: "both changed a in metadata"},
		{name: "a key of a program, neither newer", base: is("x", 0, `"content_hash":"t"`), ours: is("x", 2, `"content_hash":"u"`), theirs: is("x", 2, `"content_hash":"v"`), want: is("x", 2, `"content_hash":"v"`)},
		{name: "two descriptions", base: is("x", 0), ours: is("x", 3, `"description":"u"`), theirs: is("x", 2, `"description":"v"`), conflict: "both changed description"},
		{name: "spelling is no change", base: is("x", 0, `"description":"a<b"`), ours: is("x", 3, `"description":"a\u003cb"`), theirs: is("x", 2, `"description":"v"`), want: is("x", 3, `"description":"v"`)},
		{name: "metadata by member", base: is("x", 0, `"metadata":{"a":1,"b":1}`), ours: is("x", 1, `"metadata":{"a":2,"b":1}`), theirs: is("x", 1, `"metadata":{"a":1,"c":3}`), want: is("x", 1, `"metadata":{"a":2,"c":3}`)},
		{name: "labels are a set", base: is("x", 0, `"labels":["k","m"]`), ours: is("x", 1, `"labels":["k","m","o"]`), theirs: is("x", 1, `"labels":["a","m"]`), want: is("x", 1, `"labels":["a","m","o"]`)},
		{name: "edges are a set", base: is("x", 0, `"dependencies":[{"depends_on_id":"a","type":"blocks"}]`),
			ours:   is("x", 1, `"dependencies":[{"depends_on_id":"a","type":"blocks"},{"depends_on_id":"c","type":"blocks","created_at":"2"}]`),
			theirs: is("x", 1, `"dependencies":[{"depends_on_id":"b","type":"blocks","created_at":"1"}]`),
			want:   is("x", 1, `"dependencies":[{"depends_on_id":"b","type":"blocks","created_at":"1"},{"depends_on_id":"c","type":"blocks","created_at":"2"}]`)},
		{name: "a comment whose time lost its fraction on one side", base: is("x", 0, `"comments":[{"id":1,"author":"m","text":"u","created_at":"2026-11-01T00:00:00.5Z"}]`),
			ours:   is("x", 1, `"comments":[{"id":9,"author":"m","text":"u","created_at":"2026-11-01T00:00:00Z"}]`),
			theirs: is("x", 1, `"comments":[{"id":1,"author":"m","text":"u","created_at":"2026-11-01T00:00:00.5Z"},{"id":2,"author":"m","text":"u","created_at":"2026-11-02T00:00:00Z"}]`),
			want:   is("x", 1, `"comments":[{"id":9,"author":"m","text":"u","created_at":"2026-11-01T00:00:00Z"},{"id":2,"author":"m","text":"u","created_at":"2026-11-02T00:00:00Z"}]`)},
		{name: "comments of both", base: is("x", 0), ours: is("x", 1, `"comments":[{"id":1,"author":"m","text":"u","created_at":"2"}]`), theirs: is("x", 1, `"comments":[{"id":1,"author":"n","text":"v","created_at":"1"}]`),
			want: is("x", 1, `"comments":[{"id":1,"author":"n","text":"v","created_at":"1"},{"id":4463597899531,"author":"m","text":"u","created_at":"2"}]`)},

		{name: "different rows", base: progress("2026-11-01", "exploring"), ours: progress("2026-11-02", "implementing"),
			theirs: noted("p-a", 2, table("cynefin complex 2026-11-03", "surprise 0.4 2026-11-03", "progress exploring 2026-11-01")),
			want:   noted("p-a", 2, table("cynefin complex 2026-11-03", "surprise 0.4 2026-11-03", "progress implementing 2026-11-02"))},
		{name: "one row: the newer", base: progress("2026-11-01", "exploring"), ours: progress("2026-11-04", "implementing"), theirs: progress("2026-11-03", "verifying"), want: alsoKept(progress("2026-11-04", "implementing"), "2026-11-03", "Signals there: progress verifying (2026-11-03)")},
		{name: "one row, one date: the further", base: progress("2026-11-01", "exploring"), ours: progress("2026-11-03", "implementing"), theirs: progress("2026-11-03", "verifying"), want: alsoKept(progress("2026-11-03", "verifying"), "2026-11-03", "Signals there: progress implementing (2026-11-03)")},
		{name: "one row, one date: the side written last", base: noted("p-a", 0, table("surprise 0.0 2026-11-01")), ours: noted("p-a", 1, table("surprise 0.9 2026-11-02")), theirs: noted("p-a", 2, table("surprise 0.1 2026-11-02")),
			want: alsoKept(noted("p-a", 2, table("surprise 0.1 2026-11-02")), "2026-11-02", "Signals there: surprise 0.9 (2026-11-02)")},
		{name: "one row, one value", base: progress("2026-11-01", "exploring"), ours: progress("2026-11-04", "verifying"), theirs: progress("2026-11-03", "verifying"), want: progress("2026-11-04", "verifying")},
		{name: "one date: the higher surprise", base: noted("p-a", 0, table("surprise 0.0 2026-11-01")), ours: noted("p-a", 1, table("surprise 0.10 2026-11-02")), theirs: noted("p-a", 1, table("surprise 0.9 2026-11-02")), want: alsoKept(noted("p-a", 1, table("surprise 0.9 2026-11-02")), "2026-11-02", "Signals there: surprise 0.10 (2026-11-02)")},
		{name: "both made a table", base: noted("p-a", 0, "text"), ours: noted("p-a", 1, table("surprise 0.1 2026-11-02")+"\n\ntext"), theirs: noted("p-a", 1, table("progress blocked 2026-11-02")+"\n\ntext"),
			want: noted("p-a", 1, table("surprise 0.1 2026-11-02", "progress blocked 2026-11-02")+"\n\ntext")},
		{name: "both made a table, and one filled it later", base: noted("p-a", 0, "text"), ours: noted("p-a", 1, table("surprise 0.6 2026-11-02", "progress not-started 2026-11-02")+"\n\ntext"),
			theirs: noted("p-a", 2, table("surprise 0.0 2026-11-03", "progress blocked 2026-11-03")+"\n\ntext"), want: noted("p-a", 2, table("surprise 0.6 2026-11-02", "progress blocked 2026-11-03")+"\n\ntext")},
		{name: "one sets back what the other changed", base: noted("p-a", 0, table("surprise 0.3 2026-11-01")), ours: noted("p-a", 1, table("surprise 0.6 2026-11-02")), theirs: noted("p-a", 2, table("surprise 0.0 2026-11-03")),
			want: alsoKept(noted("p-a", 2, table("surprise 0.0 2026-11-03")), "2026-11-02", "Signals there: surprise 0.6 (2026-11-02)")},
		{name: "one removes a row, the other changes another", base: noted("p-a", 0, table("surprise 0.0 2026-11-01", "odd 1 2026-11-01")),
			ours: noted("p-a", 1, table("surprise 0.0 2026-11-01", "progress blocked 2026-11-02")), theirs: noted("p-a", 2, table("surprise 0.3 2026-11-02", "odd 1 2026-11-01")),
			want: noted("p-a", 2, table("surprise 0.3 2026-11-02", "progress blocked 2026-11-02"))},
		{name: "one removes a row, the other changes it", base: noted("p-a", 0, table("surprise 0.0 2026-11-01", "odd 1 2026-11-01")),
			ours: noted("p-a", 1, table("surprise 0.1 2026-11-02")), theirs: noted("p-a", 2, table("surprise 0.0 2026-11-01", "odd 2 2026-11-02")),
			want: noted("p-a", 2, table("surprise 0.1 2026-11-02", "odd 2 2026-11-02"))},
		{name: "a pending row without a question", base: noted("p-a", 0, table("escalation none 2026-11-01")),
			ours: noted("p-a", 1, table("escalation pending 2026-11-02")), theirs: noted("p-a", 2, table("escalation pending 2026-11-03")),
			want: noted("p-a", 2, table("escalation pending 2026-11-03"))},
		{name: "one changes text, the other a row", base: noted("p-a", 0, table("surprise 0.0 2026-11-01")+"\n\ntext"), ours: noted("p-a", 1, table("surprise 0.1 2026-11-02")+"\n\ntext"),
			theirs: noted("p-a", 2, "before\n\n"+table("surprise 0.0 2026-11-01")+"\n\nanother"), want: noted("p-a", 2, "before\n\n"+table("surprise 0.1 2026-11-02")+"\n\nanother")},
		{name: "the newer estimate", base: estimate(0, "2026-11-01", "old"), ours: estimate(1, "2026-11-03", "mine"), theirs: estimate(2, "2026-11-02", "theirs"), want: alsoKept(estimate(2, "2026-11-03", "mine"), "2026-11-02", "## State estimate (2026-11-02)\n\ntheirs")},
		{name: "estimates of one day", base: estimate(0, "2026-11-01", "old"), ours: estimate(1, "2026-11-03", "mine"), theirs: estimate(2, "2026-11-03", "theirs"), want: alsoKept(estimate(2, "2026-11-03", "theirs"), "2026-11-03", "## State estimate (2026-11-03)\n\nmine")},
		{name: "an estimate without a date", base: noted("p-a", 0, sectionText("checkpoint-context", "old")), ours: noted("p-a", 1, sectionText("checkpoint-context", "mine")), theirs: noted("p-a", 2, sectionText("checkpoint-context", "theirs")),
			want: alsoKept(noted("p-a", 2, sectionText("checkpoint-context", "theirs")), "2026-11-02", "mine")},
		{name: "an estimate and the signals of the same side", base: noted("p-a", 0, table("surprise 0.0 2026-11-01", "progress exploring 2026-11-01")+"\n\n"+sectionText("checkpoint-context", "old")),
			ours:   noted("p-a", 1, table("surprise 0.4 2026-11-02", "progress implementing 2026-11-02")+"\n\n"+sectionText("checkpoint-context", "mine")),
			theirs: noted("p-a", 2, table("surprise 0.1 2026-11-03", "progress verifying 2026-11-03")+"\n\n"+sectionText("checkpoint-context", "theirs")),
			want: alsoKept(noted("p-a", 2, table("surprise 0.1 2026-11-03", "progress verifying 2026-11-03")+"\n\n"+sectionText("checkpoint-context", "theirs")), "2026-11-02",
				"mine\n\nSignals there: surprise 0.4 (2026-11-02), progress implementing (2026-11-02)")},
		{name: "one estimate on both sides, in other blanks", base: estimate(0, "2026-11-01", "old"), ours: estimate(1, "2026-11-03", "mine  too"), theirs: estimate(2, "2026-11-03", "mine too"), want: estimate(2, "2026-11-03", "mine too")},
		{name: "a third estimate", base: alsoKept(estimate(0, "2026-11-01", "old"), "2026-10-01", "first"), ours: alsoKept(estimate(1, "2026-11-03", "mine"), "2026-10-01", "first"), theirs: alsoKept(estimate(2, "2026-11-02", "theirs"), "2026-10-01", "first"),
			want: alsoKept(alsoKept(estimate(2, "2026-11-03", "mine"), "2026-10-01", "first"), "2026-11-02", "## State estimate (2026-11-02)\n\ntheirs")},
		{name: "estimates kept on both sides", base: estimate(0, "2026-11-01", "old"), ours: alsoKept(estimate(0, "2026-11-01", "old"), "2026-10-02", "second"), theirs: alsoKept(estimate(1, "2026-11-01", "old"), "2026-10-01", "first"),
			want: alsoKept(alsoKept(estimate(1, "2026-11-01", "old"), "2026-10-01", "first"), "2026-10-02", "second")},
		{name: "the newer evidence", base: ran(0, "2026-11-01", "old"), ours: ran(1, "2026-11-03", "mine"), theirs: ran(2, "2026-11-02", "theirs"), want: alsoKept(ran(2, "2026-11-03", "mine"), "2026-11-02", "## Evidence (2026-11-02)\n\ntheirs")},
		{name: "an estimate and a table", base: noted("p-a", 0, "text"), ours: noted("p-a", 1, "text\n\n"+sectionText("checkpoint-context", "x")), theirs: noted("p-a", 2, table("surprise 0.1 2026-11-02")+"\n\ntext"),
			want: noted("p-a", 2, table("surprise 0.1 2026-11-02")+"\n\ntext\n\n"+sectionText("checkpoint-context", "x"))},
		{name: "question and answer", base: trail(0, "pending 2026-11-01", asked),
			ours:   trail(1, "resolved 2026-11-03", asked+"\n\n## Resolved (2026-11-03)\nthis"),
			theirs: trail(1, "pending 2026-11-04", asked+"\n\n## Pending (2026-11-04)\nand that?"),
			want:   trail(1, "pending 2026-11-04", asked+"\n\n## Resolved (2026-11-03)\nthis\n\n## Pending (2026-11-04)\nand that?")},
		{name: "a question of the day of the answer stands", base: trail(0, "pending 2026-11-01", asked),
			ours:   trail(1, "resolved 2026-11-03", asked+"\n\n## Resolved (2026-11-03)\nthis"),
			theirs: trail(1, "pending 2026-11-03", asked+"\n\n## Pending (2026-11-03)\nand that?"),
			want:   trail(1, "pending 2026-11-03", asked+"\n\n## Resolved (2026-11-03)\nthis\n\n## Pending (2026-11-03)\nand that?")},
		{name: "both append text", base: noted("p-a", 0, "text"), ours: noted("p-a", 2, "text\n\nlater"), theirs: noted("p-a", 1, "text\n\nsooner"), want: noted("p-a", 2, "text\n\nsooner\n\nlater")},
		{name: "both change text", base: noted("p-a", 0, "text"), ours: noted("p-a", 2, "mine"), theirs: noted("p-a", 1, "theirs"), conflict: "both changed notes outside"},
		{name: "notes wiped and written", base: noted("p-a", 0, "text"), ours: is("p-a", 2), theirs: noted("p-a", 1, "text, more"), want: noted("p-a", 2, "text, more")},
		{name: "malformed notes", base: noted("p-a", 0, "text"), ours: noted("p-a", 2, "text\n\n<!-- x -->\n\nfoo"), theirs: noted("p-a", 1, "text, more"), conflict: "both changed notes, which are malformed in ours"},
		{name: "one removes a section, the other changes the table", base: noted("p-a", 0, table("surprise 0.0 2026-11-01")+"\n\n"+sectionText("x", "y")),
			ours: noted("p-a", 1, table("surprise 0.0 2026-11-01")), theirs: noted("p-a", 2, table("surprise 0.2 2026-11-02")+"\n\n"+sectionText("x", "y")),
			want: noted("p-a", 2, table("surprise 0.2 2026-11-02"))},
		{name: "one removes a section, the other changes it", base: noted("p-a", 0, sectionText("x", "y")+"\n\ntext"), ours: noted("p-a", 1, "text"), theirs: noted("p-a", 2, sectionText("x", "z")+"\n\ntext"), conflict: "one side removed the section x"},
		{name: "both add sections", base: noted("p-a", 0, "text"), ours: noted("p-a", 1, "text\n\n"+sectionText("k", "1")), theirs: noted("p-a", 2, "text\n\n"+sectionText("c", "2")), want: noted("p-a", 2, "text\n\n"+sectionText("c", "2")+"\n\n"+sectionText("k", "1"))},
	}
}

func TestMerge(t *testing.T) {
	for _, c := range mergeCases() {
		t.Run(c.name, func(t *testing.T) {
			for _, side := range []struct{ name, ours, theirs string }{{"", c.ours, c.theirs}, {"turned round: ", c.theirs, c.ours}} {
				r := Options{}.Stores(c.base, side.ours, side.theirs)
				if c.means != "" {
					if len(r.Conflicts) > 0 || !sameStores(t, r.Text, c.means) {
						t.Errorf("%sgot\n%s\nwant\n%s\nconflicts %v", side.name, r.Text, c.means, r.Conflicts)
					}
					continue
				}
				if c.want != "" && (r.Text != c.want && r.Text != c.or || len(r.Conflicts) > 0) {
					t.Errorf("%sgot\n%s\nwant\n%s\nconflicts %v", side.name, r.Text, c.want, r.Conflicts)
				}
				if c.want == "" && (len(r.Conflicts) != 1 || side.name == "" && !strings.HasPrefix(r.Conflicts[0].Reason, c.conflict)) {
					t.Errorf("%sconflicts %v, want one: %s", side.name, r.Conflicts, c.conflict)
				}
			}
		})
	}
}

// TestConflictMarkers: they enclose the line alone, with both versions whole.
func TestConflictMarkers(t *testing.T) {
	ours, theirs := is("b", 1, `"description":"u"`), is("b", 2, `"description":"v"`)
	r := Options{}.Stores(is("a", 0)+is("b", 0)+is("c", 0), is("a", 0)+ours+is("c", 0), is("a", 1)+theirs+is("c", 0))
	want := is("a", 1) + "<<<<<<< ours\n" + ours + "||||||| base\n" + is("b", 0) + "=======\n" + theirs + ">>>>>>> theirs\n" + is("c", 0)
	if r.Text != want {
		t.Errorf("got\n%s\nwant\n%s", r.Text, want)
	}
	questions := []Question{{Key: "description", Ours: "u", Theirs: "v", reason: "both changed description"}}
	if len(r.Conflicts) != 1 || !reflect.DeepEqual(r.Conflicts[0], Conflict{"b", 2, "both changed description", questions}) {
		t.Errorf("got %v", r.Conflicts)
	}
}

// TestDeletion: the outcome is reported if one side deleted an issue and the other changed it,
// whichever is ours.
func TestDeletion(t *testing.T) {
	base := is("p", 0, `"status":"open"`)
	deleted := is("p", 1, `"status":"tombstone"`, `"deleted_at":"d"`)
	for other, want := range map[string]string{
		is("p", 2, `"status":"in_progress"`):                        "it stays deleted",
		is("p", 2, `"status":"open"`, `"title":"u"`):                "it stays deleted",
		is("p", 2, `"status":"closed"`):                             "it is restored with the status closed; in the merged estimate, since its status is closed: deleted_at \"d\"",
		is("p", 2, `"status":"tombstone"`, `"deleted_at":"e"`):      "",
		is("p", 0, `"status":"closed"`, `"closed_at":"2026-11-02"`): "it stays deleted",
	} {
		for sides, r := range map[string]Result{
			"deleted in ours, changed in theirs: ": Options{}.Stores(base, deleted, other),
			"changed in ours, deleted in theirs: ": Options{}.Stores(base, other, deleted),
		} {
			if want == "" && len(r.Warnings) == 0 {
				continue
			}
			if len(r.Warnings) != 1 || r.Warnings[0].Message != sides+want || len(r.Conflicts) > 0 {
				t.Errorf("%s%s: %v, %v", sides, other, r.Warnings, r.Conflicts)
			}
		}
	}
}

// TestUnseenQuestion: the trail is sorted by date, which puts an answer after a question its
// author has not seen.
func TestUnseenQuestion(t *testing.T) {
	version := func(hour int, state, more string) string {
		return noted("q", hour, table("escalation "+state)+"\n\n"+sectionText("escalation-context", "## Pending (2026-11-01)\na?"+more))
	}
	base := version(0, "pending 2026-11-01", "")
	ours := version(1, "resolved 2026-11-05", "\n\n## Resolved (2026-11-05)\nb")
	theirs := version(2, "pending 2026-11-03", "\n\n## Pending (2026-11-03)\nc?")
	for _, r := range []Result{Options{}.Stores(base, ours, theirs), Options{}.Stores(base, theirs, ours)} {
		want := version(2, "resolved 2026-11-05", "\n\n## Pending (2026-11-03)\nc?\n\n## Resolved (2026-11-05)\nb")
		if r.Text != want || len(r.Conflicts) > 0 {
			t.Errorf("got\n%s\nwant\n%s", r.Text, want)
		}
		if len(r.Warnings) != 1 || !strings.HasPrefix(r.Warnings[0].Message, "the answer of 2026-11-05 also counts for the question of 2026-11-03") {
			t.Errorf("warnings %v", r.Warnings)
		}
	}
}

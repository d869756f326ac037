package merge

import (
	"strings"
	"testing"

	"stig/signals"
)

// closerNote is the merged estimate from the side that closed an issue, as JSON in the default
// style.
func closerNote(date string, said ...string) string {
	text := "From the side that closed it:\n- " + strings.Join(said, "\n- ")
	return goStyle(sectionText(signals.MergedEstimateName(date, text), text))
}

func goStyle(text string) string {
	return strings.NewReplacer("\n", `\n`, "<", `\u003c`, ">", `\u003e`).Replace(text)
}

// closingCases: what either side knows about how an issue was closed or deleted is kept, key by
// key.
func closingCases() []mergeCase {
	status := func(hour int, text string, more ...string) string {
		return is("p-a", hour, append([]string{`"status":"` + text + `"`}, more...)...)
	}
	// after is status with keys in the place of keys new to a line.
	after := func(hour int, text, more string) string {
		return strings.TrimSuffix(status(hour, text), "}\n") + "," + more + "}\n"
	}
	kept := func(hour int, text, date string, said ...string) string {
		return is("p-a", hour, `"notes":"`+closerNote(date, said...)+`"`, `"status":"`+text+`"`)
	}
	closedAt := func(hour, reason string) []string {
		return []string{`"closed_at":"2026-11-02T` + hour + `:00:00Z"`, `"close_reason":"` + reason + `"`}
	}
	open := status(0, "open")
	both := func(notes, at, reason string) string {
		return is("p-a", 5, `"notes":"`+notes+`"`, `"status":"closed"`, `"closed_at":"2026-11-02T`+at+`:00:00Z"`, `"close_reason":"`+reason+`"`)
	}
	return []mergeCase{
		{name: "closed beats open", base: open, ours: status(5, "in_progress"), theirs: status(1, "closed", `"close_reason":"done"`), want: status(5, "closed", `"close_reason":"done"`), or: after(5, "closed", `"close_reason":"done"`)},
		{name: "only the earlier says why", base: open, ours: status(5, "closed"), theirs: status(1, "closed", `"close_reason":"done"`), want: status(5, "closed", `"close_reason":"done"`), or: after(5, "closed", `"close_reason":"done"`)},
		{name: "only the earlier says when and by whom", base: open, ours: status(5, "closed", `"close_reason":"done"`), theirs: status(1, "closed", `"closed_at":"1"`, `"closed_by_session":"s"`),
			means: status(5, "closed", `"closed_at":"1"`, `"close_reason":"done"`, `"closed_by_session":"s"`)},
		{name: "only the earlier says who deleted it", base: open, ours: status(5, "tombstone", `"deleted_at":"2026-11-02"`), theirs: status(1, "tombstone", `"deleted_by":"ann"`, `"delete_reason":"twice"`),
			means: status(5, "tombstone", `"deleted_at":"2026-11-02"`, `"deleted_by":"ann"`, `"delete_reason":"twice"`)},
		{name: "deleted, and closed later", base: open, ours: status(1, "tombstone", `"deleted_at":"2026-11-02T01:00:00Z"`, `"delete_reason":"twice"`), theirs: status(5, "closed", `"close_reason":"done"`),
			means: is("p-a", 5, `"notes":"`+closerNote("2026-11-02", "delete_reason: twice", "deleted_at: 2026-11-02T01:00:00Z")+`"`, `"status":"closed"`, `"close_reason":"done"`)},
		{name: "two reasons: the later", base: open, ours: status(5, "closed", closedAt("03", "first")...), theirs: status(4, "closed", closedAt("04", "second")...),
			want: both(closerNote("2026-11-02", "close_reason: first", "closed_at: 2026-11-02T03:00:00Z"), "04", "second")},
		{name: "two reasons: the verified one", base: open, ours: status(5, "closed", closedAt("04", "Closed")...), theirs: status(1, "closed", closedAt("01", "Verified: it digs.")...),
			want: both(closerNote("2026-11-02", "close_reason: Closed", "closed_at: 2026-11-02T04:00:00Z"), "01", "Verified: it digs.")},
		{name: "one reason in other blanks", base: open, ours: status(5, "closed", closedAt("03", "all  done")...), theirs: status(4, "closed", closedAt("04", "all done")...), want: status(5, "closed", closedAt("04", "all done")...)},
		{name: "one side gave another reason", base: status(0, "closed", `"close_reason":"done"`), ours: status(1, "closed", `"close_reason":"Verified: done"`), theirs: status(2, "closed", `"close_reason":"done"`, `"z":1`), means: status(2, "closed", `"close_reason":"Verified: done"`, `"z":1`)},
		{name: "reopened beats another reason", base: status(0, "closed", `"close_reason":"done"`), ours: status(1, "open"), theirs: status(5, "closed", `"close_reason":"done at last"`), want: kept(5, "open", "2026-11-02", "close_reason: done at last")},
		{name: "reopened, and taken up on the other side", base: status(0, "closed", `"close_reason":"done"`), ours: status(1, "open"), theirs: status(5, "closed", `"close_reason":"done"`, `"priority":1`), want: status(5, "open", `"priority":1`), or: after(5, "open", `"priority":1`)},
		{name: "closed again before it was reopened", base: status(0, "closed", `"closed_at":"2026-11-01T00:00:00Z"`), ours: status(5, "open"), theirs: status(4, "closed", closedAt("04", "once more")...),
			want: kept(5, "open", "2026-11-02", "close_reason: once more", "closed_at: 2026-11-02T04:00:00Z")},
		{name: "closed again after it was reopened", base: status(0, "closed", `"closed_at":"2026-11-01T00:00:00Z"`), ours: status(1, "open"), theirs: status(5, "closed", closedAt("05", "once more")...),
			want: status(5, "closed", closedAt("05", "once more")...), or: after(5, "closed", strings.Join(closedAt("05", "once more"), ","))},
		{name: "a reason on an open issue", base: open, ours: status(1, "open", `"close_reason":"stays"`), theirs: status(2, "in_progress"), want: kept(2, "in_progress", "2026-11-02", "close_reason: stays")},
		{name: "one removes, the other changes", base: is("x", 0, `"assignee":"ann"`, `"z":1`), ours: is("x", 1, `"z":2`), theirs: is("x", 2, `"assignee":"bo"`), means: is("x", 2, `"assignee":"bo"`, `"z":2`)},
		{name: "one removes, the other leaves it", base: is("x", 0, `"assignee":"ann"`, `"z":1`), ours: is("x", 1, `"z":1`), theirs: is("x", 2, `"assignee":"ann"`, `"z":2`), want: is("x", 2, `"z":2`)},
		{name: "members of members", base: is("x", 0, `"metadata":{"a":{"b":1}}`), ours: is("x", 1, `"metadata":{"a":{"b":1,"c":2}}`), theirs: is("x", 2, `"metadata":{"a":{"b":1,"d":3}}`), means: is("x", 2, `"metadata":{"a":{"b":1,"c":2,"d":3}}`)},
	}
}

// remarkCases: comments and rows are distinguished by content and time.
func remarkCases() []mergeCase {
	said := func(n, day string) string {
		return `{"id":` + n + `,"author":"ci","text":"build failed","created_at":"2026-11-` + day + `T10:00:00Z"}`
	}
	on := func(hour int, list ...string) string {
		return is("x", hour, `"comments":[`+strings.Join(list, ",")+`]`)
	}
	row := func(id, more string) string { return `{"depends_on_id":"` + id + `","type":"blocks"` + more + `}` }
	rows := func(hour int, list ...string) string {
		return is("x", hour, `"dependencies":[`+strings.Join(list, ",")+`]`)
	}
	return []mergeCase{
		{name: "the same words on two days", base: on(0, said("1", "01")), ours: on(1, said("1", "01"), said("2", "02")), theirs: on(2, said("1", "01"), said("3", "03")), want: on(2, said("1", "01"), said("2", "02"), said("3", "03"))},
		{name: "numbered anew", base: on(0, said("1", "01")), ours: on(1, said("7", "01"), said("8", "02")), theirs: on(2, said("1", "01"), said("3", "03")), want: on(2, said("7", "01"), said("8", "02"), said("3", "03"))},
		{name: "dated anew on one side", base: on(0, said("1", "01")), ours: on(1, said("1", "05")), theirs: on(2, said("1", "01"), said("3", "03")), want: on(2, said("1", "05"), said("3", "03"))},
		{name: "dated anew on both", base: on(0, said("1", "01")), ours: on(1, said("1", "05")), theirs: on(2, said("1", "06")), want: on(2, said("1", "06"))},
		{name: "one comment, which both brought", base: on(0), ours: on(1, said("1", "01")), theirs: on(2, said("1", "01")), want: on(2, said("1", "01"))},
		{name: "what two add to one row", base: rows(0, row("a", "")), ours: rows(1, row("a", `,"created_by":"ann"`)), theirs: rows(2, row("a", `,"thread_id":"t"`)), means: rows(2, row("a", `,"created_by":"ann","thread_id":"t"`))},
		{name: "rows without a target", base: rows(0, row("a", "")), ours: rows(1, row("a", ""), `{"id":"b","type":"blocks"}`), theirs: rows(2, row("a", ""), `{"id":"c","type":"blocks"}`),
			want: rows(2, row("a", ""), `{"id":"b","type":"blocks"}`, `{"id":"c","type":"blocks"}`)},
		{name: "a row that one side removed and the other changed", base: rows(0, row("a", ""), row("b", "")), ours: rows(1, row("b", "")), theirs: rows(2, row("a", `,"thread_id":"t"`), row("b", "")), want: rows(2, row("a", `,"thread_id":"t"`), row("b", ""))},
	}
}

// memoryCases: lines that are not issues are merged key by key.
func memoryCases() []mergeCase {
	memory := func(key, more string) string { return `{"_type":"memory","key":"` + key + `"` + more + `}` + "\n" }
	k := memory("k", `,"value":"v"`)
	return []mergeCase{
		{name: "two memories", base: k, ours: k + memory("m", ""), theirs: memory("k", `,"value":"w"`), want: memory("k", `,"value":"w"`) + memory("m", "")},
		{name: "keys of one memory", base: k, ours: memory("k", `,"value":"v","a":1`), theirs: memory("k", `,"value":"w"`), want: memory("k", `,"value":"w","a":1`)},
		{name: "one memory in two wordings", base: k, ours: memory("k", `,"value":"x"`), theirs: memory("k", `,"value":"w"`), conflict: "memory k: both changed value"},
		{name: "one memory, new on both sides", base: "", ours: memory("k", `,"value":"x","created_at":"1"`), theirs: memory("k", `,"value":"w","created_at":"2"`), conflict: "memory k: both changed value, created_at"},
		{name: "a memory taken away", base: k + memory("m", ""), ours: memory("m", ""), theirs: k + memory("m", `,"value":"w"`), want: memory("m", `,"value":"w"`)},
		{name: "a memory taken away and changed", base: k, ours: "", theirs: memory("k", `,"value":"w"`), conflict: "memory k: deleted in ours, changed in theirs"},
		{name: "two headers", base: `{"_schema":"s/1"}` + "\n", ours: `{"_schema":"s/2"}` + "\n", theirs: `{"_schema":"s/1","at":1}` + "\n", want: `{"_schema":"s/2","at":1}` + "\n"},
		{name: "a memory twice", base: k, ours: k, theirs: memory("k", `,"value":"w"`) + memory("k", ` ,"value":"w"`), want: memory("k", ` ,"value":"w"`)},
	}
}

// twinCases: lines with the same content are merged, others are a question.
func twinCases() []mergeCase {
	a, b := is("p-a", 0), is("p-b", 0)
	one := func(hour int, title string) string { return is("p-a", hour, `"title":"`+title+`"`) }
	return []mergeCase{
		{name: "twins of one side", base: a + b, ours: one(1, "t") + b, theirs: a + a + b, want: one(1, "t") + b},
		{name: "twins of both sides", base: a, ours: one(1, "t") + one(1, "t"), theirs: a + a + b, want: one(1, "t") + b},
		{name: "twins in base", base: a + a, ours: one(1, "t"), theirs: a + b, want: one(1, "t") + b},
		{name: "three of one", base: a, ours: a + b, theirs: a + a + a, want: a + b},
		{name: "in other spelling", base: a, ours: a + b, theirs: a + strings.Replace(a, `":"`, `" : "`, 2), want: strings.Replace(a, `":"`, `" : "`, 2) + b},
		{name: "written at other times", base: a, ours: a + b, theirs: is("p-a", 2) + is("p-a", 1), want: is("p-a", 2) + b},
		{name: "that one side united", base: one(0, "t") + one(0, "u"), ours: one(0, "u") + b, theirs: one(0, "t") + one(0, "u") + is("p-c", 0), want: one(0, "u") + b + is("p-c", 0)},
		{name: "that nobody touched", base: one(0, "t") + b + one(0, "u"), ours: one(0, "t") + is("p-b", 1) + one(0, "u"), theirs: one(0, "t") + b + one(0, "u") + is("p-c", 0),
			want: one(0, "t") + is("p-b", 1) + one(0, "u") + is("p-c", 0)},
		{name: "that differ", base: a, ours: a + b, theirs: one(1, "t") + one(1, "u"), conflict: "stands on 2 lines of theirs, which differ"},
		{name: "that differ on both sides", base: a, ours: one(1, "t") + one(1, "u"), theirs: one(1, "t") + one(1, "u"), conflict: "stands on 2 lines of ours and 2 lines of theirs"},
		{name: "of which one was changed", base: one(0, "t") + one(0, "u"), ours: one(1, "v") + one(0, "u"), theirs: one(0, "t") + one(0, "u") + b, conflict: "stands on 2 lines of ours and 2 lines of theirs"},
		{name: "and their line ends", base: crlf(a + b), ours: crlf(one(1, "t") + b), theirs: crlf(a + a + b), want: crlf(one(1, "t") + b)},
	}
}

// TestTwins: removed lines are reported, and differing ones can be answered both ways.
func TestTwins(t *testing.T) {
	a, b := is("p-a", 0), is("p-b", 0)
	r := Options{}.Stores(a, a+b, a+a+a)
	if len(r.Warnings) != 1 || r.Warnings[0] != (Warning{"p-a", "was on 3 lines of theirs with the same content: kept one"}) {
		t.Errorf("got %v", r.Warnings)
	}
	mine, yours := is("p-a", 1, `"title":"t"`), is("p-a", 2, `"title":"u"`)
	r = Options{}.Stores(a+b, a+b, mine+yours+b)
	if want := "<<<<<<< ours\n" + a + "||||||| base\n" + a + "=======\n" + mine + yours + ">>>>>>> theirs\n" + b; r.Text != want {
		t.Fatalf("got\n%s\nwant\n%s", r.Text, want)
	}
	for side, want := range map[Side]string{Ours: a + b, Theirs: mine + yours + b} {
		if got := answer(t, r.Text, "p-a", Answers{Whole: side}); got != want {
			t.Errorf("%s: got\n%s\nwant\n%s", side, got, want)
		}
	}
}

// TestClosingWarnings: values that lose their key are reported.
func TestClosingWarnings(t *testing.T) {
	line := func(hour int, status, reason string) string {
		return is("p", hour, `"status":"`+status+`"`, `"close_reason":"`+reason+`"`)
	}
	for want, sides := range map[string][3]string{
		`both changed close_reason: kept "two", the later; "one" is in the merged estimate`:                {is("p", 0, `"status":"open"`), line(1, "closed", "one"), line(2, "closed", "two")},
		`both changed close_reason: kept "Verified: a", the verified one; "two" is in the merged estimate`: {is("p", 0, `"status":"open"`), line(1, "closed", "Verified: a"), line(2, "closed", "two")},
		`in the merged estimate, since its status is open: close_reason "two"`:                             {line(0, "closed", "one"), is("p", 1, `"status":"open"`), line(2, "closed", "two")},
		`assignee: removed in ours and changed in theirs: kept "bo"`:                                       {is("p", 0, `"assignee":"ann"`), is("p", 1), is("p", 2, `"assignee":"bo"`)},
		`both changed it, and its notes cannot keep how it was closed: they are malformed`:                 {is("p", 0, `"status":"open"`, `"notes":"<!-- x -->"`), is("p", 1, `"notes":"<!-- x -->"`, `"status":"closed"`, `"close_reason":"one"`), is("p", 2, `"notes":"<!-- x -->"`, `"status":"closed"`, `"close_reason":"two"`)},
		`both changed it, and its notes cannot keep how it was closed: section "merged-estimate`:           {is("p", 0, `"status":"open"`), line(1, "closed", `a\n<!-- x -->\nb`), line(2, "closed", "two")},
	} {
		r := Options{}.Stores(sides[0], sides[1], sides[2])
		var got string
		for _, w := range r.Warnings {
			got += w.Message
		}
		for _, c := range r.Conflicts {
			got += c.Reason
		}
		if !strings.HasPrefix(got, want) {
			t.Errorf("got %s\nwant %s", got, want)
		}
	}
}

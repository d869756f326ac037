package merge

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"stig/internal/beads"
	"stig/internal/fault"
	"stig/internal/testkit/sample"
	"stig/internal/visible"
)

// answer gives answers to the store one call at a time, as a person would.
func answer(t *testing.T, text, id string, given ...Answers) string {
	t.Helper()
	for _, a := range given {
		r, err := Resolve(text, Origin{}, id, a)
		if err != nil {
			t.Fatalf("%s: %v: %v\n%s", id, a, err, text)
		}
		text = text[:r.Start] + r.Text + text[r.End:]
	}
	return text
}

// baseless removes the base from conflict markers, as git's default style does.
func baseless(text string) string {
	for {
		start := strings.Index(text, "||||||| base\n")
		if start < 0 {
			return text
		}
		text = text[:start] + text[start+strings.Index(text[start:], "=======\n"):]
	}
}

// TestAnswers: the order of the answers makes no difference; both values stay in the store
// until the last answer, and then the chosen ones are there.
func TestAnswers(t *testing.T) {
	asked := 0
	for seed := range uint64(sample.Rounds(37)) {
		r := rand.New(rand.NewPCG(seed, 3))
		base := store{"p-a": newItem(0), "p-b": newItem(1)}
		sides := []store{base.clone(), base.clone()}
		for n := range 24 {
			s := sides[r.IntN(2)]
			id := []string{"p-a", "p-b"}[r.IntN(2)]
			all := aspects()
			all[r.IntN(len(all)-1)](s, id, 10+n)
			if r.IntN(4) == 0 {
				s[id].sections = append(s[id].sections[:0:0], sectionText("x", "")[:0]+fmt.Sprintf("old\nnews %d", n))
			}
			s[id].updated = r.IntN(40)
		}
		text := merged(base.text(t), sides[0].text(t), sides[1].text(t)).Text
		if seed%3 == 0 {
			text = baseless(text)
		}
		for _, c := range Open(text, Origin{}) {
			asked += len(c.Questions)
			checkAnswers(t, r, text, c)
		}
	}
	if asked < sample.Rounds(37) {
		t.Fatalf("only %d questions: the test tests little", asked)
	}
}

func checkAnswers(t *testing.T, r *rand.Rand, text string, c Conflict) {
	t.Helper()
	all := Answers{}
	for _, q := range c.Questions {
		all[q.Key] = []Side{Ours, Theirs}[r.IntN(2)]
	}
	want := answer(t, text, c.ID, all)
	for range 3 * min(len(all), 1) {
		keys := slices.Sorted(maps.Keys(all))
		r.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
		var one []Answers
		for _, k := range keys {
			one = append(one, Answers{k: all[k]})
		}
		if got := answer(t, text, c.ID, one...); got != want {
			t.Fatalf("answers %v in the order %v\nof\n%s\ngive\n%s\nwant\n%s", all, keys, text, got, want)
		}
		if len(one) > 1 {
			before := answer(t, text, c.ID, one[:len(one)-1]...)
			for _, q := range c.Questions {
				if !strings.Contains(before, beads.Meaning(quote(q.Ours))) && !strings.Contains(q.Key, ":") {
					t.Fatalf("%s of ours is gone before all is answered:\n%s", q.Key, before)
				}
			}
		}
	}
	for l := range strings.SplitSeq(want, "\n") {
		record, err := beads.ParseRecord([]byte(l))
		if err != nil || record.Text(beads.ID) != c.ID {
			continue
		}
		for _, q := range c.Questions {
			value := map[Side]string{Ours: q.Ours, Theirs: q.Theirs}[all[q.Key]]
			if !strings.HasPrefix(q.Key, "notes") && valueText(record, beads.Key(q.Key)) != value {
				t.Fatalf("%s is %q, want %q\n%s", q.Key, valueText(record, beads.Key(q.Key)), value, want)
			}
			if strings.HasPrefix(q.Key, "notes:") && !strings.Contains(visible.OneLine(record.Text(beads.Notes)), visible.OneLine(value)) {
				t.Fatalf("%s lacks %q\n%s", q.Key, value, want)
			}
		}
	}
}

func quote(text string) []byte { return fmt.Appendf(nil, "%q", text) }

// TestResolve: the effect of answers on a block, line by line.
func TestResolve(t *testing.T) {
	title := func(hour int, text, more string) string { return is("x", hour, `"title":"`+text+`"`+more) }
	base, ours, theirs := title(0, "t", `,"priority":1`), title(1, "u", `,"priority":2`), title(2, "v", `,"priority":3`)
	marked := func(mark, base, ours, theirs string) string {
		return "<<<<<<< ours" + mark + "\n" + ours + "||||||| base\n" + base + "=======\n" + theirs + ">>>>>>> theirs\n"
	}
	git := "<<<<<<< HEAD\n" + ours + is("y", 0) + "=======\n" + theirs + is("z", 0) + ">>>>>>> other\n"
	for _, c := range []struct {
		name, text string
		given      Answers
		want       string
	}{
		{"all of it", marked("", base, ours, theirs), Answers{"title": Ours, "priority": Theirs}, title(2, "u", `,"priority":3`)},
		{"a part of it", marked("", base, ours, theirs), Answers{"title": Ours}, marked(` answered {"title":"ours"}`, base, ours, theirs)},
		{"another answer", marked(` answered {"title":"ours"}`, base, ours, theirs), Answers{"title": Theirs, "priority": Ours}, title(2, "v", `,"priority":2`)},
		{"one line", marked("", base, ours, theirs), Answers{Whole: Ours}, title(2, "u", `,"priority":2`)},
		{"deleted and changed", marked("", base, "", theirs), Answers{Whole: Ours}, ""},
		{"changed and deleted", marked("", base, ours, ""), Answers{Whole: Ours}, ours},
		{"text outside of sections", marked("", noted("x", 0, "a"), noted("x", 1, "b\n\n"+sectionText("k", "1")), noted("x", 2, "c")), Answers{"notes": Theirs}, noted("x", 2, "c\n\n"+sectionText("k", "1"))},
		{"a section", marked("", noted("x", 0, "a\n\n"+sectionText("k", "1")), noted("x", 1, "a\n\n"+sectionText("k", "2")), noted("x", 2, "a b\n\n"+sectionText("k", "3"))), Answers{"notes:k": Ours}, noted("x", 2, "a b\n\n"+sectionText("k", "2"))},
		{"a section that one side removed", marked("", noted("x", 0, "a\n\n"+sectionText("k", "1")), noted("x", 1, "a"), noted("x", 2, "a\n\n"+sectionText("k", "3"))), Answers{"notes:k": Ours}, noted("x", 2, "a")},
		{"malformed notes", marked("", noted("x", 0, "a"), noted("x", 1, "<!-- k -->"), noted("x", 2, "c")), Answers{"notes": Theirs}, noted("x", 2, "c")},
		{"a member", marked("", is("x", 0, `"metadata":{"a":1,"b":1}`), is("x", 1, `"metadata":{"a":2,"b":1}`), is("x", 2, `"metadata":{"a":3,"b":2}`)), Answers{"metadata.a": Ours}, is("x", 2, `"metadata":{"a":2,"b":2}`)},
		{"markers of git", git, Answers{"title": Ours}, "<<<<<<< ours answered {\"title\":\"ours\"}\n" + ours + "=======\n" + theirs + ">>>>>>> theirs\n" + is("y", 0) + is("z", 0)},
		{"markers of git, all of it", git, Answers{"title": Ours, "priority": Theirs}, title(2, "u", `,"priority":3`) + is("y", 0) + is("z", 0)},
		{"a state of which nobody knows who changed it", strings.ReplaceAll(baseless(marked("", base, is("x", 1, `"status":"closed"`, `"closed_at":"1"`), is("x", 2, `"status":"open"`))), "p-a", "x"), Answers{"status": Theirs}, is("x", 2, `"notes":"`+closerNote("2026-11-02", "closed_at: 1")+`"`, `"status":"open"`)},
		{"a reason of one side, without a base", strings.ReplaceAll(baseless(marked("", base, is("x", 1, `"status":"closed"`), is("x", 2, `"status":"closed"`, `"close_reason":"done"`))), "p-a", "x"), nil,
			strings.Replace(is("x", 2, `"status":"closed"`), "}", `,"close_reason":"done"}`, 1)},
		{"a carriage return", crlf(marked("", base, ours, theirs)), Answers{Whole: Theirs}, crlf(theirs)},
	} {
		around := is("a", 0) + c.text + is("zz", 0)
		want := is("a", 0) + c.want + is("zz", 0)
		if got := answer(t, around, "x", c.given); got != want {
			t.Errorf("%s: got\n%s\nwant\n%s", c.name, got, want)
		}
	}
}

func TestResolveRefuses(t *testing.T) {
	text := "<<<<<<< ours\n" + is("x", 1, `"title":"u"`, `"priority":1`) + "||||||| base\n" + is("x", 0) + "=======\n" + is("x", 2, `"title":"v"`, `"priority":2`) + ">>>>>>> theirs\n" + is("y", 0)
	if _, err := Resolve(text, Origin{}, "y", nil); !errors.Is(err, ErrNoConflict) {
		t.Errorf("got %v", err)
	}
	_, err := Resolve(text, Origin{}, "x", Answers{"status": Ours})
	if e, ok := fault.As(err, fault.Usage); !ok || e.Error() != "x: status is not in question" || e.Hint != "in question: "+Whole+", title, priority" {
		t.Errorf("got %#v", err)
	}
}

// TestOpen: the open decisions, by line; unpaired markers are ignored.
func TestOpen(t *testing.T) {
	text := is("a", 0) + "=======\n<<<<<<< x\n" + is("b", 1, `"title":"u"`) + "=======\n" + is("b", 2, `"title":"v"`) + ">>>>>>> y\n" +
		"<<<<<<< x\n" + is("c", 0) + "=======\n>>>>>>> y\n<<<<<<< x\n" + is("d", 0)
	var got []string
	for _, c := range Open(text, Origin{}) {
		got = append(got, fmt.Sprintf("%d %s: %s %d", c.Line, c.ID, c.Reason, len(c.Questions)))
	}
	if want := []string{"3 b: both changed title 1", "8 c: nothing to decide 0"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestOrigin takes the base from git's merge only if the block belongs to that merge.
func TestOrigin(t *testing.T) {
	const (
		base   = `{"id":"x","title":"a","priority":2}` + "\n" + `{"id":"y","title":"b"}` + "\n"
		ours   = `{"id":"x","title":"a","priority":1}` + "\n" + `{"id":"y","title":"b"}` + "\n"
		theirs = `{"id":"x","title":"c","priority":2}` + "\n"
		text   = "<<<<<<< ours\n" + ours + "=======\n" + theirs + ">>>>>>> theirs\n"
	)
	for name, c := range map[string]struct {
		from Origin
		want string
	}{
		"known":           {Origin{Base: base, Ours: ours, Theirs: theirs}, "nothing to decide"},
		"without an end":  {Origin{Base: `{"id":"y","title":"b"}` + "\n" + `{"id":"x","title":"a","priority":2}`, Ours: ours, Theirs: theirs}, "nothing to decide"},
		"unknown":         {Origin{}, "both changed title, priority"},
		"other ours":      {Origin{Base: base, Ours: base, Theirs: theirs}, "both changed title, priority"},
		"other theirs":    {Origin{Base: base, Ours: ours, Theirs: base}, "both changed title, priority"},
		"of several ones": {Origin{Base: "<<<<<<<<< one\n" + base, Ours: ours, Theirs: theirs}, "both changed title, priority"},
	} {
		if open := Open(text, c.from); len(open) != 1 || open[0].Reason != c.want {
			t.Errorf("%s: %+v, want %s", name, open, c.want)
		}
	}
	done, err := Resolve(text, Origin{Base: base, Ours: ours, Theirs: theirs}, "x", nil)
	if want := `{"id":"x","title":"c","priority":1}` + "\n"; err != nil || done.Text != want || len(done.Warnings) > 0 { // y is deleted
		t.Errorf("%+v %v, want %s", done, err, want)
	}
}

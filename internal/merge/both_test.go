package merge

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"stig/internal/beads"
	"stig/internal/testkit/sample"
	"stig/notes"
	"stig/signals"
)

// escalate adds a question or an answer to an issue's trail, as a worker would, with the
// matching row.
func escalate(i *item, n int) {
	const name = "escalation-context\n"
	date := fmt.Sprintf("2026-11-%02d", 2+n/40)
	kind, state := "Pending", "pending"
	if n%3 == 0 {
		kind, state = "Resolved", "resolved"
	}
	part := fmt.Sprintf("## %s (%s)\npart %d", kind, date, n)
	i.rows["escalation"] = state + " " + date
	for k, s := range i.sections {
		if strings.HasPrefix(s, name) {
			i.sections[k] = s + "\n\n" + part
			return
		}
	}
	i.sections = append(i.sections, name+part)
}

// TestDependentEdits: if both sides edit the same things, swapping them changes nothing, every
// part of a trail is kept, and the table's row matches the trail.
func TestDependentEdits(t *testing.T) {
	merges := 0
	for seed := range uint64(sample.Rounds(50)) {
		r := rand.New(rand.NewPCG(seed, 2))
		base := store{}
		for n := range 3 {
			i := newItem(n)
			if r.IntN(2) == 0 {
				i.rows = map[string]string{"escalation": "none 2026-11-01", "surprise": "0.0 2026-11-01"}
			}
			if r.IntN(3) == 0 {
				escalate(i, 1)
			}
			base[fmt.Sprintf("p-%c", 'a'+n)] = i
		}
		sides := []store{base.clone(), base.clone()}
		n := 2
		for _, id := range slices.Sorted(maps.Keys(base)) {
			for range 1 + r.IntN(4) {
				n += 1 + r.IntN(30)
				s := sides[r.IntN(2)]
				if all := aspects(); r.IntN(3) > 0 {
					all[r.IntN(len(all))](s, id, n)
				} else {
					escalate(s[id], n)
				}
				s[id].updated = n
			}
		}
		before, ours, theirs := base.text(t), sides[0].text(t), sides[1].text(t)
		got, turned := merged(before, ours, theirs), merged(before, theirs, ours)
		failed := func(what string) {
			t.Helper()
			t.Fatalf("seed %d: %s\nbase\n%s\nours\n%s\ntheirs\n%s\ngot\n%s\nturned round\n%s\nconflicts %v", seed, what, before, ours, theirs, got.Text, turned.Text, got.Conflicts)
		}
		checkLaws(t, before, ours, theirs)
		if len(got.Conflicts) > 0 {
			continue
		}
		merges++
		if !sameStores(t, got.Text, turned.Text) {
			failed("it matters which side is ours")
		}
		for line := range strings.SplitSeq(strings.TrimSuffix(got.Text, "\n"), "\n") {
			record, err := beads.ParseRecord([]byte(line))
			if err != nil {
				failed(err.Error())
			}
			doc := notes.Parse(record.Text(beads.Notes))
			parts := signals.Escalations(doc)
			id := record.Text(beads.ID)
			for _, s := range sides {
				if s[id] == nil {
					continue
				}
				if what := forgotten(base[id], s[id], doc); what != "" {
					failed("lost " + what)
				}
				for _, p := range signals.Escalations(notes.Parse(s[id].notes())) {
					if !slices.Contains(parts, p) {
						failed("lost " + p.Text)
					}
				}
			}
			state := signals.Read(doc, nil).Value(signals.Escalation)
			if want := signals.Standing(parts); state != want {
				failed(id + ": escalation is " + state + ", the trail says " + want)
			}
		}
	}
	if merges < sample.Rounds(12) {
		t.Fatalf("only %d merges without conflict: the test tests little", merges)
	}
}

// forgotten is a state estimate or signal that a side wrote and that is neither live in the
// merged notes nor kept beside; "" if nothing is lost.
func forgotten(before, after *item, merged *notes.Doc) string {
	if before == nil {
		before = &item{}
	}
	was, _ := signals.LastEstimate(notes.Parse(before.notes()))
	is, _ := signals.LastEstimate(notes.Parse(after.notes()))
	live, _ := signals.LastEstimate(merged)
	kept := live.Body
	for _, e := range signals.MergedEstimates(merged) {
		kept += "\n" + e.Text
	}
	if is.Body != was.Body && !strings.Contains(kept, is.Body) {
		return is.Body
	}
	table := signals.Read(merged, nil)
	for name, cells := range after.rows {
		value, date, _ := strings.Cut(cells, " ")
		s, _ := signals.Named(name)
		named := strings.Contains(kept, name+" "+value+" ("+date+")")
		if before.rows[name] != cells && s != signals.Escalation && table.Raw(s) != value && !named {
			return name + " " + cells
		}
	}
	return ""
}

package merge

import (
	"cmp"

	"stig/internal/beads"
)

// stray is a line that is not an issue, such as a memory, prepared for comparison.
type stray struct {
	about string // the same in both stores
	kind  Kind
	name  string
	value string // for a memory; for another line the whole line
	text  string
}

// strays lists the lines of a store that are not issues; of several about the same thing the
// last. Errors are those of beads.Issue.AppendLine.
func strays(f *beads.Snapshot) (list []stray, at map[string]int, err error) {
	at = map[string]int{}
	repeats := map[string]int{}
	for _, other := range f.Others() {
		text, err := other.AppendLine(nil)
		if err != nil {
			return nil, nil, err
		}
		s := strayOf(string(text))
		if s.about == "" { // about itself alone, counted as often as it is there
			s.about = beads.Meaning(text)
			s.about = repeated("line "+s.about, repeats[s.about])
			repeats[beads.Meaning(text)]++
		}
		if i, there := at[s.about]; there {
			list[i] = s
			continue
		}
		at[s.about] = len(list)
		list = append(list, s)
	}
	return list, at, nil
}

func strayOf(text string) stray {
	s := stray{about: keyOf(text).about, kind: Line, value: text, text: text}
	r := parsed(&line{text: text})
	if r == nil {
		return s
	}
	if s.name = cmp.Or(s.about, r.Text("_type")); r.Text("_type") == "memory" {
		s.kind, s.name, s.value = Memory, r.Text("key"), r.Text("value")
	}
	return s
}

// lines compares the lines that are not issues.
func (d *Diff) lines(before, after *beads.Snapshot) error {
	was, had, err := strays(before)
	if err != nil {
		return err
	}
	is, has, err := strays(after)
	if err != nil {
		return err
	}
	for _, b := range was {
		i, there := has[b.about]
		switch {
		case !there:
			d.Vanished = append(d.Vanished, Vanished{"", b.kind, b.name, b.value})
		case equal([]byte(b.text), []byte(is[i].text)):
		case b.value != is[i].value:
			d.Changed = append(d.Changed, Changed{"", b.kind, b.name, b.value, is[i].value})
		default:
			d.Changed = append(d.Changed, Changed{"", b.kind, b.name, b.text, is[i].text})
		}
	}
	for _, a := range is {
		if _, there := had[a.about]; !there {
			d.Added = append(d.Added, Added{"", a.kind, a.name})
		}
	}
	return nil
}

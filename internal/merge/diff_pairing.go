package merge

import (
	"bytes"
	"slices"

	"stig/internal/beads"
)

// pairing finds the issues of one store in another.
type pairing struct {
	before, after *beads.Snapshot
	now           map[string]*beads.Issue // by former id: what differs, nil for nothing
	former        map[string]string       // the former id, by the current one, if a merge changed it
	a, b          []byte                  // lines, in reused memory
}

// find returns the issue as it is now, nil if it is gone, and whether its line is unchanged.
func (p *pairing) find(was *beads.Issue) (is *beads.Issue, same bool, err error) {
	if is, known := p.now[was.ID]; known {
		return is, false, nil
	}
	if j, there := p.after.Index(was.ID); there {
		if same, err = p.sameLine(was, p.after.At(j)); same || err != nil {
			return p.after.At(j), same, err
		}
	}
	record, err := was.Record()
	if err != nil {
		return nil, false, err
	}
	ids, err := p.idsOf(was.ID)
	if err != nil {
		return nil, false, err
	}
	if is, err = p.among(ids, record.Origin()); err == nil {
		p.now[was.ID] = is
	}
	return is, false, err
}

// idsOf lists the ids that an issue may have now: below its parent if a merge renamed that,
// else its own.
func (p *pairing) idsOf(id string) ([]string, error) {
	parent := beads.ParentID(id)
	i, there := p.before.Index(parent)
	if parent == "" || !there {
		return []string{id}, nil
	}
	is, _, err := p.find(p.before.At(i))
	if err != nil || is == nil || is.ID == parent {
		return []string{id}, err
	}
	return []string{is.ID + id[len(parent):], id}, nil
}

// among is the first issue with this origin and one of the ids, or the id that a merge makes of
// it. One with another title comes last: it may have been edited, or be another issue from the
// same second.
func (p *pairing) among(ids []string, birth beads.Origin) (edited *beads.Issue, err error) {
	for _, id := range ids {
		renamed := birth.Rename(id, func(string) bool { return false })
		for _, id := range []string{id, renamed} {
			j, there := p.after.Index(id)
			if !there {
				continue
			}
			is := p.after.At(j)
			record, err := is.Record()
			if err != nil {
				return nil, err
			}
			switch now := record.Origin(); {
			case birth.Same(now), id == renamed && birth.Together(now):
				return is, nil
			case edited == nil && birth.Together(now):
				edited = is
			}
		}
	}
	return edited, nil
}

func (p *pairing) sameLine(was, is *beads.Issue) (bool, error) {
	if was.Size() != is.Size() {
		return false, nil
	}
	var err error
	if p.a, err = was.AppendLine(p.a[:0]); err != nil {
		return false, err
	}
	if p.b, err = is.AppendLine(p.b[:0]); err != nil {
		return false, err
	}
	return bytes.Equal(p.a, p.b), nil
}

// rowsNow are dependency rows with current ids.
func (p *pairing) rowsNow(rows []beads.Dep) []beads.Dep {
	rows = slices.Clone(rows)
	for i, row := range rows {
		if is := p.now[row.On]; is != nil {
			rows[i].On = is.ID
		}
	}
	return rows
}

// textNow is a text with current ids.
func (p *pairing) textNow(text string) string {
	if len(p.former) == 0 {
		return text
	}
	return beads.ReplaceIDs(text, func(_, id string) string {
		if is := p.now[id]; is != nil {
			return is.ID
		}
		return id
	})
}

// renamed is a record with current ids in its texts.
func (p *pairing) renamed(r *beads.Record) *beads.Record {
	if len(p.former) == 0 {
		return r
	}
	for _, k := range r.Keys() {
		if text := r.Text(k); k != beads.ID && text != "" && p.textNow(text) != text {
			r = r.Put(k, p.textNow(text))
		}
	}
	return r
}

// isNew reports whether an issue with a current id is new.
func (p *pairing) isNew(id string) bool {
	if _, moved := p.former[id]; moved {
		return false
	}
	if _, there := p.before.Index(id); !there {
		return true
	}
	is, differs := p.now[id]
	return differs && (is == nil || is.ID != id)
}

package bd

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"stig/beads"
	"stig/mysql"
)

// bd 1.0 has no compare and swap: between the last look at the database and the write
// of bd another program may write the same value. What was there is on record all the
// same, and is compared afterwards: in the events that bd writes in the transaction of
// each update, which a server shows, else in the history of commits, which bd prints.

// recorded are the keys that the history shows, and, but for the reason of a closing, the
// events.
var recorded = []beads.Key{
	beads.Title, beads.Description, beads.Design, beads.AcceptanceCriteria, beads.Notes, beads.Status, beads.Priority,
	beads.IssueType, beads.Assignee, beads.EstimatedMinutes, beads.CloseReason,
}

// replacement is a value that was not what was read when bd replaced it.
type replacement struct {
	write
	was string
}

// refuseReplaced is the error of an edit that replaced what nobody had read.
func (s *dolt) refuseReplaced(ctx context.Context, db source, writes []write) error {
	writes = slices.DeleteFunc(slices.Clone(writes), func(w write) bool { return !slices.Contains(recorded, w.key) })
	list, err := db.replaced(ctx, writes)
	if err != nil {
		s.bd.Warn("%s: written; whether another program wrote the same in that moment is not known: %v", s.place.Dir, err)
	}
	if len(list) == 0 {
		return nil
	}
	var names []string
	for _, r := range list {
		names = append(names, r.issue+" "+string(r.key))
	}
	return lostIn(beads.Place{Path: s.place.Dir}, "written, and what another program wrote in that moment was written over: "+strings.Join(names, ", "),
		"type bd history "+list[0].issue+" --json to see what it was, and write it again")
}

// foreign reports whether a value that was replaced is another one than was read.
func (w write) foreign(record *beads.Record) (replacement, bool) {
	was := shown(record, w.key)
	return replacement{w, was}, was != w.before
}

// shown is the text under a key as Change.Values shows it.
func shown(r *beads.Record, k beads.Key) string {
	var text string
	if raw := r.Raw(k); json.Unmarshal(raw, &text) != nil {
		return string(raw)
	}
	return text
}

// replaced reads the events of the issues. The one of a write holds its new value, and
// the whole issue before. That of a closing does not say whether the issue was closed:
// reasons are looked for in the history.
func (s *served) replaced(ctx context.Context, writes []write) (list []replacement, err error) {
	isReason := func(w write) bool { return w.key == beads.CloseReason }
	reasons := slices.DeleteFunc(slices.Clone(writes), func(w write) bool { return !isReason(w) })
	list, err = embedded{s.dolt}.replaced(ctx, reasons)
	others, failed := s.replacedInEvents(ctx, slices.DeleteFunc(slices.Clone(writes), isReason))
	return append(list, others...), errors.Join(err, failed)
}

func (s *served) replacedInEvents(ctx context.Context, writes []write) (list []replacement, err error) {
	if len(writes) == 0 {
		return nil, nil
	}
	var ids []any
	for _, w := range writes {
		ids = append(ids, w.issue)
	}
	query := "SELECT issue_id, old_value, new_value FROM events WHERE old_value <> '' AND issue_id IN (?" + strings.Repeat(", ?", len(ids)-1) + ") ORDER BY created_at DESC"
	tx, err := s.db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return nil, err
	}
	defer func() { _ = tx.Rollback() }() // it wrote nothing
	found := map[write]replacement{}
	sound := map[write]bool{} // some event of the write replaced what was read
	err = mysql.Each(ctx, tx, query, ids, func(rows *sql.Rows) error {
		var issue, before, after string
		if err := scanInto(rows, &issue, &before, &after); err != nil {
			return err
		}
		was, err := beads.ParseRecord([]byte(before))
		set, failed := beads.ParseRecord([]byte(after))
		if err != nil || failed != nil {
			return nil // an event of another form
		}
		for _, w := range writes {
			if w.issue != issue || !set.Has(w.key) || shown(set, w.key) != w.after {
				continue
			}
			if r, differs := w.foreign(was); differs {
				found[w] = r
			} else {
				sound[w] = true
			}
		}
		return nil
	})
	for _, w := range writes {
		if r, differs := found[w]; differs && !sound[w] {
			list = append(list, r)
		}
	}
	return list, err
}

// past is a version of an issue in bd history.
type past struct{ Issue json.RawMessage }

// replaced asks bd for the history of each issue, the latest commit first: the value
// before that of the write is what it replaced.
func (s embedded) replaced(ctx context.Context, writes []write) (list []replacement, err error) {
	var id string
	var history []past
	asked := 0
	for _, w := range writes {
		if w.issue != id {
			if asked++; asked > mostUpdates {
				return list, fmt.Errorf("the edit is of more than %d issues, and bd prints the history of each by itself", mostUpdates)
			}
			if history, err = s.history(ctx, w.issue); err != nil {
				return list, err
			}
			id = w.issue
		}
		r, differs, err := w.replacedIn(history)
		if err != nil {
			return list, err
		}
		if differs {
			list = append(list, r)
		}
	}
	return list, nil
}

func (s embedded) history(ctx context.Context, id string) (list []past, err error) {
	result, err := s.bd.Run(ctx, s.place, "history", id, "--json", "--limit=50")
	if err != nil {
		return nil, err
	}
	if result.Exit != 0 {
		return nil, fmt.Errorf("bd history %s%s", id, said(result))
	}
	return list, json.Unmarshal(result.Stdout, &list)
}

// replacedIn looks in the versions of an issue for what a write replaced. The error says
// that the write, or what was read before it, is in none of them.
func (w write) replacedIn(history []past) (r replacement, differs bool, err error) {
	var values []string
	for _, v := range history {
		record, err := beads.ParseRecord(v.Issue)
		if err != nil {
			return r, false, err
		}
		values = append(values, shown(record, w.key))
	}
	ours := slices.Index(values, w.after)
	if ours < 0 {
		return r, false, fmt.Errorf("no commit of bd holds %s of %s: dolt.auto-commit may be off", w.key, w.issue)
	}
	was := slices.IndexFunc(values[ours:], func(value string) bool { return value != w.after })
	switch {
	case was < 0 || values[ours+was] == w.before:
		return r, false, nil
	case !slices.Contains(values, w.before): // read before the bd that wrote it had committed it
		return r, false, fmt.Errorf("no commit of bd holds what was read as %s of %s", w.key, w.issue)
	}
	return replacement{w, values[ours+was]}, true, nil
}

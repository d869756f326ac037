package service

import (
	"context"
	"slices"

	"stig/internal/beads"
	"stig/internal/lint"
	"stig/internal/merge"
	"stig/internal/store/jsonl"
	"stig/internal/workspace"
)

// Fixed is what fixing changed.
type Fixed struct {
	Repeats []merge.Repeat // lines that went, since another says the same
	Changes []beads.Change
	Left    []lint.Diagnostic // of a dry run: what vet would find then
}

// Fix takes out lines that another line says too, and rewrites values that have one meaning
// only, in the named issues or in all.
func Fix(ctx context.Context, a *workspace.Run, ids []string, dryRun bool) (*Fixed, error) {
	options, err := a.Options(dryRun)
	if err != nil {
		return nil, err
	}
	store, err := a.Discover()
	if err != nil {
		return nil, err
	}
	if err := a.RefuseUnfinished(ctx, store.Place()); err != nil {
		return nil, err
	}
	f := &Fixed{}
	if f.Repeats, err = untwine(ctx, a, store, options, ids); err != nil {
		return nil, err
	}
	checked, err := Check(ctx, a, CheckRequest{Command: "vet", IDs: ids})
	if err != nil {
		return nil, err
	}
	file, err := store.Snapshot()
	if err != nil {
		return nil, err
	}
	defer file.Close()
	twice := file.Repeated()
	fixable := slices.DeleteFunc(slices.Clone(checked.Found), func(d lint.Diagnostic) bool { return twice[d.ID] > 0 })
	rules := lint.Rules{Schema: a.Schema}
	if f.Changes, err = lint.Fix(ctx, store, options, fixable, rules); err != nil || !dryRun {
		return f, err
	}
	for _, r := range f.Repeats {
		twice[r.About]--
	}
	left := slices.DeleteFunc(checked.Found, func(d lint.Diagnostic) bool { return d.Rule == beads.DuplicateID && twice[d.ID] == 1 })
	f.Left, err = lint.Remaining(file, left, f.Changes, rules)
	return f, err
}

// untwine takes out of a store in a file the lines that another says too: of the issues with
// those ids, or all. Where a line cannot be read nothing is written.
func untwine(ctx context.Context, a *workspace.Run, store beads.Store, o beads.Options, ids []string) (gone []merge.Repeat, err error) {
	file, err := store.Snapshot()
	if err != nil {
		return nil, err
	}
	defer file.Close()
	damaged := func(p beads.Problem) bool { return p.Rule != beads.DuplicateID }
	if store.Place().Mode != beads.Plain || file.Distinct() || slices.ContainsFunc(file.Problems(), damaged) {
		return nil, nil
	}
	named, err := file.FindAll(ids)
	if err != nil {
		return nil, err
	}
	repeats := func(text string) []merge.Repeat {
		return slices.DeleteFunc(merge.Repeats(text), func(r merge.Repeat) bool {
			return len(named) > 0 && !slices.ContainsFunc(named, func(is *beads.Issue) bool { return is.ID == r.About })
		})
	}
	if o.DryRun {
		text, err := workspace.ReadText(store.Place().Path)
		return repeats(text), workspace.Placed(err)
	}
	err = a.Rewrite(ctx, store.Place(), o, func(text string) (splices []jsonl.Splice, err error) {
		gone = repeats(text)
		for _, r := range gone {
			splices = append(splices, jsonl.Splice{Start: r.Start, End: r.End})
		}
		return splices, nil
	})
	return gone, err
}

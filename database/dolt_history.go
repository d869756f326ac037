package database

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"stig/beads"
	"stig/fault"
	"stig/mysql"
)

var _ beads.Historic = (*Store)(nil)

// History implements beads.Historic: what Dolt keeps, and nil of other servers.
func (s *Store) History(ctx context.Context) (beads.History, error) {
	s.mu.Lock()
	h, err := s.held, error(nil)
	s.mu.Unlock()
	if h == nil {
		h, err = s.refresh(ctx)
	}
	if err != nil || h.Shape&onDolt == 0 {
		return nil, s.explain(err)
	}
	return &past{store: s, db: s.DB()}, nil
}

// past is a store as Dolt's commits have it. A version names its text by the commit, and
// that of a parent by both. Either text has only the lines that differ, without their
// comments; of a commit with several parents, those that differ from every parent.
type past struct {
	store *Store
	db    *sql.DB
}

// from names what a commit changed, as it was in a parent.
func from(parent, commit string) string { return parent + ".." + commit }

// Versions implements beads.History.
func (p *past) Versions(ctx context.Context, since string) (versions []beads.Version, err error) {
	revisions := "HEAD"
	if since != "" {
		commit, err := p.commit(ctx, since)
		if err != nil {
			return nil, err
		}
		revisions = commit + "..HEAD"
	}
	var v beads.Version
	var parents string
	err = each(ctx, p.db, "SELECT commit_hash, parents, date, committer, message FROM DOLT_LOG(?, '--parents')", []any{revisions}, func() {
		v.Subject, _, _ = strings.Cut(v.Subject, "\n")
		v.Before, v.After = nil, v.Commit
		for parent := range strings.SplitSeq(parents, ", ") {
			v.Before = append(v.Before, from(parent, v.Commit))
		}
		versions = append(versions, v)
	}, &v.Commit, &parents, &v.Time, &v.Author, &v.Subject)
	slices.Reverse(versions)
	return versions, p.store.explain(err)
}

// Texts implements beads.History. It asks once for what changed in the whole past of the
// store, or of an issue; the server answers commit by commit.
func (p *past) Texts(ctx context.Context, versions []beads.Version, id string, take func(name string, text []byte)) error {
	query, args := "SELECT to_commit, from_commit, to_id, from_line, to_line FROM dolt_diff_stig_lines WHERE to_commit <> 'WORKING'", []any(nil)
	if id != "" {
		query, args = query+" AND to_id = ?", []any{[]byte(id)}
	}
	t := texts{take: take, parents: map[string]int{}, merges: map[string][]step{}}
	for _, v := range versions {
		t.parents[v.Commit] = len(v.Before)
	}
	var commit, parent string
	var to, before, after []byte
	err := each(ctx, p.db, query, args, func() { t.row(commit, parent, string(to), before, after) }, &commit, &parent, &to, &before, &after)
	t.end()
	return p.store.explain(err)
}

// texts makes the texts of versions of the rows of a diff.
type texts struct {
	take    func(name string, text []byte)
	parents map[string]int // how many a commit has; 0 of one that is not asked for
	merges  map[string][]step
	now     step
}

// step is what changed from a parent to a commit.
type step struct {
	commit, parent string
	before         []byte
	ids            []string
	after          [][]byte // the lines of ids
}

func (t *texts) row(commit, parent, id string, before, after []byte) {
	if commit != t.now.commit || parent != t.now.parent {
		t.flush()
		t.now = step{commit: commit, parent: parent}
	}
	if before != nil {
		t.now.before = append(append(t.now.before, before...), '\n')
	}
	if after != nil {
		t.now.ids, t.now.after = append(t.now.ids, id), append(t.now.after, append(after, '\n'))
	}
}

// flush gives the texts of a step, or puts it aside where the commit has other parents too.
func (t *texts) flush() {
	switch t.parents[t.now.commit] {
	case 0:
		return
	case 1:
		t.take(t.now.commit, bytes.Join(t.now.after, nil))
	default:
		t.merges[t.now.commit] = append(t.merges[t.now.commit], t.now)
	}
	t.take(from(t.now.parent, t.now.commit), t.now.before)
}

func (t *texts) end() {
	t.flush()
	for commit, steps := range t.merges {
		var text []byte
		for i, id := range steps[0].ids {
			in := func(s step) bool { return slices.Contains(s.ids, id) }
			if len(steps) == t.parents[commit] && !slices.ContainsFunc(steps, func(s step) bool { return !in(s) }) {
				text = append(text, steps[0].after[i]...)
			}
		}
		t.take(commit, text)
	}
}

// Snapshot implements beads.History. Dolt has a database for each commit, in which the
// tables are as they were.
func (p *past) Snapshot(ctx context.Context, revision string) (*beads.Snapshot, error) {
	commit, err := p.commit(ctx, revision)
	if err != nil {
		return nil, err
	}
	then := p.store.at(commit)
	defer then.Close()
	file, err := then.Snapshot()
	if errors.Is(err, beads.ErrAbsent) {
		return nil, &fault.Error{Code: fault.NoRevision, Reason: fmt.Sprintf("%q: the database held no store then", revision), Err: beads.ErrBefore}
	}
	return file, err
}

// at is the store as a commit has it.
func (s *Store) at(commit string) *Store {
	o := s.options
	name, _, _ := strings.Cut(o.Config.Database, "/")
	o.Config.Database, o.Cache = name+"/"+commit, ""
	return Open(s.place, o)
}

// Common implements beads.History.
func (p *past) Common(ctx context.Context, revision string) (string, error) {
	commit, err := p.commit(ctx, revision)
	if err != nil {
		return "", err
	}
	var base sql.NullString
	err = p.db.QueryRowContext(ctx, "SELECT DOLT_MERGE_BASE(?, 'HEAD')", commit).Scan(&base)
	if err == nil && base.String == "" {
		return "", &fault.Error{Code: fault.NoRevision, Reason: fmt.Sprintf("%q: shares no commit with HEAD", revision), Hint: p.hint()}
	}
	return base.String, p.store.explain(err)
}

// commit is the hash of the commit that a revision names: a hash, a branch, a tag, HEAD~1,
// or the last one until a time.
func (p *past) commit(ctx context.Context, revision string) (hash string, err error) {
	err = p.db.QueryRowContext(ctx, "SELECT DOLT_HASHOF(?)", revision).Scan(&hash)
	if t, ok := timeOf(revision); err != nil && ok {
		err = p.db.QueryRowContext(ctx, "SELECT commit_hash FROM dolt_log WHERE date <= ? LIMIT 1", t).Scan(&hash)
	}
	if err == nil {
		return hash, nil
	}
	if mysql.Gone(err) || ctx.Err() != nil {
		return "", p.store.explain(err)
	}
	return "", &fault.Error{Code: fault.NoRevision, Reason: fmt.Sprintf("%q: Dolt has no such commit", revision), Hint: p.hint()}
}

// timeOf reads RFC 3339, or YYYY-MM-DD, the beginning of that day in UTC.
func timeOf(text string) (time.Time, bool) {
	for _, layout := range []string{time.RFC3339, time.DateTime, time.DateOnly} {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UTC(), true
		}
	}
	return time.Time{}, false
}

func (p *past) hint() string {
	return "name a commit, a branch, a time or HEAD~1; SELECT * FROM dolt_log in " + p.store.url + " lists the commits"
}

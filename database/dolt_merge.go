package database

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"

	"stig/beads"
	"stig/fault"
	"stig/mysql"
)

// Merging is a merge of two branches of a store on Dolt, as whole texts of the store.
type Merging struct {
	Branch             string // what is merged: a branch or a commit
	Base, Ours, Theirs string

	open map[string]bool // ids of the issues that are in conflict; nil before the merge has begun
}

// IsOpen reports whether an issue is in conflict still.
func (m Merging) IsOpen(id string) bool { return m.open == nil || m.open[id] }

// United is what becomes of the issues in a merge.
type United struct {
	Text  string   // the merged store, without the issues that are Asked
	Asked []string // issues of which somebody has to decide, or has: they stay as they are
}

// MergeOptions says what to merge.
type MergeOptions struct {
	Branch string // "" goes on with the merge that has begun
	Actor  string // who merges
	DryRun bool   // only unite
}

// ErrNoMerge says that no merge has begun.
var ErrNoMerge = errors.New("no merge has begun")

// MergeOutcome is how a merge ended.
type MergeOutcome struct {
	Done    bool     // no conflict is left, and the merge is committed
	Nothing bool     // the branch had nothing that this one lacks
	Tables  []string // tables of others that are in conflict
}

// Merge merges a branch into that of the store. unite makes one store of three, and may be
// called several times; its errors are returned as they are. All is written in one
// transaction, and committed where no conflict is left. While one is left, Dolt lets nobody
// write to the branch.
func (s *Store) Merge(ctx context.Context, o MergeOptions, unite func(Merging) (United, error)) (done MergeOutcome, err error) {
	if !isDolt(ctx, s.DB()) {
		_, err := s.Version(ctx)
		if err == nil {
			err = &fault.Error{Code: fault.Refused, Path: s.url, Reason: "has no branches to merge: the server is not Dolt", Hint: "if git left conflict markers in the copy of the store, type stig store sync"}
		}
		return done, err
	}
	if o.DryRun {
		m, err := s.foreseen(ctx, o.Branch)
		if err == nil {
			if _, err = unite(m); err != nil {
				return done, err
			}
		}
		return done, s.explain(err)
	}
	var refused error
	branch := o.Branch
	err = repeat(ctx, func() error {
		done, err = s.merge(ctx, o, func(m Merging) (u United, err error) {
			branch = m.Branch
			u, refused = unite(m)
			return u, refused
		})
		return err
	})
	if refused != nil {
		return done, refused
	}
	if err == nil && done.Done && !done.Nothing { // unless Dolt did already
		err = commit(ctx, s.DB(), "stig merge "+branch, o.Actor)
	}
	return done, s.explain(err)
}

// foreseen is the merge of a branch that has not begun, or the one that has.
func (s *Store) foreseen(ctx context.Context, branch string) (m Merging, err error) {
	theirs := branch
	if branch == "" {
		return s.begun(ctx, s.DB())
	}
	err = s.DB().QueryRowContext(ctx, "SELECT DOLT_HASHOF(?)", branch).Scan(&theirs)
	if err != nil {
		return m, s.noBranch(branch)
	}
	return s.texts(ctx, branch, theirs)
}

func (s *Store) noBranch(branch string) error {
	return &fault.Error{Code: fault.Refused, Path: s.url, Reason: fmt.Sprintf("Dolt has no branch %q", branch), Hint: "SELECT name FROM dolt_branches lists the branches"}
}

// querier is a database or a transaction.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// each scans each row that a query gives into the places, and calls take after it.
func each(ctx context.Context, q querier, query string, args []any, take func(), into ...any) error {
	return mysql.Each(ctx, q, query, args, func(rows *sql.Rows) error {
		err := rows.Scan(into...)
		if err == nil {
			take()
		}
		return err
	})
}

// begun is the merge that is not finished.
func (s *Store) begun(ctx context.Context, q querier) (m Merging, err error) {
	var merging bool
	var branch, theirs sql.NullString
	if err = q.QueryRowContext(ctx, "SELECT is_merging, source, source_commit FROM dolt_merge_status").Scan(&merging, &branch, &theirs); err != nil {
		return m, err
	}
	if !merging {
		return m, ErrNoMerge
	}
	if m, err = s.texts(ctx, branch.String, theirs.String); err != nil {
		return m, err
	}
	m.open = map[string]bool{}
	const query = "SELECT COALESCE(our_id, their_id, base_id) FROM dolt_conflicts_stig_lines UNION SELECT COALESCE(our_issue, their_issue, base_issue) FROM dolt_conflicts_stig_comments"
	var id []byte
	err = each(ctx, q, query, nil, func() { m.open[string(id)] = true }, &id)
	return m, err
}

// texts reads the store at the present commit, at that of a branch, and where they parted.
func (s *Store) texts(ctx context.Context, branch, theirs string) (m Merging, err error) {
	m.Branch = branch
	var ours, base sql.NullString
	if err := s.DB().QueryRowContext(ctx, "SELECT DOLT_HASHOF('HEAD'), DOLT_MERGE_BASE('HEAD', ?)", theirs).Scan(&ours, &base); err != nil {
		return m, err
	}
	for _, t := range []struct {
		commit string
		into   *string
	}{{base.String, &m.Base}, {ours.String, &m.Ours}, {theirs, &m.Theirs}} {
		then := s.at(t.commit)
		text, err := then.Text(ctx)
		if err := errors.Join(err, then.Close()); err != nil {
			if errors.Is(err, beads.ErrAbsent) && t.into == &m.Base {
				continue // the branches made their stores apart
			}
			return m, err
		}
		*t.into = string(text)
	}
	return m, nil
}

// merge makes one attempt.
func (s *Store) merge(ctx context.Context, o MergeOptions, unite func(Merging) (United, error)) (done MergeOutcome, err error) {
	if o.Branch != "" { // Dolt refuses to merge into what is not committed
		if err := commit(ctx, s.DB(), "stig edits before a merge", o.Actor); err != nil {
			return done, err
		}
	}
	conn, err := s.writer(ctx)
	if err != nil {
		return done, err
	}
	defer conn.Close()
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return done, err
	}
	defer tx.Rollback() // nothing, once it is committed
	if o.Branch != "" {
		if done, err = s.start(ctx, tx, o); err != nil || done.Done {
			return done, err
		}
	}
	m, err := s.begun(ctx, tx)
	if err != nil {
		return done, err
	}
	w := &uniting{store: s, tx: tx, token: newToken(), merging: m, actor: o.Actor}
	if err := w.unite(ctx, unite); err != nil {
		return done, err
	}
	if done.Tables, err = w.others(ctx); err != nil {
		return done, err
	}
	done.Done = len(w.left) == 0 && len(done.Tables) == 0
	if !done.Done {
		if _, err := tx.ExecContext(ctx, "SET @@SESSION.dolt_allow_commit_conflicts = 1"); err != nil {
			return done, err
		}
		defer conn.Raw(func(any) error { return driver.ErrBadConn }) // nobody else is to have that
	}
	return done, s.commit(ctx, tx, w.token)
}

// start has Dolt merge a branch, which is all where that leaves no conflict.
func (s *Store) start(ctx context.Context, tx *sql.Tx, o MergeOptions) (done MergeOutcome, err error) {
	args := []any{o.Branch, "-m", "stig merge " + o.Branch}
	if author := authorOf(o.Actor); author != "" {
		args = append(args, "--author", author)
	}
	var hash, message sql.NullString
	var fast, conflicts int
	err = tx.QueryRowContext(ctx, "CALL DOLT_MERGE(?"+strings.Repeat(", ?", len(args)-1)+")", args...).Scan(&hash, &fast, &conflicts, &message)
	switch {
	case err != nil && (strings.Contains(err.Error(), "branch not found") || strings.Contains(err.Error(), "not a valid branch")):
		return done, s.noBranch(o.Branch)
	case err != nil && strings.Contains(err.Error(), "active merge"):
		return done, &fault.Error{Code: fault.Refused, Path: s.url, Reason: "another merge has begun", Hint: "type stig merge --database to go on with it"}
	case err != nil && strings.Contains(err.Error(), "local changes"):
		return done, errLost // somebody edited since the last commit
	case err != nil:
		return done, err
	case conflicts == 0:
		done.Done, done.Nothing = true, hash.String == ""
		return done, tx.Commit()
	}
	return done, nil
}

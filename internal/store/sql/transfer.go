package sql

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"stig/internal/beads"
	"stig/internal/fault"
	"stig/internal/store/jsonl"
)

// Transfer copies a whole store, byte for byte, into one that is empty or absent.
type Transfer struct {
	Pool     *Pool
	From, To beads.Place
	Prefix   string // of the ids of new issues; "" for that of From
	Actor    string // who copies
	DryRun   bool
	Told     func(done, of int) // called with the number of lines sent so far; may be nil
}

// Transferred is the result of a Transfer.
type Transferred struct {
	Issues, Bytes int
	Hash          string // SHA-256 of the text, the same in both stores
}

// Run copies. It refuses a target with content (fault.Refused). An interrupted run leaves the
// target absent, empty or being filled, and the next run completes it.
func (t Transfer) Run(ctx context.Context) (*Transferred, error) {
	text, prefix, err := t.read(ctx, t.From)
	if err != nil {
		return nil, err
	}
	f, err := beads.NewSnapshot(t.From, beads.Source{Lines: bytes.NewReader(text), Size: int64(len(text))})
	if err != nil {
		return nil, err
	}
	prefix = cmp.Or(t.Prefix, prefix)
	done := &Transferred{Issues: f.Len(), Bytes: len(text), Hash: hashOf(text)}
	if problems := f.Problems(); len(problems) > 0 && (t.To.Mode == beads.Server || !f.CanEdit()) {
		p := problems[0]
		return nil, &fault.Error{Code: fault.Refused, Path: t.From.Name(), Line: p.Line, Reason: p.Rule + ": " + p.Message, Hint: "fix the line; stig check lists every such place"}
	}
	if t.To.Mode == beads.Server {
		err = t.fill(ctx, text, prefix)
	} else if err = vacantFile(t.To.Path); err == nil && !t.DryRun {
		err = t.write(text, prefix)
	}
	if err != nil || t.DryRun {
		return done, err
	}
	there, _, err := t.read(ctx, t.To)
	if err == nil && hashOf(there) != done.Hash {
		err = &fault.Error{Code: fault.Changed, Path: t.To.Name(), Reason: "differs from what was copied: another program is writing to it",
			Hint: "stop it, and copy into an empty store"}
	}
	return done, err
}

// read returns the text of a store and the prefix of its ids.
func (t Transfer) read(ctx context.Context, p beads.Place) (text []byte, prefix string, err error) {
	if p.Mode == beads.Server {
		store, err := t.Pool.Open(p)
		if err != nil {
			return nil, "", err
		}
		if text, err = store.Text(ctx); err != nil {
			return nil, "", err
		}
		prefix, err = PrefixOf(store.Snapshot())
		return text, prefix, err
	}
	resume, err := jsonl.Pause(ctx, p, wait)
	if err != nil {
		return nil, "", err
	}
	text, err = os.ReadFile(p.Path)
	if err = errors.Join(err, resume()); err != nil {
		return nil, "", beads.Unreadable(p.Path, err)
	}
	prefix, err = PrefixOf(jsonl.Read(p))
	return text, prefix, err
}

// wait is how long a copy waits for other writers of the file.
const wait = 30 * time.Second

// PrefixOf returns what the ids of new issues begin with in a snapshot, and closes it.
func PrefixOf(f *beads.Snapshot, err error) (string, error) {
	if err != nil {
		return "", err
	}
	prefix, err := f.Prefix()
	return prefix, errors.Join(err, f.Close())
}

// fill writes the text into an empty database, where an interrupted run may have left tables.
func (t Transfer) fill(ctx context.Context, text []byte, prefix string) (err error) {
	o, _, err := t.Pool.Options(t.To)
	if err != nil {
		return err
	}
	o.Actor, o.Command = t.Actor, "store copy"
	store := Open(t.To, o)
	defer func() { err = errors.Join(err, store.Close()) }()
	version, err := store.Version(ctx)
	absent := errors.Is(err, beads.ErrAbsent)
	switch {
	case err != nil && !absent && !errors.Is(err, ErrFilling):
		return err
	case version > 0:
		return occupied(t.To.Name())
	case t.DryRun && absent:
		return Vacant(ctx, o)
	case t.DryRun:
		return nil
	case absent:
		if err := create(ctx, store.DB(), o, prefix, unfilled); err != nil {
			return store.explain(err)
		}
	}
	return store.Fill(ctx, text, prefix, t.Told)
}

func occupied(name string) error {
	return &fault.Error{Code: fault.Refused, Path: name, Reason: "is not empty", Hint: "name a new or empty store"}
}

// write creates the file and, in a new .beads, the prefix of its ids beside it.
func (t Transfer) write(text []byte, prefix string) error {
	dir := filepath.Dir(t.To.Path)
	if filepath.Base(dir) == beads.DirName {
		if err := cmp.Or(os.MkdirAll(dir, 0o755), jsonl.KeepPrefix(dir, prefix)); err != nil {
			return unwritable(t.To.Path, err)
		}
	}
	return putNew(t.To.Path, text)
}

// putNew creates a file in one step. An empty file may be there already.
func putNew(path string, text []byte) error {
	err := jsonl.PutNew(path, text, func() error { return vacantFile(path) })
	if err == nil || fault.Is(err, fault.Refused) {
		return err
	}
	return unwritable(path, err)
}

// vacantFile refuses a file with content.
func vacantFile(path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return beads.Unreadable(path, err)
	case info.Size() > 0:
		return occupied(path)
	}
	return nil
}

func unwritable(path string, err error) error {
	return &fault.Error{Code: fault.Store, Path: path, Reason: "cannot be written", Cause: err, Hint: "check that the directory exists, is writable and has free space"}
}

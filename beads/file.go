package beads

import (
	"fmt"
	"iter"
	"slices"
	"strings"
)

// Close closes the file; records read before stay good.
func (f *File) Close() error { return f.disk.Close() }

// Store is the store that was read.
func (f *File) Store() Store { return f.store }

// Len is the number of issues, tombstones and repeated ids included.
func (f *File) Len() int { return len(f.issues) }

// At gives the issue at index i, in file order.
func (f *File) At(i int) *Issue { return f.issues[i] }

// All gives the issues with their indices, in file order.
func (f *File) All() iter.Seq2[int, *Issue] { return slices.All(f.issues) }

// Problems gives what is wrong inside the file, by line.
func (f *File) Problems() []Problem { return f.problems }

// Index gives the index of the issue with exactly this id, of repeated ones
// the last.
func (f *File) Index(id string) (int, bool) {
	i := f.byID.place(f.issues, id)
	return max(i, 0), i >= 0
}

// Distinct reports whether no id stands on two lines.
func (f *File) Distinct() bool { return len(f.repeats) == 0 }

// Find gives the issue with this id, or the only one that has it after its
// prefix and a hyphen. The error is a *NotFoundError with near misses.
func (f *File) Find(id string) (*Issue, error) {
	if i, ok := f.Index(id); ok {
		return f.issues[i], nil
	}
	var found []string
	if id != "" {
		found = f.ids(func(s string) bool { return strings.HasSuffix(s, "-"+id) })
	}
	if len(found) == 1 {
		i, _ := f.Index(found[0])
		return f.issues[i], nil
	}
	return nil, &NotFoundError{ID: id, Near: near(id, found, f.ids)}
}

// ids gives the distinct ids that match, in file order.
func (f *File) ids(match func(string) bool) (found []string) {
	for i, is := range f.issues {
		if match(is.ID) && f.byID.place(f.issues, is.ID) == i {
			found = append(found, is.ID)
		}
	}
	return found
}

// Record reads the issue's whole line again and tokenises it. When another
// program rewrote the file in place and the line no longer holds the issue,
// the error is a *ConflictError; other errors are of type *StoreError.
func (i *Issue) Record() (*Record, error) {
	line, err := i.AppendLine(nil)
	if err != nil {
		return nil, err
	}
	r, bad := parseRecord(line)
	if bad != nil || !r.is(i.ID) {
		return nil, i.gone()
	}
	return r, nil
}

// unread is the error for a line of which not every byte could be read.
func (i *Issue) unread(err error) error {
	if isEnd(err) {
		return i.gone()
	}
	return unreadable(i.file.store.Path, err)
}

func (i *Issue) gone() error {
	return &ConflictError{
		Path:   i.file.store.Path,
		Reason: fmt.Sprintf("line %d no longer holds %s", i.Line, i.ID),
		Hint:   "another program rewrote the store in place: run the command again",
	}
}

package beads

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"stig/internal/fault"
)

// New is an issue to add. Its line omits empty texts and empty lists.
type New struct {
	ID, Title, Description, Design, AcceptanceCriteria, Notes string
	Status, Type, Assignee, ExternalRef                       string
	Priority                                                  int
	Estimate                                                  int       // in minutes; 0 for none
	DueAt, DeferUntil                                         time.Time // zero for none
	By                                                        string    // created_by, of its rows too
	Labels                                                    []string
	Deps                                                      []Dep
}

// addition is one new line, with the line ending that its place needs.
type addition struct {
	id   string
	off  int64 // insert before the byte at this offset
	line []byte
	text []byte // the line and its ending
}

// Add adds an issue, created and updated at the time of the edit (UTC, whole seconds). In a
// file sorted by id (bytewise) the line goes to its sorted place, otherwise to the end. A last
// line without a newline stays without one. Keys follow the order of bd 0.49; spacing and
// escapes follow the neighbouring lines.
//
// It returns the line. An id that exists already and text that is not UTF-8 are refused
// (fault.Refused).
func (tx *Tx) Add(n New) ([]byte, error) {
	if err := n.check(); err != nil {
		return nil, err
	}
	at, sorted, err := tx.free(n.ID)
	if err != nil {
		return nil, err
	}
	c, end, err := tx.snapshot.manner(at)
	if err != nil {
		return nil, tx.moved(err)
	}
	line := c.issue(n, tx.now)
	if _, bad := parseRecord(line); bad != nil {
		panic("beads: a new line is malformed: " + bad.message)
	}
	return line, tx.insert(n.ID, line, at, sorted, end)
}

// Restore adds, byte for byte, the line of an issue that the store used to have. It refuses an
// id that exists (fault.Refused).
func (tx *Tx) Restore(r *Record) error {
	id := r.Text(ID)
	at, sorted, err := tx.free(id)
	if err != nil {
		return err
	}
	_, end, err := tx.snapshot.manner(at)
	if err != nil {
		return tx.moved(err)
	}
	return tx.insert(id, r.line, at, sorted, end)
}

// free returns where a new line with an unused id goes.
func (tx *Tx) free(id string) (at int, sorted bool, err error) {
	if i, taken := tx.snapshot.Index(id); taken {
		return 0, false, &fault.Error{Code: fault.Refused, Path: tx.snapshot.place.Name(), Line: tx.snapshot.At(i).Line, Reason: fmt.Sprintf("id %q is taken", id)}
	}
	if slices.ContainsFunc(tx.added, func(a addition) bool { return a.id == id }) {
		return 0, false, &fault.Error{Code: fault.Refused, Path: tx.snapshot.place.Name(), Reason: fmt.Sprintf("id %q is taken by another new issue", id)}
	}
	at, sorted = tx.snapshot.position(id)
	return at, sorted, nil
}

// insert puts a new line before the issue at an index, or at the end of the file.
func (tx *Tx) insert(id string, line []byte, at int, sorted bool, end []byte) error {
	a := addition{id: id, line: line}
	if at < tx.snapshot.Len() {
		a.off, a.text = tx.snapshot.At(at).off, slices.Concat(line, end)
	} else {
		a.off = tx.snapshot.size
		ended, err := tx.snapshot.ended()
		if err != nil {
			return tx.moved(err)
		}
		if a.text = slices.Concat(line, end); !ended {
			a.text = slices.Concat(end, line)
		}
	}
	tx.added = append(tx.added, a)
	if sorted {
		slices.SortStableFunc(tx.added, func(a, b addition) int { return strings.Compare(a.id, b.id) })
	}
	return nil
}

func (n New) check() error {
	if n.ID == "" || n.Title == "" {
		return fmt.Errorf("a new issue needs an id and a title; found %q and %q", n.ID, n.Title)
	}
	if n.Status == StatusClosed {
		return fmt.Errorf("%s: %s: a new issue must not be %q", n.ID, Status, n.Status)
	}
	texts := []string{n.ID, n.Title, n.Description, n.Design, n.AcceptanceCriteria, n.Notes, n.Status, n.Type, n.Assignee, n.ExternalRef, n.By}
	texts = append(texts, n.Labels...)
	for _, d := range n.Deps {
		if d.On == "" || d.Type == "" {
			return fmt.Errorf("%s: %s: a dependency row needs an id and a type; found %q and %q", n.ID, Dependencies, d.On, d.Type)
		}
		texts = append(texts, d.On, d.Type)
	}
	for _, text := range texts {
		if !utf8.ValidString(text) {
			return fmt.Errorf("%s: %w", n.ID, notUTF8(text))
		}
	}
	return nil
}

// position returns the index of the issue before which a new one goes (Len for the end), and
// whether the file is sorted by id.
func (f *Snapshot) position(id string) (at int, sorted bool) {
	at = len(f.issues)
	for i, is := range f.issues {
		if i > 0 && f.issues[i-1].ID >= is.ID {
			return len(f.issues), false
		}
		if at == len(f.issues) && is.ID > id {
			at = i
		}
	}
	return at, true
}

// manner describes how the lines near index at are written, and their line ending.
func (f *Snapshot) manner(at int) (c composer, end []byte, err error) {
	const (
		most     = 32      // lines
		mostText = 1 << 20 // bytes of them
	)
	c = composer{colon: []byte(":"), comma: []byte(",")}
	end = []byte("\n")
	near := slices.Clone(f.issues[max(0, at-most):at])
	slices.Reverse(near)
	if len(near) == 0 {
		near = f.issues[:min(len(f.issues), most)]
	}
	if len(near) == 0 {
		return c, end, nil
	}
	var text []byte
	for i, is := range near {
		r, err := is.Record()
		if err != nil {
			return c, end, err
		}
		if i == 0 {
			c.colon, c.comma = r.spacing()
		}
		if text = append(text, r.line...); len(text) > mostText {
			break
		}
	}
	c.style = styleOf(text)
	if end, err = near[0].end(); err != nil {
		return c, end, err
	}
	return c, end, nil
}

// end returns the line ending of an issue, LF where it cannot be determined.
func (i *Issue) end() ([]byte, error) {
	b := make([]byte, 2)
	n, err := i.of.source.Lines.ReadAt(b, i.off+int64(i.size))
	if err != nil && !isEnd(err) {
		return nil, Unreadable(i.of.place.Name(), err)
	}
	if bytes.Equal(b[:n], []byte("\r\n")) {
		return b, nil
	}
	return []byte("\n"), nil
}

// ended reports whether a new line may follow the last byte of the file.
func (f *Snapshot) ended() (bool, error) {
	if f.size == 0 {
		return true, nil
	}
	last := make([]byte, min(f.size, int64(len(byteOrderMark))))
	if _, err := f.source.Lines.ReadAt(last, f.size-int64(len(last))); err != nil && !isEnd(err) {
		return false, Unreadable(f.place.Name(), err)
	}
	return last[len(last)-1] == '\n' || f.size == int64(len(last)) && string(last) == byteOrderMark, nil
}

// issue returns the line of a new issue.
func (c composer) issue(n New, now time.Time) []byte {
	var members [][]byte
	add := func(k Key, value []byte) { members = append(members, c.member(k, value)) }
	texts := func(k Key, text string) {
		if text != "" {
			add(k, c.text(text))
		}
	}
	texts(ID, n.ID)
	texts(Title, n.Title)
	texts(Description, n.Description)
	texts(Design, n.Design)
	texts(AcceptanceCriteria, n.AcceptanceCriteria)
	texts(Notes, n.Notes)
	texts(Status, n.Status)
	add(Priority, strconv.AppendInt(nil, int64(n.Priority), 10))
	texts(IssueType, n.Type)
	texts(Assignee, n.Assignee)
	if n.Estimate != 0 {
		add(EstimatedMinutes, strconv.AppendInt(nil, int64(n.Estimate), 10))
	}
	add(CreatedAt, c.time(now))
	texts("created_by", n.By)
	add(UpdatedAt, c.time(now))
	if !n.DueAt.IsZero() {
		add(DueAt, c.time(n.DueAt))
	}
	if !n.DeferUntil.IsZero() {
		add(DeferUntil, c.time(n.DeferUntil))
	}
	texts(ExternalRef, n.ExternalRef)
	if len(n.Labels) > 0 {
		var list [][]byte
		for _, l := range n.Labels {
			list = append(list, c.text(l))
		}
		add(Labels, c.list(list))
	}
	if len(n.Deps) > 0 {
		var list [][]byte
		for _, d := range n.Deps {
			list = append(list, c.row(n.ID, Row{On: d.On, Type: d.Type, By: n.By}, now))
		}
		add(Dependencies, c.list(list))
	}
	return c.object(members)
}

package beads

import (
	"context"
	"io"
	"strings"
)

// Splice exchanges the bytes of a store from Start to End for Text.
type Splice struct {
	Start, End int
	Text       string
}

// Rewrite locks the store, reads it, calls fn with its text, and replaces the
// file as Edit does. It is for what no edit of an issue can do, such as taking
// out conflict markers: what is wrong inside the store is no hindrance, and
// neither notes are judged nor times set. All bytes outside of the splices,
// which must be in order, stay as they are. fn may run up to five times.
//
// Before and After of Options are not called. Errors are those of Edit and of fn.
func Rewrite(ctx context.Context, s Store, o Options, fn func(text string) ([]Splice, error)) error {
	o.rewrites = true
	_, err := edit(ctx, osDisk{}, s, o, func(tx *Tx) error {
		text, err := tx.text()
		if err != nil {
			return err
		}
		splices, err := fn(text)
		for _, p := range splices {
			if text[p.Start:p.End] != p.Text {
				tx.spliced = append(tx.spliced, patch{int64(p.Start), p.End - p.Start, []byte(p.Text)})
			}
		}
		return err
	})
	return err
}

// text is the whole store as it was read.
func (tx *Tx) text() (string, error) {
	var text strings.Builder
	n, err := io.Copy(&text, io.NewSectionReader(tx.file.disk, 0, tx.file.hash.size))
	if err != nil {
		return "", unreadable(tx.file.store.Path, err)
	}
	if n < tx.file.hash.size {
		tx.stale = true
		return "", io.ErrUnexpectedEOF // Edit starts over
	}
	return text.String(), nil
}

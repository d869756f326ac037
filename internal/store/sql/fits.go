package sql

import (
	"bytes"
	"context"
	"fmt"

	"stig/internal/fault"
)

// One statement has at most about this many bytes and rows, unless a single row is larger.
// Escaping at most doubles the bytes, which is still below the limit of every server.
const (
	batchBytes = 256 << 10
	batchRows  = 200
	mostID     = 255 // bytes: the size of the column
)

// chunk is data that must be in one statement.
type chunk struct {
	id   string
	text []byte
}

// fits refuses (fault.Refused) an edition with a part that is too large for the server, before
// anything is written.
func (s *Store) fits(ctx context.Context, e *edition) error {
	var chunks []chunk
	for _, w := range e.swaps {
		chunks = append(chunks, chunk{w.id, w.after.line})
		for _, c := range w.comments {
			chunks = append(chunks, chunk{w.id, c})
		}
	}
	for _, a := range e.added {
		chunks = append(chunks, chunk{a.id, a.record.Bytes()})
	}
	return s.fitting(ctx, chunks)
}

func (s *Store) fitting(ctx context.Context, chunks []chunk) error {
	limit := 0
	for _, c := range chunks {
		if len(c.id) > mostID {
			return &fault.Error{Code: fault.Refused, Path: s.url, Reason: fmt.Sprintf("%s: the id has %d bytes; at most %d are allowed", c.id, len(c.id), mostID), Hint: "give the issue a shorter id"}
		}
		if len(c.text) <= batchBytes {
			continue
		}
		if limit == 0 {
			if err := s.DB().QueryRowContext(ctx, "SELECT @@max_allowed_packet").Scan(&limit); err != nil {
				return err
			}
		}
		if size := escaped(c.text) + batchBytes; size > limit {
			return &fault.Error{Code: fault.Refused, Path: s.url, Reason: fmt.Sprintf("%s: %d bytes need a statement of %d bytes; the server accepts %d", c.id, len(c.text), size, limit),
				Hint: fmt.Sprintf("raise the limit on the server: SET GLOBAL max_allowed_packet = %d", size)}
		}
	}
	return nil
}

// escaped returns the number of bytes that a text takes in a statement.
func escaped(text []byte) int {
	size := len(text) + len("_binary''")
	for _, c := range []byte("\x00\n\r\x1a'\"\\") {
		size += bytes.Count(text, []byte{c})
	}
	return size
}

package process

import (
	"bytes"
	"fmt"
)

// Short keeps the output of a program that should print little. When it prints more than Most
// bytes Stop is called, which ends it; no more is kept.
type Short struct {
	Most int
	Stop func(error)
	kept bytes.Buffer
}

func (s *Short) Write(b []byte) (int, error) {
	if s.kept.Len()+len(b) > s.Most {
		s.Stop(fmt.Errorf("it printed more than %d bytes", s.Most))
		return len(b), nil
	}
	return s.kept.Write(b)
}

// String returns the output.
func (s *Short) String() string { return s.kept.String() }

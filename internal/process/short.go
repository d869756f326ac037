package process

import (
	"bytes"
	"fmt"
)

// Short keeps what a program prints that is to print little. That it prints more than Most
// bytes is told to Stop, which ends it; no more is kept.
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

// String is what was printed.
func (s *Short) String() string { return s.kept.String() }

package sql

import "time"

// SetPatience replaces the 30 seconds for which an edit starts over, and asks what became
// of it.
func (s *Store) SetPatience(d time.Duration) { s.patience = d }

// Patience is what SetPatience set.
func (s *Store) Patience() time.Duration { return s.patience }

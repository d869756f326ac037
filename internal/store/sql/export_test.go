package sql

import "time"

// SetPatience replaces the 30 seconds for which an edit retries, and asks for its outcome.
func (s *Store) SetPatience(d time.Duration) { s.patience = d }

// Patience returns what SetPatience set.
func (s *Store) Patience() time.Duration { return s.patience }

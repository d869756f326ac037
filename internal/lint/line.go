package lint

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"stig/internal/beads"
)

// flaws reports values that an edit would overwrite unnoticed.
func flaws(s *subject) {
	for _, f := range s.record.Flaws() {
		s.add(f.Rule, 0, 0, f.Message, "fix that line by hand: this issue cannot be written until then")
	}
}

// priority reports numbers that are not a priority. flaws reports strings.
func priority(s *subject) {
	raw := string(s.record.Raw(beads.Priority))
	if raw == "" || strings.ContainsAny(raw[:1], `"[{tf`) {
		return
	}
	if n, ok := s.record.Number(beads.Priority); !ok || n < 0 || n > 4 {
		s.add(RulePriority, 0, 0, fmt.Sprintf("priority must be 0 to 4; found %.20s", raw), "write a whole number from 0 to 4 into the line")
	}
}

// encoding reports bytes that are not UTF-8.
func encoding(s *subject) {
	if utf8.Valid(s.record.Bytes()) {
		return
	}
	for _, k := range s.record.Keys() {
		if raw := s.record.Raw(k); !utf8.Valid(raw) {
			s.add(RuleEncoding, 0, 0, fmt.Sprintf("%q is not valid UTF-8", k), "convert that line to UTF-8: programs replace such bytes")
			return
		}
	}
	s.add(RuleEncoding, 0, 0, "a key is not valid UTF-8", "convert that line to UTF-8: programs replace such bytes")
}

// ahead reports times that are more than a day ahead, or after which no later time can be
// written.
func ahead(s *subject) {
	at, ok := s.record.Time(beads.UpdatedAt)
	switch {
	case !ok:
		return
	case at.Add(time.Second).UTC().Year() > 9999:
		s.add(RuleLastTime, 0, 0, "updated_at "+s.record.Text(beads.UpdatedAt)+": no write can be later", "type stig vet --fix to set it to now")
	case !s.rules.Now.IsZero() && at.Sub(s.rules.Now) > 24*time.Hour:
		s.add(RuleAhead, 0, 0, "updated_at "+s.record.Text(beads.UpdatedAt)+" is more than a day ahead", "type stig vet --fix to set it to now")
	default:
		return
	}
	s.found[len(s.found)-1].fix = &fix{redate: true}
}

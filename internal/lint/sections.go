package lint

import (
	"strings"

	"stig/internal/beads"
)

// sections finds unclosed issues that say neither what is to be done nor how it
// will be known to be done. A design counts: criteria may stand in it.
func sections(s *subject) {
	if s.over() || s.issue.Ephemeral || s.issue.Template || s.issue.Channel {
		return
	}
	for _, key := range []beads.Key{beads.Description, beads.AcceptanceCriteria, beads.Design} {
		if strings.TrimSpace(s.record.Text(key)) != "" {
			return
		}
	}
	s.add(RuleSections, 0, 0, "neither a description nor acceptance criteria",
		"type stig edit ID --description \"what is to exist, and why\"")
}

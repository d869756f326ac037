package orient

import (
	"fmt"
	"unicode/utf8"

	"stig/internal/visible"
)

// SurveyBudget is the default budget of a survey's Markdown, in characters.
const SurveyBudget = 8000

// limits returns how many rows a scale shows of each part, and of each rule of attention; 0 for
// all.
func limits(scale string) (rows, alerts int) {
	switch scale {
	case Medium:
		return 10, 4
	case Large:
		return 5, 3
	}
	return 0, 0
}

// limit shortens each part to what its scale shows.
func (s *Survey) limit() {
	most, alerts := limits(s.Scale)
	if most == 0 {
		return
	}
	s.limitAttention(alerts)
	own, others := s.claims()
	limitTo(s, &others, most, nounClaim, len(s.InProgress))
	s.InProgress = append(append([]Claim{}, own...), others...) // an empty list in JSON, not null
	limitTo(s, &s.Ready, most, nounReady, len(s.Ready))
	limitTo(s, &s.Epics, most, nounEpic, len(s.Epics))
	limitTo(s, &s.Convergence, most, nounConvergence, len(s.Convergence))
	if s.cutsPath() {
		s.leaveOut(nounStep, s.pathLeft())
	}
}

// Names of a survey's parts in omissions.
const (
	nounAttention   = "alert"
	nounClaim       = "claim"
	nounReady       = "ready issue"
	nounEpic        = "epic"
	nounConvergence = "convergence point"
	nounStep        = "step of the critical path"
)

// all is the numbers of entries before anything is left out.
type all struct{ attention, claims, ready, epics, convergence int }

func (s *Survey) all() all {
	return all{len(s.Attention), len(s.InProgress), len(s.Ready), len(s.Epics), len(s.Convergence)}
}

func limitTo[T any](s *Survey, list *[]T, most int, noun string, all int) {
	if left := len(*list) - most; left > 0 {
		*list = (*list)[:most]
		s.leaveOut(noun, partOf(left, all, noun))
	}
}

// limitAttention keeps the first entries of each rule.
func (s *Survey) limitAttention(most int) {
	kept := []Attention{}
	shown := map[string]int{}
	for _, a := range s.Attention {
		if shown[a.Rule]++; shown[a.Rule] <= most {
			kept = append(kept, a)
		}
	}
	if left := len(s.Attention) - len(kept); left > 0 {
		s.leaveOut(nounAttention, partOf(left, len(s.Attention), nounAttention))
	}
	s.Attention = kept
}

// leaveOut records what is left out of a kind so far. --full shows all of it.
func (s *Survey) leaveOut(kind, what string) {
	argv := []string{"stig", "orient", "--full"}
	if s.As != "" {
		argv = append(argv, "--as", s.As)
	}
	s.Omitted = leaveOut(s.Omitted, Omission{What: what, Argv: argv, kind: kind})
}

// cuts lists what can be dropped, least urgent first.
func (s *Survey) cuts() []cut {
	return []cut{
		s.cutFirstLines(),
		cutTailTo(&s.Convergence, s.there.convergence, 0, nounConvergence, func(c Convergence) int { return shown(c.ID, c.Title) }),
		cutTailTo(&s.Epics, s.there.epics, 0, nounEpic, func(e EpicState) int { return shown(e.ID, e.Title) }),
		s.cutPath(),
		cutTailTo(&s.InProgress, s.there.claims, 0, nounClaim, func(c Claim) int { return shown(c.ID, c.Title) }),
		cutTailTo(&s.Ready, s.there.ready, 0, nounReady, func(e Entry) int { return shown(e.ID, e.Title) }),
		cutTailTo(&s.Attention, s.there.attention, 0, nounAttention, func(a Attention) int { return utf8.RuneCountInString(a.ID + a.Message) }),
	}
}

// shown returns the maximum number of characters that an id and a text take.
func shown(id, text string) int {
	return utf8.RuneCountInString(id) + min(utf8.RuneCountInString(text), widest)
}

func (s *Survey) cutFirstLines() cut {
	return cut{"first lines", func(int) string {
		had := false
		for k := range s.Ready {
			had = had || s.Ready[k].FirstLine != ""
			s.Ready[k].FirstLine = ""
		}
		if !had {
			return ""
		}
		return "the first lines of what is ready"
	}}
}

func (s *Survey) cutPath() cut {
	return cut{nounStep, func(int) string {
		whole := s.wholePath
		if s.wholePath = false; !whole || !s.cutsPath() {
			return ""
		}
		return s.pathLeft()
	}}
}

func (s *Survey) pathLeft() string {
	return fmt.Sprintf("%d of %s", len(s.CriticalPath)-2*pathEnds, visible.Counted(len(s.CriticalPath), "step")) + " of the critical path"
}

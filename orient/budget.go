package orient

import (
	"fmt"
	"slices"
	"unicode/utf8"

	"stig/internal/visible"
)

// MinBudget is the smallest budget, in characters, with room for what is never cut: the head,
// the next steps and the omissions.
const MinBudget = 2000

// cut is one kind of content that can be dropped. free tries to free excess characters, and
// returns what of its kind is left out so far; "" if there is nothing left to cut.
type cut struct {
	kind string
	free func(excess int) (what string)
}

// text is a text that can be fitted into a budget.
type text interface {
	Markdown() string
	cuts() []cut                // least urgent first
	leaveOut(kind, what string) // records what of a kind is left out so far
}

// fit drops the least urgent content until the Markdown has at most budget characters. Each
// dropped kind is named in Omitted once.
func fit(t text, budget int) {
	excess := func() int { return utf8.RuneCountInString(t.Markdown()) - budget }
	over := excess()
	for _, cut := range t.cuts() {
		for over > 0 {
			what := cut.free(over)
			if what == "" {
				break
			}
			t.leaveOut(cut.kind, what)
			over = excess()
		}
	}
}

func (b *Briefing) leaveOut(kind, what string) {
	b.Omitted = leaveOut(b.Omitted, Omission{What: what, Argv: b.argv("--full"), kind: kind})
}

// leaveOut adds an omission, or replaces an earlier one of the same kind.
func leaveOut(omitted []Omission, o Omission) []Omission {
	at := slices.IndexFunc(omitted, func(had Omission) bool { return had.kind == o.kind && slices.Equal(had.Argv, o.Argv) })
	if at < 0 {
		return append(omitted, o)
	}
	omitted[at] = o
	return omitted
}

// Lengths to which texts are shortened first, in characters.
const (
	keptOfNotes       = 800
	keptOfComment     = 500
	keptOfTrail       = 400 // a checkpoint, or the last evidence run
	keptOfReason      = 250 // a close reason
	keptOfSentence    = 160 // the first sentence of a close reason
	leastSentence     = 12  // "Verified: i.e. …" is not a sentence
	keptOfDesign      = 1800
	keptOfDescription = 2500
	keptOfNewest      = 1000 // the newest comment
	keptOfEstimate    = 1200
	keptOfCriteria    = 1800
	keptOfAnswer      = 600

	// Lengths to keep while other content can still be dropped.
	leastOfNotes   = 250
	leastOfComment = 200
	leastOfDesign  = 600

	keptOfRows = 4 // related and waiting issues
)

// cuts lists what can be dropped, least urgent first: what the reader learned elsewhere, repeated
// lines, the middles of long texts, linked issues, the texts about the task, then the head.
func (b *Briefing) cuts() []cut {
	return slices.Concat([]cut{b.cutText(&b.Learned, "what you learned", 0), b.foldLines(), b.cutReasons(), b.cutDependencies(showSentence, isFarther)}, b.shortenings(), b.cutsOfLinks(), b.cutsOfTexts(), b.cutsOfTask(), b.cutsOfStanding())
}

// cutReasons shortens the close reasons of closed children and related issues to the first
// sentence, from the last issue to the first.
func (b *Briefing) cutReasons() cut {
	var reasons []*string
	if b.Children != nil {
		for i := range b.Children.Done {
			reasons = append(reasons, &b.Children.Done[i].Reason)
		}
	}
	for i := range b.Related {
		reasons = append(reasons, &b.Related[i].Reason)
	}
	n := 0
	return cut{"reasons", func(excess int) string {
		before := n
		for len(reasons) > 0 && excess > 0 {
			last := reasons[len(reasons)-1]
			reasons = reasons[:len(reasons)-1]
			if short := firstSentence(*last); len(short) < len(*last) {
				excess -= len(*last) - len(short)
				*last, n = short, n+1
			}
		}
		if n == before {
			return ""
		}
		return "the rest of " + visible.Counted(n, "close reason")
	}}
}

// cutsOfLinks drop what is linked to the issue.
func (b *Briefing) cutsOfLinks() (list []cut) {
	if c := b.Children; c != nil {
		list = append(list, cutTail(&c.Done, "closed child", Done.size))
	}
	return append(list,
		cutTail(&b.Seen, "issue seen before", seenSize),
		cutTailTo(&b.Related, len(b.Related), keptOfRows, "related issue", func(r Related) int { return refSize(r.Ref) }),
		cutTailTo(&b.Dependents, len(b.Dependents), keptOfRows, "waiting issue", refSize),
		b.cutDependencies(showTitle, isFarther),
		b.cutDependencies(showSentence, anyDependency),
	)
}

// cutsOfTexts drop the texts about the task; the description, the newest comment and trace, and
// the open questions go last.
func (b *Briefing) cutsOfTexts() []cut {
	return []cut{
		b.cutText(&b.Notes, "the further notes", leastOfNotes),
		cutTexts("comments", "comment", leastOfComment, b.earlier),
		b.cutText(&b.Design, "the design", leastOfDesign),
		b.cutDependencies(showTitle, anyDependency),
		b.cutDependencies(showCount, isFarther),
		b.cutText(&b.Notes, "the further notes", 0),
		cutHead(&b.Comments, 1, "comment", Comment.size),
		cutHead(&b.Findings, 0, "finding upstream", LeftTrace.size),
		cutTexts("traces", "trace", leastOfComment, b.leftTexts),
		cutHead(&b.Traces, 1, "trace", LeftTrace.size),
		b.cutText(&b.Design, "the design", 0),
		cutTail(&b.Related, "related issue", func(r Related) int { return refSize(r.Ref) }),
		cutTail(&b.Dependents, "waiting issue", refSize),
		b.cutText(&b.Description, "the description", 0),
		cutHead(&b.Comments, 0, "comment", Comment.size),
		cutHead(&b.Traces, 0, "trace", LeftTrace.size),
		cutTail(&b.Discover, "open question", Item.size),
	}
}

// cutsOfTask drop what is needed to do the task, the criteria last.
func (b *Briefing) cutsOfTask() (list []cut) {
	if c := b.Children; c != nil {
		list = append(list,
			cutTail(&c.Surprising, "surprising child", func(s Surprised) int { return refSize(s.Ref) }),
			cutTail(&c.Open, "open child", Child.size))
	}
	list = append(list,
		b.cutDependencies(showCount, anyDependency),
		cutTail(&b.Acceptance.Checks, "command", checkSize))
	if b.Shown != nil {
		list = append(list, b.cutText(&b.Shown.Text, "what was run to show it", 0))
	}
	for i := range b.Also {
		list = append(list, b.cutText(&b.Also[i].Text, b.Also[i].name(), 0))
	}
	if b.Estimate != nil {
		list = append(list, b.cutText(&b.Estimate.Text, "the state estimate", 0))
	}
	list = append(list,
		b.cutText(&b.Acceptance.Text, "the acceptance criteria", 0),
		b.cutText(&b.Issue.CloseReason, "the close reason", keptOfReason))
	if b.Probe != nil {
		list = append(list,
			b.cutText(&b.Probe.Stabilised, "what counts as stabilised", 0),
			b.cutText(&b.Probe.Feedback, "the feedback", 0),
			b.cutText(&b.Probe.Intervention, "the smallest intervention", 0),
			b.cutText(&b.Probe.Hypothesis, "the hypothesis", 0))
	}
	return list
}

// cutsOfStanding drop parts of the head.
func (b *Briefing) cutsOfStanding() []cut {
	list := []cut{
		cutTail(&b.OpenBlockers, "open blocker", func(b Blocker) int { return refSize(b.Ref) }),
		cutTail(&b.Elsewhere, "issue of another project", func(e Elsewhere) int { return utf8.RuneCountInString(e.Title + e.CloseReason + e.Checkpoint) }),
		cutHead(&b.Escalation.Answered, 0, "answer", Answered.size),
		b.cutText(&b.Escalation.Question, "the question", 0),
		cutTail(&b.Alerts, "alert", alertSize),
		cutTail(&b.Violations, "violation", violationSize),
		cutTail(&b.Issue.Labels, "label", utf8.RuneCountInString),
	}
	if b.Epic != nil {
		list = append(list, b.cutText(&b.Epic.Title, "the epic's title", 0))
	}
	return append(list, b.cutText(&b.Issue.Title, "the title", 0))
}

// shortenings cut the middles of long texts, so that a part of each stays.
func (b *Briefing) shortenings() []cut {
	list := []cut{
		b.cutText(&b.Notes, "the further notes", keptOfNotes),
		b.cutDependencies(showOutline, anyDependency),
		cutTexts("comments", "comment", keptOfComment, b.earlier),
		cutTexts("traces", "trace", keptOfComment, b.leftTexts),
		b.cutText(&b.Design, "the design", keptOfDesign),
		b.cutText(&b.Description, "the description", keptOfDescription),
	}
	if len(b.Comments) > 0 {
		list = append(list, b.cutText(&b.Comments[len(b.Comments)-1].Text, "the newest comment", keptOfNewest))
	}
	for i := range b.Also {
		list = append(list, b.cutText(&b.Also[i].Text, b.Also[i].name(), keptOfEstimate))
	}
	if b.Estimate != nil {
		list = append(list, b.cutText(&b.Estimate.Text, "the state estimate", keptOfEstimate))
	}
	return append(list,
		b.cutText(&b.Acceptance.Text, "the acceptance criteria", keptOfCriteria),
		cutTexts("answers", "answer", keptOfAnswer, b.answerTexts))
}

func (b *Briefing) answerTexts() (list []passage) {
	for i := range b.Escalation.Answered {
		a := &b.Escalation.Answered[i]
		for k := range a.Questions {
			list = append(list, passage{&a.Questions[k].Text, &a.Questions[k].whole})
		}
		list = append(list, passage{&a.Answer.Text, &a.whole})
	}
	return list
}

// earlier returns the comments except the newest.
func (b *Briefing) earlier() (list []passage) {
	for i := range max(0, len(b.Comments)-1) {
		list = append(list, passage{&b.Comments[i].Text, &b.Comments[i].whole})
	}
	return list
}

// leftTexts returns the texts of traces.
func (b *Briefing) leftTexts() (list []passage) {
	for _, traces := range [][]LeftTrace{b.Findings, b.Traces} {
		for i := range traces {
			list = append(list, passage{&traces[i].Text, &traces[i].whole})
		}
	}
	return list
}

func isFarther(d Dependency) bool   { return d.Distance > 1 }
func anyDependency(Dependency) bool { return true }

// foldLines folds repeated lines, text by text, until enough is freed.
func (b *Briefing) foldLines() cut {
	texts := []*string{&b.Description}
	for i := range b.Comments {
		texts = append(texts, &b.Comments[i].Text)
	}
	texts = append(texts, &b.Notes, &b.Design)
	for i := len(b.ClosedDependencies) - 1; i >= 0; i-- {
		d := &b.ClosedDependencies[i]
		texts = append(texts, &d.Ran, &d.Checkpoint)
	}
	all := 0
	return cut{"repeated lines", func(excess int) string {
		folded := 0
		for _, text := range texts {
			if excess > 0 {
				had, n := len(*text), 0
				*text, n = foldRepeated(*text)
				folded += n
				excess -= had - len(*text)
			}
		}
		if folded == 0 {
			return ""
		}
		all += folded
		return visible.Counted(all, "repeated line")
	}}
}

func (a Answered) size() int {
	n := utf8.RuneCountInString(a.Answer.Text + a.Answer.By)
	for _, q := range a.Questions {
		n += utf8.RuneCountInString(q.Text + q.By)
	}
	return n
}

// cutTail drops elements from the end of a list.
func cutTail[T any](list *[]T, noun string, size func(T) int) cut {
	return cutTailTo(list, len(*list), 0, noun, size)
}

// cutTailTo drops elements from the end of a list that had all elements at first, and keeps at
// least least.
func cutTailTo[T any](list *[]T, all, least int, noun string, size func(T) int) cut {
	return cut{noun, func(excess int) string {
		kept := len(*list)
		if kept <= least {
			return ""
		}
		for ; kept > least && excess > 0; kept-- {
			excess -= size((*list)[kept-1])
		}
		*list = (*list)[:kept]
		return partOf(all-kept, all, noun)
	}}
}

// cutHead drops elements from the beginning of a list and keeps at least least.
func cutHead[T any](list *[]T, least int, noun string, size func(T) int) cut {
	all := len(*list)
	return cut{noun, func(excess int) string {
		drop := 0
		for ; len(*list)-drop > least && excess > 0; drop++ {
			excess -= size((*list)[drop])
		}
		if drop == 0 {
			return ""
		}
		*list = (*list)[drop:]
		return partOf(all-len(*list), all, noun)
	}}
}

// passage is a text that can be shortened, with a place for the original.
type passage struct{ text, whole *string }

// cutTo shortens a text to at most limit characters, cutting the middle of the original, and
// returns how many characters that frees.
func (p passage) cutTo(limit int) (fewer int) {
	if *p.whole == "" {
		*p.whole = *p.text
	}
	had := utf8.RuneCountInString(*p.text)
	kept := middleOut(*p.whole, limit)
	if fewer = had - utf8.RuneCountInString(kept); fewer <= 0 {
		return 0
	}
	*p.text = kept
	return fewer
}

func (p passage) isCut() bool { return *p.whole != "" && *p.text != *p.whole }

// cutText cuts the middle of a text, down to least characters.
func (b *Briefing) cutText(text *string, name string, least int) cut {
	if b.wholes == nil {
		b.wholes = map[*string]*string{}
	}
	if b.wholes[text] == nil {
		b.wholes[text] = new(string)
	}
	p := passage{text, b.wholes[text]}
	return cut{name, func(excess int) string {
		had := utf8.RuneCountInString(*text)
		if had <= least || p.cutTo(max(least, had-excess)) == 0 {
			return ""
		}
		if *text == "" {
			return name
		}
		all := utf8.RuneCountInString(*p.whole)
		return fmt.Sprintf("%d of %d characters of %s", all-utf8.RuneCountInString(*text), all, name)
	}}
}

// cutTexts is cutText for several texts of one kind, in order.
func cutTexts(kind, noun string, least int, texts func() []passage) cut {
	return cut{kind, func(excess int) string {
		fewer, cut := 0, 0
		for _, p := range texts() {
			if had := utf8.RuneCountInString(*p.text); had > least && fewer < excess {
				fewer += p.cutTo(max(least, had-(excess-fewer)))
			}
			if p.isCut() {
				cut++
			}
		}
		if fewer == 0 {
			return ""
		}
		return "parts of " + visible.Counted(cut, noun)
	}}
}

func partOf(dropped, all int, noun string) string {
	if dropped == all {
		return visible.Counted(all, noun)
	}
	return fmt.Sprintf("%d of %s", dropped, visible.Counted(all, noun))
}

package orient

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// MinBudget is the least budget that leaves room for what is never cut: the
// head, what to do next and what was left out.
const MinBudget = 2000

// cut is one kind of thing that can be dropped. It frees about as many
// characters as it is asked for, as far as it can, and says what of its kind is
// left out by now; "" when there is nothing left to cut.
type cut struct {
	kind string
	free func(excess int) (what string)
}

// text is what can be fitted into a budget.
type text interface {
	Markdown() string
	cuts() []cut                // least urgent first
	leaveOut(kind, what string) // says what of a kind is left out by now
}

// fit drops what is least urgent until the Markdown holds no more than budget
// characters. Everything dropped is named in Omitted, each kind once.
func fit(t text, budget int) {
	for _, cut := range t.cuts() {
		for {
			excess := utf8.RuneCountInString(t.Markdown()) - budget
			if excess <= 0 {
				return
			}
			what := cut.free(excess)
			if what == "" {
				break
			}
			t.leaveOut(cut.kind, what)
		}
	}
}

func (b *Briefing) leaveOut(kind, what string) {
	b.Omitted = leaveOut(b.Omitted, Omission{What: what, Argv: b.argv("--full"), kind: kind})
}

// leaveOut names an omission, in the place of what was said of its kind before.
func leaveOut(omitted []Omission, o Omission) []Omission {
	at := slices.IndexFunc(omitted, func(had Omission) bool { return had.kind == o.kind && slices.Equal(had.Argv, o.Argv) })
	if at < 0 {
		return append(omitted, o)
	}
	omitted[at] = o
	return omitted
}

// cuts lists what can be dropped, least urgent first.
func (b *Briefing) cuts() []cut {
	list := []cut{
		cutTail(&b.Dependents, len(b.Dependents), "waiting issue", Ref.size),
		b.cutDependencies(func(d Dependency) bool { return d.Distance > 1 }),
		cutText(&b.Notes, "the further notes"),
		b.cutCheckpoints(),
		cutText(&b.Description, "the description"),
		cutTail(&b.Discover, len(b.Discover), "open question", Item.size),
		b.cutDependencies(func(Dependency) bool { return true }),
		cutTail(&b.Acceptance.Checks, len(b.Acceptance.Checks), "command", checkSize),
	}
	if b.Shown != nil {
		list = append(list, cutText(&b.Shown.Text, "what was run to show it"))
	}
	for i := range b.Also {
		list = append(list, cutText(&b.Also[i].Text, "what a branch also learned"))
	}
	if b.Estimate != nil {
		list = append(list, cutText(&b.Estimate.Text, "the state estimate"))
	}
	list = append(list, cutText(&b.Acceptance.Text, "the acceptance criteria"))
	if b.Probe != nil {
		list = append(list,
			cutText(&b.Probe.Stabilised, "what counts as stabilised"),
			cutText(&b.Probe.Feedback, "the feedback"),
			cutText(&b.Probe.Intervention, "the smallest intervention"),
			cutText(&b.Probe.Hypothesis, "the hypothesis"))
	}
	list = append(list,
		cutTail(&b.OpenBlockers, len(b.OpenBlockers), "open blocker", Ref.size),
		cutText(&b.Escalation.Resolution, "the answers"),
		cutText(&b.Escalation.Question, "the question"),
		cutTail(&b.Alerts, len(b.Alerts), "alert", alertSize),
		cutTail(&b.Violations, len(b.Violations), "violation", violationSize))
	if b.Epic != nil {
		list = append(list, cutText(&b.Epic.Title, "the epic's title"))
	}
	return append(list, cutText(&b.Issue.Title, "the title"))
}

// cutTail drops elements from the end of a list, of which there were all once.
func cutTail[T any](list *[]T, all int, noun string, size func(T) int) cut {
	return cut{noun, func(excess int) string {
		kept := len(*list)
		if kept == 0 {
			return ""
		}
		for ; kept > 0 && excess > 0; kept-- {
			excess -= size((*list)[kept-1])
		}
		*list = (*list)[:kept]
		return partOf(all-kept, all, noun)
	}}
}

// cutText shortens a text from its end.
func cutText(text *string, name string) cut {
	all := utf8.RuneCountInString(*text)
	return cut{name, func(excess int) string {
		had := utf8.RuneCountInString(*text)
		if had == 0 {
			return ""
		}
		*text = shorten(*text, had-excess)
		if *text == "" {
			return name
		}
		return fmt.Sprintf("%s after %d of %d characters", name, utf8.RuneCountInString(*text), all)
	}}
}

// cutDependencies drops whole dependencies, the farthest first; of equally far
// ones the one that was built first.
func (b *Briefing) cutDependencies(may func(Dependency) bool) cut {
	all := len(b.ClosedDependencies)
	return cut{"dependencies", func(excess int) string {
		had := len(b.ClosedDependencies)
		for excess > 0 {
			far := farthest(b.ClosedDependencies, may)
			if far < 0 {
				break
			}
			excess -= b.ClosedDependencies[far].size()
			b.dropDependency(far)
		}
		if len(b.ClosedDependencies) == had {
			return ""
		}
		return partOf(all-len(b.ClosedDependencies), all, "closed dependency")
	}}
}

func farthest(list []Dependency, may func(Dependency) bool) int {
	far := -1
	for i, d := range list {
		if may(d) && (far < 0 || d.Distance > list[far].Distance) {
			far = i
		}
	}
	return far
}

// dropDependency leaves out a dependency and what is known from it.
func (b *Briefing) dropDependency(i int) {
	id := b.ClosedDependencies[i].ID
	b.ClosedDependencies = slices.Delete(b.ClosedDependencies, i, i+1)
	b.Known = slices.DeleteFunc(b.Known, func(k Item) bool { return k.From == id })
}

// cutCheckpoints drops the checkpoints of dependencies and keeps their close reasons.
func (b *Briefing) cutCheckpoints() cut {
	dropped := 0
	return cut{"checkpoints", func(excess int) string {
		before := dropped
		for i := range b.ClosedDependencies {
			if d := &b.ClosedDependencies[i]; excess > 0 && d.Checkpoint != "" {
				excess -= utf8.RuneCountInString(d.Checkpoint)
				d.Checkpoint = ""
				dropped++
			}
		}
		if dropped == before {
			return ""
		}
		return count(dropped, "checkpoint") + " of direct dependencies"
	}}
}

func partOf(dropped, all int, noun string) string {
	if dropped == all {
		return count(all, noun)
	}
	return fmt.Sprintf("%d of %s", dropped, count(all, noun))
}

// shorten cuts a text to at most limit characters: after a paragraph, else
// after a line, else wherever it must be.
func shorten(text string, limit int) string {
	if limit <= 0 {
		return ""
	}
	head := text
	for i := range text {
		if limit == 0 {
			head = text[:i]
			break
		}
		limit--
	}
	for _, end := range []string{"\n\n", "\n"} {
		if i := strings.LastIndex(head, end); i > len(head)/2 {
			return head[:i]
		}
	}
	return strings.TrimSpace(head)
}

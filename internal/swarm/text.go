package swarm

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"stig/internal/visible"
)

// barWidth is how many characters a full bar has.
const barWidth = 20

// Bar draws a share as a bar.
func Bar(share float64) string {
	full := min(barWidth, max(0, int(share*barWidth+0.5)))
	return strings.Repeat("█", full) + strings.Repeat("░", barWidth-full)
}

// Text formats the report for readers.
func (r *Report) Text() string {
	var b strings.Builder
	status := cmp.Or(string(r.Ended), "running")
	if r.Partial {
		status += ", partial"
	}
	fmt.Fprintf(&b, "swarm %s: %s\n\n", r.Swarm, status)
	for _, row := range [][2]string{
		{"Task", r.Task}, {"Mode", string(r.Mode)}, {"Agents", fmt.Sprintf("%d (active: %d)", r.Agents, r.Active)},
		{"Time", fmt.Sprintf("%d minutes", r.Minutes)}, {"Rounds", fmt.Sprint(r.Rounds)},
	} {
		fmt.Fprintf(&b, "%-7s %s\n", row[0], row[1])
	}
	r.convergence(&b)
	r.ideas(&b)
	r.agents(&b)
	r.roles(&b)
	r.directions(&b)
	r.solutions(&b)
	b.WriteString("\n## Conclusion\n\n" + r.Answer() + "\n")
	return b.String()
}

// Answer is how the swarm ended and its conclusion, in Markdown, for the notes of the issue.
func (r *Report) Answer() string {
	var b strings.Builder
	said := r.words()
	b.WriteString(strings.ToUpper(said[:1]) + said[1:] + ".\n")
	if r.Conclusion != "" {
		by := DisplayName(r.By)
		if r.Partial {
			by = "The leading idea, by " + by
		}
		b.WriteString("\n" + by + ":\n\n")
		for line := range strings.SplitSeq(visible.Text(visible.LF(r.Conclusion)), "\n") {
			b.WriteString(strings.TrimRight("> "+line, " ") + "\n")
		}
	}
	var others []string
	for _, idea := range r.State.Convergence.Ideas {
		if !strings.HasPrefix(r.Conclusion, idea.Idea+":") && len(others) < mostOthers {
			others = append(others, fmt.Sprintf("%s (%d of %d)", idea.Idea, len(idea.Supporters), r.Active))
		}
	}
	if len(others) > 0 {
		b.WriteString("\nOther ideas: " + strings.Join(others, ", ") + ".\n")
	}
	return strings.TrimSpace(b.String())
}

// mostOthers is how many ideas Answer lists beside the conclusion.
const mostOthers = 8

// words say how the swarm ended.
func (r *Report) words() string {
	swarm, after := fmt.Sprintf("swarm %s of %s", r.Swarm, visible.Counted(r.Agents, "agent")), "after "+visible.Counted(r.Rounds, "round")
	support := "no agent found an idea"
	if ideas := r.State.Convergence.Ideas; len(ideas) > 0 {
		support = fmt.Sprintf("%d of %d active agents support %s", len(ideas[0].Supporters), r.Active, ideas[0].Idea)
	}
	switch r.Ended {
	case "":
		return fmt.Sprintf("%s is running; %s", swarm, support)
	case Proved:
		p := r.Proof
		return fmt.Sprintf("%s found a solution %s that passes the acceptance criteria: commit %.12s of %s", swarm, after, p.Commit, DisplayName(p.Agent))
	case Converged:
		return fmt.Sprintf("%s converged %s: %s", swarm, after, support)
	}
	return fmt.Sprintf("%s ended without a consensus %s (%s): %s", swarm, after, r.Ended, support)
}

func (r *Report) convergence(b *strings.Builder) {
	s, c := r.State, r.State.Convergence
	b.WriteString("\n## Convergence\n\n")
	for _, row := range []struct {
		name  string
		share float64
		ok    bool
		text  string
	}{
		{"stability", float64(c.StableRounds) / float64(max(1, s.Config.Beta)), c.Stable, fmt.Sprintf("%d/%d", c.StableRounds, s.Config.Beta)},
		{"quorum", float64(c.Share), c.Quorum, c.Share.Percent()},
		{"diversity", float64(c.Diversity), float64(c.Diversity) >= s.Config.Diversity, c.Diversity.Percent()},
	} {
		mark := "no"
		if row.ok {
			mark = "yes"
		}
		fmt.Fprintf(b, "%-10s %s %-3s %s\n", row.name, Bar(row.share), mark, row.text)
	}
	fmt.Fprintf(b, "\nDiversity is the mean of perspectives %s (mark: %.0f %%), ideas %s (%.0f %%) and concentrations %s (%.0f %%).\n",
		c.Coverage.Percent(), 100*markCoverage, c.Orthogonality.Percent(), 100*markOrthogonality, c.Entropy.Percent(), 100*markEntropy)
}

// Percent formats a share for people.
func (f Figure) Percent() string { return fmt.Sprintf("%.0f %%", 100*float64(f)) }

func (r *Report) ideas(b *strings.Builder) {
	fmt.Fprintf(b, "\n## Consensus ideas (%d supporters are a quorum)\n\n", r.State.Convergence.Needed)
	for i, idea := range r.Consensus {
		fmt.Fprintf(b, "%d. %s: %d of %d, %s, concentration %.2f\n", i+1, idea.Idea, len(idea.Supporters), r.Active, idea.Share.Percent(), idea.Concentration)
	}
	if len(r.Consensus) == 0 {
		b.WriteString("None.\n")
	}
	b.WriteString("\n## Unique ideas\n\n")
	for _, idea := range r.Unique {
		fmt.Fprintf(b, "- %s (%s)\n", idea.Idea, DisplayName(idea.Supporters[0]))
	}
	if len(r.Unique) == 0 {
		b.WriteString("None.\n")
	}
}

func (r *Report) agents(b *strings.Builder) {
	b.WriteString("\n## Agents\n\n| agent | role | state | rounds | findings | deposits |\n|---|---|---|---|---|---|\n")
	for _, a := range r.State.Agents {
		fmt.Fprintf(b, "| %s | %s | %s | %d | %d | %d |\n", DisplayName(a.Name), title(a.Role), a.Status, a.Rounds, a.Found, a.Deposits)
	}
}

func (r *Report) roles(b *strings.Builder) {
	b.WriteString("\n## Roles by round\n\n")
	fmt.Fprintf(b, "T0: %s × %d\n", title(Explorer), r.Agents)
	for _, count := range r.State.Roles {
		var some []string
		for _, role := range []string{Explorer, DeepAnalyst, Debater, Synthesizer} {
			if n := count.Agents[role]; n > 0 {
				some = append(some, fmt.Sprintf("%s × %d", title(role), n))
			}
		}
		fmt.Fprintf(b, "T%d: %s\n", count.Round, strings.Join(some, ", "))
	}
}

func (r *Report) directions(b *strings.Builder) {
	b.WriteString("\n## Concentrations\n\n")
	for _, d := range r.State.Directions {
		fmt.Fprintf(b, "%s %.2f %s\n", Bar(float64(d.Concentration)), d.Concentration, d.Name)
	}
	if len(r.State.Directions) == 0 {
		b.WriteString("None.\n")
	}
}

// solutions lists the results of the acceptance criteria: for each solution that passed, and
// for the newest one of each other agent.
func (r *Report) solutions(b *strings.Builder) {
	var lines []string
	seen := map[string]bool{}
	for _, v := range slices.Backward(r.State.Verdicts) {
		if seen[v.Agent] && !v.Passed {
			continue
		}
		seen[v.Agent] = true
		lines = append(lines, fmt.Sprintf("- %s, branch %s (%.12s): %s\n", DisplayName(v.Agent), v.Branch, v.Commit, v.said()))
	}
	if len(lines) > 0 {
		slices.Reverse(lines)
		b.WriteString("\n## Solutions\n\n" + strings.Join(lines, ""))
	}
}

// SVG draws the convergence and the concentrations as bars.
func (r *Report) SVG() string {
	c := r.State.Convergence
	type bar struct {
		name  string
		share float64
		limit float64 // 0 for none
	}
	s := r.State
	bars := []bar{
		{"stability", float64(c.StableRounds) / float64(max(1, s.Config.Beta)), 1},
		{"quorum", float64(c.Share), float64(s.Config.Quorum.Over) / float64(max(1, s.Config.Quorum.Under))},
		{"diversity", float64(c.Diversity), s.Config.Diversity},
	}
	for _, d := range s.Directions {
		bars = append(bars, bar{d.Name, float64(d.Concentration), 0})
	}
	var b strings.Builder
	height := 40 + 24*len(bars)
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="640" height="%d" font-family="sans-serif" font-size="13"><title>swarm %s</title>`, height, escaped(r.Swarm))
	fmt.Fprintf(&b, "<rect width=\"640\" height=\"%d\" fill=\"#fff\"/><text x=\"10\" y=\"22\" font-weight=\"bold\">%s</text>\n", height, escaped(visible.Clipped(r.Task, 70)))
	for i, one := range bars {
		y := 40 + 24*i
		fmt.Fprintf(&b, `<text x="10" y="%d">%s</text><rect x="250" y="%d" width="320" height="14" fill="#e6e6e6"/><rect x="250" y="%d" width="%.1f" height="14" fill="#1f6f8b"/>`,
			y+12, escaped(visible.Clipped(one.name, 34)), y, y, 320*min(1, one.share))
		if one.limit > 0 {
			fmt.Fprintf(&b, `<rect x="%.1f" y="%d" width="2" height="18" fill="#b3261e"/>`, 249+320*min(1, one.limit), y-2)
		}
		fmt.Fprintf(&b, "<text x=\"580\" y=\"%d\">%.2f</text>\n", y+12, one.share)
	}
	return b.String() + "</svg>\n"
}

// Text formats what the blackboard has for readers: in prompts and in stig swarm status.
func (s *State) Text() string {
	var b strings.Builder
	section := func(title string, rows []string) {
		if len(rows) > 0 {
			b.WriteString("\n" + title + "\n  " + strings.Join(rows, "\n  ") + "\n")
		}
	}
	c := s.Convergence
	fmt.Fprintf(&b, "stable %d/%d, %d of %d active are a quorum, diversity %s\n", c.StableRounds, s.Config.Beta, c.Needed, c.Active, c.Diversity.Percent())
	section("Directions", rows(s.Directions, func(d *Direction) string {
		return fmt.Sprintf("%s %.2f %s (%s)", Bar(float64(d.Concentration)), d.Concentration, d.Name, orNobody(d.Depositors))
	}))
	section("Stop signals", rows(s.Signals, func(g Signal) string {
		return fmt.Sprintf("%s: %s, %s: %s", g.Target, g.From, g.Reason, visible.OneLine(g.Evidence))
	}))
	section("Ideas", rows(c.Ideas, func(i Idea) string {
		return fmt.Sprintf("%s: %d of %d (%s), concentration %.2f", i.Idea, len(i.Supporters), c.Active, orNobody(i.Supporters), i.Concentration)
	}))
	section("Findings, of each agent the newest", rows(s.currentFindings(), (*Finding).line))
	section("Solutions that the acceptance criteria ran on", rows(s.Verdicts, func(v Verdict) string {
		return fmt.Sprintf("%s, branch %s: %s", v.Agent, v.Branch, v.said())
	}))
	section("Probed", rows(s.Claims, func(c *Claim) string { return fmt.Sprintf("%s (%s)", c.Subtask, orNobody(c.Agents)) }))
	section("Agents", rows(s.Agents, func(a *Agent) string {
		return fmt.Sprintf("%s: %s, %s, %s", a.Name, a.Role, a.Status, visible.Counted(a.Found, "finding"))
	}))
	section("Warnings", rows(s.Warnings, Warned.String))
	return visible.Text(b.String())
}

func rows[T any](list []T, row func(T) string) (lines []string) {
	for _, one := range list {
		lines = append(lines, row(one))
	}
	return lines
}

func (f *Finding) line() string {
	text := fmt.Sprintf("%s, round %d, %s (%s): %s", f.Agent, f.Round, f.Idea, f.Direction, visible.OneLine(f.Details))
	for _, more := range []struct{ name, value string }{{"perspective", f.Perspective}, {"agrees with", strings.Join(f.AgreesWith, ", ")}, {"branch", f.Branch}} {
		if more.value != "" {
			text += "; " + more.name + " " + more.value
		}
	}
	return text
}

// Text formats the hosted state of an agent for its prompt.
func (a *Agent) Text() string {
	text := fmt.Sprintf("Your role is %s. Your response threshold is %.2f, your random exploration %.2f.\nSo far: %s, %s, %s.\n",
		a.Role, a.Threshold, a.Random, visible.Counted(a.Rounds, "round"), visible.Counted(a.Found, "finding"), visible.Counted(a.Deposits, "deposit"))
	for _, kept := range []struct{ name, value string }{{"Exploring", a.Exploring}, {"Claimed", a.Claimed}, {"Your note", a.Note}} {
		if kept.value != "" {
			text += kept.name + ": " + visible.Text(kept.value) + "\n"
		}
	}
	return text
}

// String formats a warning with its figures and suggestions.
func (w Warned) String() string {
	var figures []string
	for _, f := range []struct{ key, format string }{{"diversity", "%.2f"}, {"least", "below %.2f"}, {"rounds", "%.0f rounds without change"}} {
		if value, ok := w.Figures[f.key]; ok {
			figures = append(figures, fmt.Sprintf(f.format, value))
		}
	}
	return w.Kind + ": " + strings.Join(figures, ", ") + "; " + strings.Join(w.Suggestions, ", ")
}

func orNobody(names []string) string { return cmp.Or(strings.Join(names, ", "), "nobody") }

// said is how the criteria ended.
func (v Verdict) said() string {
	if v.Passed {
		return "passed"
	}
	return cmp.Or(v.Why, "did not pass")
}

func escaped(text string) string {
	text = strings.Map(func(r rune) rune {
		if r < ' ' || slices.Contains([]rune{0x7f, 0xfffe, 0xffff}, r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "?"))
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;").Replace(text)
}

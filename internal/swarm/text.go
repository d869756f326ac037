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
	section := func(title string, lines []string) {
		b.WriteString("\n## " + title + "\n\n" + cmp.Or(strings.Join(lines, "\n"), "None.") + "\n")
	}
	c := r.State.Convergence
	section("Convergence", append(rows(r.measures(), measure.line), fmt.Sprintf(
		"\nDiversity is the mean of perspectives %s (mark: %.0f %%), ideas %s (%.0f %%) and concentrations %s (%.0f %%).",
		c.Coverage.Percent(), 100*markCoverage, c.Orthogonality.Percent(), 100*markOrthogonality, c.Entropy.Percent(), 100*markEntropy)))
	number := 0
	section(fmt.Sprintf("Consensus ideas (%d supporters are a quorum)", c.Needed), rows(r.Consensus, func(i Idea) string {
		number++
		return fmt.Sprintf("%d. %s: %d of %d, %s, concentration %.2f", number, i.Idea, len(i.Supporters), r.Active, i.Share.Percent(), i.Concentration)
	}))
	section("Unique ideas", rows(r.Unique, func(i Idea) string { return fmt.Sprintf("- %s (%s)", i.Idea, DisplayName(i.Supporters[0])) }))
	section("Agents", append([]string{"| agent | role | state | rounds | findings | deposits |\n|---|---|---|---|---|---|"}, rows(r.State.Agents, func(a *Agent) string {
		return fmt.Sprintf("| %s | %s | %s | %d | %d | %d |", DisplayName(a.Name), title(a.Role), a.Status, a.Rounds, a.Found, a.Deposits)
	})...))
	section("Roles by round", append([]string{fmt.Sprintf("T0: %s × %d", title(Explorer), r.Agents)}, rows(r.State.Roles, RoleCount.line)...))
	section("Concentrations", rows(r.State.Directions, (*Direction).line))
	if len(r.State.Verdicts) > 0 {
		section("Solutions", rows(r.State.solutions(), func(v Verdict) string {
			return fmt.Sprintf("- %s, branch %s (%.12s): %s", DisplayName(v.Agent), v.Branch, v.Commit, v.said())
		}))
	}
	section("Conclusion", []string{r.Answer()})
	return b.String()
}

// measure is a part of the convergence that is drawn as a bar.
type measure struct {
	name  string
	share float64
	limit float64 // 0 for none
	ok    bool
	text  string
}

func (r *Report) measures() []measure {
	c, config := r.State.Convergence, r.State.Config
	return []measure{
		{"stability", float64(c.StableRounds) / float64(max(1, config.Beta)), 1, c.Stable, fmt.Sprintf("%d/%d", c.StableRounds, config.Beta)},
		{"quorum", float64(c.Share), float64(config.Quorum.Over) / float64(max(1, config.Quorum.Under)), c.Quorum, c.Share.Percent()},
		{"diversity", float64(c.Diversity), config.Diversity, float64(c.Diversity) >= config.Diversity, c.Diversity.Percent()},
	}
}

func (m measure) line() string {
	return fmt.Sprintf("%-10s %s %-3s %s", m.name, Bar(m.share), map[bool]string{true: "yes", false: "no"}[m.ok], m.text)
}

// Percent formats a share for people.
func (f Figure) Percent() string { return fmt.Sprintf("%.0f %%", 100*float64(f)) }

func (d *Direction) line() string {
	return fmt.Sprintf("%s %.2f %s", Bar(float64(d.Concentration)), d.Concentration, d.Name)
}

func (c RoleCount) line() string {
	var some []string
	for _, role := range []string{Explorer, DeepAnalyst, Debater, Synthesizer} {
		if n := c.Agents[role]; n > 0 {
			some = append(some, fmt.Sprintf("%s × %d", title(role), n))
		}
	}
	return fmt.Sprintf("T%d: %s", c.Round, strings.Join(some, ", "))
}

// solutions are the verdicts to show: those that passed, and the newest of each other agent.
func (s *State) solutions() (list []Verdict) {
	seen := map[string]bool{}
	for _, v := range slices.Backward(s.Verdicts) {
		if v.Passed || !seen[v.Agent] {
			list = append(list, v)
		}
		seen[v.Agent] = true
	}
	slices.Reverse(list)
	return list
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

// SVG draws the convergence and the concentrations as bars.
func (r *Report) SVG() string {
	bars := r.measures()
	for _, d := range r.State.Directions {
		bars = append(bars, measure{name: d.Name, share: float64(d.Concentration)})
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
	section("Directions", rows(s.Directions, func(d *Direction) string { return d.line() + " (" + orNobody(d.Depositors) + ")" }))
	section("Stop signals", rows(s.Signals, func(g Signal) string {
		return fmt.Sprintf("%s: %s, %s: %s", g.Target, g.From, g.Reason, visible.OneLine(g.Evidence))
	}))
	section("Ideas", rows(c.Ideas, func(i Idea) string {
		return fmt.Sprintf("%s: %d of %d (%s), concentration %.2f", i.Idea, len(i.Supporters), c.Active, orNobody(i.Supporters), i.Concentration)
	}))
	section("Findings, of each agent the newest", rows(s.currentFindings(), (*Finding).line))
	section("Solutions that the acceptance criteria ran on", rows(s.solutions(), func(v Verdict) string { return fmt.Sprintf("%s, branch %s: %s", v.Agent, v.Branch, v.said()) }))
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

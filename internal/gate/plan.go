package gate

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"stig/notes"
)

// shellInfos are the first words of info strings that mark a fence as shell to run,
// consoleInfos those for prompts and output.
var (
	shellInfos   = []string{"verify", "bash", "sh", "shell", "zsh"}
	consoleInfos = []string{"console", "shell-session", "shellsession"}
)

// prompt precedes typed commands in a block that also shows output.
const prompt = "$ "

// maxCode limits how many pieces of code and prose of a text are read.
const maxCode = 128

// Plan lists the code in criteria, and the prose that reads like a command, in order: each with
// its class, and the reason if it does not run. It runs nothing, looks at nothing but the text,
// and never returns nil.
//
// A fence is one check if its info string says shell; with a console info string its prompt
// lines are the check; without an info string it is one if every command in it looks like a
// command. Inline code is a check if it looks like a command and the text asks for it: it is a
// whole item, alone or after "run" or similar; a claim is next to it ("X passes", "builds with
// X", "X prints 3"); or it ends a clause after a colon. words.txt and programs.txt have the
// words for all of this. Prose is never run.
func Plan(text string) []Check {
	text = unwrapped(text)
	if why := notes.Tangled(text); why != "" {
		return []Check{unread(1, "not read: "+why)}
	}
	if !strings.Contains(text, "`") && !strings.Contains(text, "~~~") && !namesProgram(text) {
		return []Check{}
	}
	p := planner{checks: []Check{}}
	for _, leaf := range notes.Leaves(text) {
		if leaf.Kind == notes.CodeBlock {
			p.add(fence(leaf.Pieces[0]))
		} else {
			p.leaf(leaf)
		}
		p.above = leaf
	}
	return p.checks
}

// planner makes the plan of a text.
type planner struct {
	checks []Check
	code   int // how many pieces of code there were
	prose  int // and of prose that reads like commands
	above  notes.Leaf
}

func (p *planner) add(check Check) {
	if p.code++; p.code == maxCode+1 {
		check = unread(check.Line, fmt.Sprintf("not read: more than %d pieces of code stand before it", maxCode))
	}
	if p.code <= maxCode+1 {
		p.checks = append(p.checks, check)
	}
}

// leaf plans a paragraph, an item or a heading.
func (p *planner) leaf(leaf notes.Leaf) {
	var in passage
	hasCode := slices.ContainsFunc(leaf.Pieces, func(piece notes.Piece) bool { return piece.Code })
	if hasCode && p.code <= maxCode {
		in = passage{tokens: tokens(leaf), heading: leaf.Kind == notes.HeadingBlock}
		if p.above.Kind == notes.ParagraphBlock {
			in.intro = introduction(p.above)
		}
	}
	at := 0
	for i, piece := range leaf.Pieces {
		if !piece.Code {
			p.addProse(piece)
			continue
		}
		for at < len(in.tokens) && (in.tokens[at].kind != code || in.tokens[at].code != i) {
			at++
		}
		check := Check{Text: strings.TrimPrefix(strings.TrimSpace(piece.Text), prompt), Origin: Span, Line: piece.Line}
		if p.code < maxCode {
			near, at := in.near(at)
			near.judge(&check, at)
		}
		if last := len(p.checks) - 1; last >= 0 && check.Class == Mention && check.Text == p.checks[last].Expect.Text {
			check.Reason = "compared with the output of " + p.checks[last].Text
		}
		p.add(check)
	}
}

// near is what stands around a token, so much as sentences have, and where the token is in it.
func (p passage) near(at int) (passage, int) {
	const reach = 100 // tokens
	from := max(0, at-reach)
	p.tokens = p.tokens[from:min(len(p.tokens), at+reach)]
	return p, at - from
}

// introduction is the last line of a paragraph that ends with a colon.
func introduction(above notes.Leaf) []token {
	last := above.Pieces[len(above.Pieces)-1]
	if line := strings.TrimRight(last.Text, " \n*_"); !last.Code && strings.HasSuffix(line, ":") {
		return lineTokens(line[strings.LastIndexByte(line, '\n')+1:])
	}
	return nil
}

func (p *planner) addProse(piece notes.Piece) {
	if !namesProgram(piece.Text) {
		return
	}
	line := piece.Line
	for text := range strings.Lines(piece.Text) {
		for _, command := range proseCommands(text) {
			if p.prose++; p.prose <= maxCode {
				p.checks = append(p.checks, Check{
					Text: command, Instead: command, Origin: Prose, Class: Manual, Line: line,
					Reason: "prose is never run: put the command into a fence marked verify",
				})
			}
		}
		line++
	}
}

// unread is what stands for a text that is beyond a bound: nothing passes until somebody has
// read it.
func unread(line int, why string) Check {
	return Check{Text: "…", Origin: Prose, Class: Refused, Broken: true, Line: line, Reason: why}
}

// unwrapped is a text as it was meant: without the colours of a terminal, and with
// backticks where a shell or a string of another language had them escaped.
func unwrapped(text string) string {
	return strings.ReplaceAll(uncoloured(text), "\\`", "`")
}

// fence plans a fenced block.
func fence(block notes.Piece) Check {
	info, _, _ := strings.Cut(strings.ToLower(block.Info), " ")
	check := Check{Text: block.Text, Origin: Fence, Line: block.Line, Verify: info == "verify", Held: isHeld(block.Info), Class: Mention}
	console := slices.Contains(consoleInfos, info)
	marked := console || slices.Contains(shellInfos, info)
	if info != "" && !marked {
		check.Reason = fmt.Sprintf("info string %q is not one of a shell: %s", info, strings.Join(slices.Concat(shellInfos, consoleInfos), ", "))
		return check
	}
	if console || strings.HasPrefix(block.Text, prompt) {
		if check.Text = prompted(block.Text); check.Text == "" {
			check.Text, check.Reason = block.Text, fmt.Sprintf("no line begins with the prompt %q", prompt)
			return check
		}
	}
	s, err := parse(check.Text)
	switch {
	case err != nil && (marked || errors.Is(err, errBound)):
		check.refuse(err)
	case err != nil:
		check.Reason = err.Error()
	case len(s.commands) == 0 && !s.compares:
		check.Reason = "it contains no command"
	case !marked && s.noCommand(reading{}) != "":
		check.Reason = "no info string, and " + s.noCommand(reading{})
	default:
		check.settle(s, claim{})
	}
	return check
}

// isHeld reports whether an info string says that a fence is green before the work too.
func isHeld(info string) bool {
	words := strings.Fields(strings.ToLower(info))
	return len(words) > 1 && words[0] == "verify" && words[1] == "held"
}

// refuse is for what is meant to be run and cannot be read.
func (c *Check) refuse(err error) {
	c.Class, c.Reason, c.Broken, c.Verify = Refused, err.Error(), true, false
}

// judge plans inline code, which stands at a token.
func (p passage) judge(check *Check, at int) {
	check.Class = Mention
	s, err := parse(check.Text)
	if err != nil {
		if check.Reason = err.Error(); errors.Is(err, errBound) {
			check.refuse(err)
		}
		return
	}
	said := p.saying(at)
	if check.Reason = s.noCommand(reading{said.told, said.run, said.why == ""}); check.Reason == "" {
		check.Reason = said.why
	}
	if check.Reason == "" {
		check.settle(s, said.claim)
	}
}

// settle gives a command that the text asks for its class.
func (c *Check) settle(s *script, said claim) {
	expect, why := s.result(said, c.Origin == Fence)
	if found := s.serves(); found != "" && !c.Verify {
		why = "it runs until it is stopped: " + found
	}
	switch what := s.destroys(); {
	case why != "":
		c.Class, c.Reason = Manual, why
		if why == outputDecides {
			c.Instead = c.Text + " | grep -q TEXT"
		}
	case what != "":
		c.Class, c.Reason = Refused, what
	default:
		c.Class, c.Expect, c.CannotFail = Runnable, expect, s.cannotFail()
	}
}

// result says which result passes a command, or why a person has to read it.
func (s *script) result(said claim, fence bool) (e Expect, why string) {
	if fence || said.manual != "" {
		return e, said.manual
	}
	e = said.expect
	negated := s.file.Stmts[len(s.file.Stmts)-1].Negated
	none := e.How == Equals && e.Text == "" || e.How != "" && e.Text == "0" || said.zero
	tests := s.compares || len(s.last()) > 0 && (s.last()[0] == "test" || s.last()[0] == "[")
	switch {
	case negated, tests && e.Text == "true":
		return Expect{}, ""
	case tests && e.Text == "false":
		return Expect{Exit: "1"}, ""
	case s.counts() && said.zero:
		e = Expect{How: Equals, Text: "0"}
		fallthrough
	case s.counts():
		if said.counts {
			e.How = Equals
		}
		if none && s.searches() {
			e.Exit = "1" // of the search, which finds nothing
		}
	case s.searches() && (said.zero || said.absent && e == Expect{}):
		return e, "a search that finds nothing fails: write it as ! COMMAND in a fence marked verify"
	case s.searches() && none && said.counts:
		return Expect{Exit: "1"}, ""
	case s.reports() && e.How == "":
		if said.found && s.silentWhenClean() {
			return Expect{How: Equals}, ""
		}
		return e, outputDecides
	}
	return e, ""
}

// searches reports whether a script searches, and ends with 1 where it finds nothing.
func (s *script) searches() bool {
	return slices.ContainsFunc(s.commands, func(words []string) bool {
		return listed("patterns", words[0]) || words[0] == "git" && len(words) > 1 && words[1] == "grep"
	})
}

// counts reports whether what a script prints is a number.
func (s *script) counts() bool {
	last := s.last()
	return len(last) > 0 && (last[0] == "wc" || listed("patterns", last[0]) && (slices.Contains(last, "-c") || slices.Contains(last, "--count")))
}

// reports reports whether the last command of a script only shows something: it ends with 0
// whatever that is.
func (s *script) reports() bool {
	last := s.last()
	if len(last) == 0 {
		return false
	}
	if last[0] != "git" || len(last) < 2 {
		return listed("reporters", last[0])
	}
	if last[1] == "diff" {
		return !slices.Contains(last, "--exit-code") && !slices.Contains(last, "--quiet") && !slices.Contains(last, "--check")
	}
	return listed("reporters", "git "+last[1])
}

// silentWhenClean reports whether the last command prints nothing of a work tree
// without changes.
func (s *script) silentWhenClean() bool {
	return slices.ContainsFunc(s.last(), func(w string) bool { return slices.Contains([]string{"diff", "--porcelain", "--short", "-s"}, w) })
}

// prompted is the script that is typed after the prompts of a console. A
// command that is not complete goes on with the lines below it.
func prompted(console string) string {
	var commands []string
	open := false
	for line := range strings.SplitSeq(console, "\n") {
		typed, begins := strings.CutPrefix(strings.TrimLeft(line, " "), prompt)
		switch {
		case begins:
			commands = append(commands, typed)
		case open:
			last := len(commands) - 1
			commands[last] += "\n" + strings.TrimPrefix(line, "> ")
		default:
			continue
		}
		open = IsIncomplete(commands[len(commands)-1])
	}
	return strings.Join(commands, "\n")
}

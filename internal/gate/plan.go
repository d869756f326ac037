package gate

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"stig/notes"
)

// shellInfos are the first words of the info strings that mark a fence as
// shell to run, consoleInfos those of one that shows prompts and output.
var (
	shellInfos   = []string{"verify", "bash", "sh", "shell", "zsh"}
	consoleInfos = []string{"console", "shell-session", "shellsession"}
)

// prompt stands before what is typed in a block that shows output too.
const prompt = "$ "

// Plan lists the code in criteria, and the prose that reads like a command,
// in the order of the text: each with its class, and the reason where it is
// not run. It runs nothing, and it is never nil.
//
// A fence is one check: where it shows prompts, what is typed behind them. It
// counts when it parses and its info string is that of a shell; without any when
// also its first command resolves, it is neither English nor another language, and
// the line above does not call it output. Inline code counts
// when it parses as shell, has two words or is a ./path, holds no placeholder,
// every first word in it resolves or is a script that is gone, it is neither
// English nor another language, and the text asks for it. Prose never does.
//
// The text asks for code with which its clause begins and of which it says
// something or nothing ("X passes", "- X"); before which it asks ("run X",
// "verified with X"); or to which a claim leads by a colon, a bracket, a dash or
// a means ("all pass: X", "builds with X"). Nothing asks for what is not to be
// run, is expected to fail, or is said to exist. In doubt it is not a command.
func Plan(text string) []Check {
	var look lookup
	type placed struct {
		Check
		at int
	}
	text = unwrapped(text)
	if why := notes.Tangled(text); why != "" {
		return []Check{unread(1, "not read: "+why)}
	}
	var found []placed
	optioned := sync.OnceValue(func() string { return strings.Join(withOption().FindAllString(text, -1), " ") })
	for i, code := range codeIn(text) {
		if i == maxCode {
			found = append(found, placed{unread(code.Line, fmt.Sprintf("not read: more than %d pieces of code stand before it", maxCode)), code.Start})
			break
		}
		check := Check{Text: code.Text, Line: code.Line}
		if code.Inline {
			check.Origin = Span
			check.Text = strings.TrimPrefix(strings.TrimSpace(code.Text), prompt)
			start, end := backticks(text, code)
			near := sync.OnceValue(func() surroundings { return around(text, start, end) })
			judgeSpan(&check, near, optioned, look)
		} else {
			check = judgeFence(code, lineAbove(text[:code.Start]), look)
		}
		found = append(found, placed{check, code.Start})
	}
	prose := 0
	for _, line := range proseIn(text) {
		for _, words := range proseCommands(line.Text) {
			if prose++; prose > maxCode {
				break // nothing of it is run
			}
			found = append(found, placed{Check{
				Text: words, Instead: words, Origin: Prose, Class: Manual, Line: line.Line,
				Reason: "prose is never run: put the command into a fence marked verify",
			}, line.Start})
		}
	}
	slices.SortStableFunc(found, func(a, b placed) int { return cmp.Compare(a.at, b.at) })
	checks := make([]Check, len(found))
	for i, f := range found {
		if i > 0 && f.Origin == Span && f.Class == Mention && f.Text == checks[i-1].Expect.Text {
			f.Class, f.Reason = Mention, "compared with the output of "+checks[i-1].Text
		}
		checks[i] = f.Check
	}
	return checks
}

// maxCode is how many pieces of code a text may have that is read, and of prose.
const maxCode = 128

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

// codeIn finds the code of a text; all of it stands between backticks or tildes,
// of which most texts have none.
func codeIn(text string) []notes.Code {
	if !strings.Contains(text, "`") && !strings.Contains(text, "~~~") {
		return nil
	}
	return notes.FindCode(text)
}

// proseIn finds the prose of a text that may hold a command.
func proseIn(text string) []notes.Line {
	if !namesProgram(text) {
		return nil
	}
	return notes.Prose(text)
}

// withOption finds the program of inline code that begins with an option behind it.
var withOption = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("`[a-z][a-z0-9-]+ --?[a-z]") })

// backticks is the place of inline code with its backticks.
func backticks(text string, code notes.Code) (start, end int) {
	start = strings.LastIndexByte(text[:code.Start], '`') + 1
	start = len(strings.TrimRight(text[:start], "`"))
	end = code.End + max(0, strings.IndexByte(text[code.End:], '`'))
	return start, len(text) - len(strings.TrimLeft(text[end:], "`"))
}

// judgeFence applies the rules for blocks. above is the line that leads to it.
func judgeFence(code notes.Code, above string, look lookup) Check {
	info, _, _ := strings.Cut(strings.ToLower(code.Info), " ")
	check := Check{Text: code.Text, Origin: Fence, Line: code.Line, Verify: info == "verify"}
	skip := func(format string, args ...any) Check {
		check.Class, check.Reason = Mention, fmt.Sprintf(format, args...)
		return check
	}
	console := slices.Contains(consoleInfos, info)
	marked := console || slices.Contains(shellInfos, info)
	if info != "" && !marked {
		return skip("info string %q is not one of a shell: %s", info, strings.Join(slices.Concat(shellInfos, consoleInfos), ", "))
	}
	if console || strings.HasPrefix(code.Text, prompt) {
		check.Text = prompted(code.Text)
		if check.Text == "" {
			check.Text = code.Text
			return skip("no line begins with the prompt %q", prompt)
		}
	}
	s, err := parse(check.Text)
	if err != nil {
		if check.Broken = marked || errors.Is(err, errBound); check.Broken {
			check.Class, check.Reason, check.Verify = Refused, syntaxReason(err), false
			return check
		}
		return skip("%s", syntaxReason(err))
	}
	if len(s.commands) == 0 && !s.checks {
		return skip("holds no command")
	}
	if !marked {
		if why := s.unlikely(above, look); why != "" {
			return skip("no info string, and %s", why)
		}
	}
	if found := toFill().FindString(check.Text); found != "" && !check.Verify {
		return skip("placeholder %s", citing(found))
	}
	if found := s.serves(); found != "" && !check.Verify {
		return skip("runs until it is stopped: %s", found)
	}
	if check.Class, check.Reason = s.class(); check.Class == Runnable {
		check.CannotFail = s.cannotFail()
	}
	return check
}

// toFill finds a path in a block that a person is meant to fill in.
var toFill = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`/?\bpath/to/`) })

// unlikely says why a block that no info string marks as shell may be something
// else; "" when it is taken for shell.
func (s *script) unlikely(above string, look lookup) string {
	if first := (&script{commands: s.commands[:min(1, len(s.commands))], functions: s.functions}); len(first.commands) == 1 {
		if _, unknown, resolved := first.resolve(look); !resolved {
			return fmt.Sprintf("%q is no program here", unknown)
		}
	}
	if telling := phrases().telling().FindStringSubmatch(above); telling != nil {
		return "listed under " + citing(telling[1])
	}
	return s.doubt(func() bool { return false })
}

// lineAbove is the last line before the one with which a block opens, other
// than blank ones.
func lineAbove(text string) string {
	text = strings.TrimRight(text, "\n")
	return lastLine(text[:max(0, strings.LastIndexByte(text, '\n'))])
}

func lastLine(text string) string {
	text = strings.TrimRight(text, " \t\n")
	return text[strings.LastIndexByte(text, '\n')+1:]
}

// class tells how a script that is to run would fare.
func (s *script) class() (class, reason string) {
	if what := s.destroys(); what != "" {
		return Refused, what
	}
	return Runnable, ""
}

// judgeSpan applies the rules for inline code, and gives the check its class. near
// reads the text around it: most code is no command, and is told without. optioned
// holds what begins other code of the text, up to an option.
func judgeSpan(check *Check, near func() surroundings, optioned func() string, look lookup) {
	check.Class = Mention
	s, err := parse(check.Text)
	if err != nil {
		if check.Broken = errors.Is(err, errBound); check.Broken {
			check.Class = Refused
		}
		if check.Reason = syntaxReason(err); inWord(check.Text) != "" {
			check.Reason = "placeholder " + citing(inWord(check.Text))
		}
		return
	}
	s.program = s.words == 1 && len(s.commands) == 1 && strings.Contains(optioned(), "`"+s.commands[0][0]+" ")
	missing, why := s.command(near, look)
	if why == "" {
		why = s.doubt(func() bool {
			return near().asks() || missing != "" && near().says() && !(wellKnown(missing) && near().being())
		})
	}
	if nowhere := missing != "" && !wellKnown(missing); why == "" && !(nowhere && near().needs()) {
		why = near().mention(s.searches())
	}
	if why == "" {
		why = s.unending(near(), missing)
	}
	if why != "" {
		check.Reason = why
		return
	}
	if what := s.destroys(); what != "" {
		check.Class, check.Reason = Refused, what
		return
	}
	s.result(check, near())
}

// command resolves the programs of inline code. missing is the first that is meant
// to be run and is not here; why says that it is no command.
func (s *script) command(near func() surroundings, look lookup) (missing, why string) {
	path := len(s.commands) == 1 && strings.HasPrefix(s.commands[0][0], "./")
	if s.words < 2 && !path && !(s.own(look) && near().asksWord()) && !near().binary() && !s.named(near()) {
		return "", "one word, and not a ./path or a known program that the text asks for"
	}
	if found := s.placeholder(look); strings.HasPrefix(found, "$") {
		return "", found + " is not set and has no default"
	} else if found != "" {
		return "", "placeholder " + citing(found)
	}
	missing, unknown, resolved := s.resolve(look)
	switch {
	case resolved:
		return missing, ""
	case s.absent(look) && (s.words > 1 || s.redirects || near().asks()):
		return unknown, "" // a script that is gone must not take its check with it
	case s.likely(look) && near().claims(), s.words == 1 && (near().binary() || s.named(near())):
		return unknown, ""
	}
	return "", citing(unknown) + " is no program here"
}

// named reports whether a script is one word that other code shows to be a program,
// and the text asks for it or says what it shows.
func (s *script) named(near surroundings) bool {
	return s.program && (near.asksWord() || near.shows())
}

// unending says why a command would not end by itself, or "". Of a program that
// nobody knows and that is not here, what the text says of starting something
// does not tell.
func (s *script) unending(near surroundings, missing string) string {
	if found := s.serves(); found != "" {
		return "runs until it is stopped: " + found
	}
	if found := phrases().serving().FindString(near.said); found != "" && (missing == "" || wellKnown(missing)) {
		return "it is to go on: " + citing(found)
	}
	return ""
}

// result says of a command that would run what its result is: its exit code or
// its output.
func (s *script) result(check *Check, near surroundings) {
	told := judgement{}
	if !s.tests() {
		told = near.judged(s.counting(), s.searches())
	} else if found := results().untrue.FindString(near.said); found != "" {
		check.Reason = "expected to fail: " + citing(found)
		return
	}
	if s.reports() && results().clean.MatchString(near.said) {
		told = judgement{open: !s.silentWhenClean(), expect: Expect{How: Equals}}
	}
	if told.open || s.reports() && told.expect.How == "" && !near.succeeds() {
		check.Class = Manual
		check.Instead = check.Text + " | grep -q TEXT"
		check.Reason = "judged by its output: write it as COMMAND | grep -q TEXT in a fence marked verify"
		return
	}
	check.Class, check.Expect, check.CannotFail = Runnable, told.expect, s.cannotFail()
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

// lookup reports whether a word names a program; nil knows nothing.
type lookup func(word string) bool

func (l lookup) finds(word string) bool { return l != nil && l(word) }

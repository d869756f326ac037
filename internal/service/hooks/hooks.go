// Package hooks provides the services that answer the hooks of assistants: the briefing at the
// start of a session, reminders, and which command lines are denied because they would bypass
// the gate or overwrite the store.
//
// It does not know how a host encodes events and replies: package assistant does.
//
//	hook, err := hooks.ParseHook("stop", "claude")
//	reply, err := hooks.AnswerHook(ctx, a, hook, text)
package hooks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"stig/checkpoint"
	"stig/dag"
	"stig/internal/assistant"
	"stig/internal/beads"
	"stig/internal/clone"
	"stig/internal/file"
	"stig/internal/process"
	"stig/internal/service"
	"stig/internal/store/jsonl"
	"stig/internal/visible"
	"stig/internal/workspace"
	"stig/notes"
	"stig/orient"
	"stig/signals"
)

const (
	// ContextLimit is the most characters of context for an assistant, as its host counts them.
	// Beyond 10,000, Claude Code shows only the beginning, and Codex omits the middle.
	ContextLimit = 9000
	// EventLimit is the most bytes of an event that are read. Some events contain the whole
	// file that is about to be written.
	EventLimit = 64 << 20
	// hookLimit is how long a hook may run: a git that hangs must not block a session.
	hookLimit = 5 * time.Second
	// hookDial is how long a hook waits to connect to a server.
	hookDial = 2 * time.Second
)

// Hook is a host's event that stig answers.
type Hook struct {
	event  string // its name in the host's settings
	host   assistant.Host
	answer func(context.Context, *workspace.Run, assistant.Host, assistant.Event) []byte // may be nil: no reply
}

// hooks returns the events that stig answers, in the order in which they happen.
func hooks() []Hook {
	return []Hook{
		{event: "session-start", answer: sessionStart},
		{event: "pre-tool-use", answer: preToolUse},
		{event: "post-tool-use", answer: postToolUse},
		{event: "subagent-start", answer: subagentStart},
		{event: "stop", answer: stop},
		{event: "pre-compact", answer: preCompact},
		{event: "session-end", answer: sessionEnd},
	}
}

// ParseHook parses the names of an event and of its host.
func ParseHook(event, name string) (Hook, error) {
	var known []string
	for _, hook := range hooks() {
		known = append(known, hook.event)
		if hook.host = assistant.Host(name); hook.event != event {
			continue
		}
		if !slices.Contains(assistant.Hosts(), hook.host) {
			return Hook{}, fmt.Errorf("--host: must be one of %s; found %q", assistant.Names(), name)
		}
		return hook, nil
	}
	return Hook{}, fmt.Errorf("the event must be one of %s; found %q", strings.Join(known, ", "), event)
}

// AnswerHook returns the reply to an event. Neither an error nor a panic may break the session:
// the reply is valid even if there is an error.
func AnswerHook(ctx context.Context, a *workspace.Run, hook Hook, text []byte) (reply []byte, err error) {
	event := assistant.ParseEvent(text)
	if info, err := os.Stat(event.Dir); a.Dir == "" && err == nil && info.IsDir() {
		a.Dir = event.Dir
	}
	ctx, cancel := context.WithTimeout(ctx, hookLimit)
	defer cancel()
	a.OnServers().Timeout = hookDial
	defer func() {
		if r := recover(); r != nil {
			reply, err = nil, fmt.Errorf("a bug in stig: %v", r)
		}
		if reply == nil {
			reply = hook.host.Silence()
		}
	}()
	return hook.answer(ctx, a, hook.host, event), nil
}

// join registers the session of an event and makes this run act in it: under the name in the
// environment, or else under a generated name.
func join(ctx context.Context, a *workspace.Run, h assistant.Host, e assistant.Event) {
	r, ok := a.Sessions()
	if !ok || e.Session == "" {
		return
	}
	s, known := r.Find(string(h), e.Session)
	if !known || s.Ended || r.Now.Sub(s.Seen) > signOfLife || clone.HostProcess(r.Ancestors) != s.Process {
		start := clone.SessionStart{Host: string(h), ID: e.Session, Owner: owner(ctx, a), Instead: e.Cleared}
		start.Name = cmp.Or(a.Getenv("STIG_ACTOR"), a.Getenv("BD_ACTOR"))
		if other, is := r.Named(start.Name); is && clone.IsSession(start.Name) && (other.Host != start.Host || other.ID != start.ID) {
			start.Name = "" // the name belongs to the session that started this one
		}
		s, _ = r.Begin(start) // s has a name even if it cannot be saved
	}
	a.Hooked = &s
}

// JoinClient makes this run act in a session of its own, for a program that calls this process.
// client is the program's name for itself, id identifies the connection. It does nothing if an
// actor is set or a hook registered a session. Without a session the program would act as a
// person and could answer its own questions.
func JoinClient(ctx context.Context, a *workspace.Run, client, id string) {
	r, ok := a.Sessions()
	named := cmp.Or(a.Actor, a.Getenv("STIG_ACTOR"), a.Getenv("BD_ACTOR"), a.Getenv("STIG_RUN")) != ""
	if _, hosted := a.Session(); named || hosted || !ok {
		return
	}
	r.Ancestors = nil // the session ends with this process; commands that a person starts below the program are not part of it
	if self, ok := process.Self(); ok {
		r.Ancestors = []process.Ancestor{self}
	}
	start := clone.SessionStart{Host: cmp.Or(clone.Slug(client), "mcp"), ID: id, Owner: owner(ctx, a)}
	s, known := r.Find(start.Host, id)
	if !known || r.Now.Sub(s.Seen) > signOfLife {
		s, _ = r.Begin(start) // s has a name even if it cannot be saved
	}
	a.Hooked = &s
}

// signOfLife is the interval at which a hook or a server records that its session is alive.
const signOfLife = time.Hour

// owner returns the person that this user's sessions work for, in the form used in session
// names.
func owner(ctx context.Context, a *workspace.Run) string {
	person, _ := a.Person(ctx) // if unknown, the operating system's user is used
	for _, name := range []string{person, a.Getenv("USER"), a.Getenv("USERNAME")} {
		if slug := clone.Slug(name); slug != "" {
			return slug
		}
	}
	return "somebody"
}

// introduction tells a session the name it acts under, and makes its commands act under that
// name too; "" if the name was chosen by somebody.
func introduction(a *workspace.Run, h assistant.Host) string {
	if a.Hooked == nil || !clone.IsSession(a.Hooked.Name) {
		return ""
	}
	name := a.Hooked.Name
	if !passOn(a.Getenv(h.EnvFile()), name) && a.Hooked.Process.PID == 0 {
		return fmt.Sprintf("Run export STIG_ACTOR=%s before you use stig: that is the name of this session.\n\n", name)
	}
	return fmt.Sprintf("stig knows this session as %s.\n\n", name)
}

// passOn appends the name of a session, once, to the file from which its host takes the
// environment of commands. Session names need no quoting.
func passOn(path, name string) bool {
	if !filepath.IsAbs(path) || !clone.IsSession(name) {
		return false
	}
	line := "export STIG_ACTOR=" + name + "\n"
	if text, err := os.ReadFile(path); err == nil && strings.Contains(string(text), line) {
		return true
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return false
	}
	_, err = file.WriteString(line)
	return errors.Join(err, file.Close()) == nil
}

// sessionStart returns the context of a new session: its name, losses, and a briefing or a
// survey.
func sessionStart(ctx context.Context, a *workspace.Run, h assistant.Host, e assistant.Event) []byte {
	join(ctx, a, h, e)
	since, err := lostSince(ctx, a, e.Session)
	if err != nil {
		a.Warn("stig cannot remember the store's state for this session, and does not notice what other programs remove: %v", err)
	}
	file, who, claims, err := claims(ctx, a)
	if err != nil {
		return withoutBriefing(h, err)
	}
	defer file.Close()
	if err := a.RefuseUnfinished(ctx, file.Place()); err != nil {
		refused := workspace.Classify(err)
		return h.Context(workspace.Visible("Do not begin to work: stig cannot say what to do.\n\n" + refused.Message + "\n" + refused.Hint + "\n"))
	}
	rules, err := service.Reading(a, file.Place(), signals.ThresholdStaleDays)
	if err != nil {
		return withoutBriefing(h, err)
	}
	graph := dag.New(file)
	first := introduction(a, h)
	if lost := service.NoteLost(ctx, a, file.Place()); lost != "" {
		first += lost + ": type stig recover to see what, and stig recover --apply to put it back.\n\n"
	}
	if since != "" {
		first += since + "\n"
	}
	if len(claims) == 0 {
		claims = left(a, file, who)
		first += leftOver(file, claims)
	}
	if a.Getenv("STIG_RUN") != "" && !e.Forgot { // its loop passed it the briefing on standard input
		if first == "" {
			return nil
		}
		return h.Context(workspace.Visible(first))
	}
	if items := a.InboxCount(ctx, file, graph, who); items > 0 {
		first += visible.Counted(items, "item") + " in your inbox: type stig inbox.\n\n"
	}
	text, err := within(h, ContextLimit-h.Length(workspace.Visible(first)), func(budget int) (string, error) {
		if len(claims) == 1 {
			rules.ReadOnly = service.Unwritable(ctx, a, file.Place())
			b, err := orient.Brief(file, graph, claims[0], orient.Request{Budget: budget, Reader: who, MayTake: a.MayTake(who), Loop: a.Getenv("STIG_RUN") != ""}, rules)
			if err != nil {
				return "", err
			}
			return b.Markdown(), nil
		}
		left, held := service.LeftAndHeld(a, file, rules.Now)
		s, err := orient.NewSurvey(file, graph, orient.SurveyRequest{As: who, Left: left, Held: held, MayTake: a.MayTake(who), Budget: min(budget, orient.SurveyBudget)}, rules)
		if err != nil {
			return "", err
		}
		return s.Markdown(), nil
	})
	if err != nil {
		return withoutBriefing(h, err)
	}
	return h.Context(workspace.Visible(first + text))
}

// withoutBriefing tells a session why it gets no briefing; it returns nil if there is no store.
func withoutBriefing(h assistant.Host, err error) []byte {
	if errors.Is(err, beads.ErrAbsent) {
		return nil
	}
	failed := workspace.Classify(err)
	text := "This repository keeps its issues with stig, which cannot brief you: " + failed.Message + "\n"
	if failed.Hint != "" {
		text += "hint: " + failed.Hint + "\n"
	}
	return h.Context(workspace.Visible(text))
}

// left returns the issues in progress that an actor does not hold but may continue: those of
// its person, and of that person's ended sessions.
func left(a *workspace.Run, file *beads.Snapshot, who string) (left []int) {
	may := a.MayTake(who)
	for i, issue := range file.All() {
		if at, ok := file.Index(issue.ID); ok && at == i && issue.IsClaimed() && issue.Assignee != who && may(issue.Assignee) {
			left = append(left, i)
		}
	}
	return left
}

// leftOver lists the issues that the session can continue.
func leftOver(file *beads.Snapshot, left []int) string {
	const shown = 5
	var text strings.Builder
	for _, i := range left[:min(len(left), shown)] {
		holder := visible.OneLine(file.At(i).Assignee)
		if clone.IsSession(holder) {
			holder += ", a session that has ended"
		}
		fmt.Fprintf(&text, "%s is claimed by %s: type stig claim %[1]s to go on with it.\n", file.At(i).ID, holder)
	}
	if more := len(left) - shown; more > 0 {
		fmt.Fprintf(&text, "So are %d more: type stig list --status in_progress.\n", more)
	}
	if len(left) > 0 {
		text.WriteByte('\n')
	}
	return text.String()
}

// subagentStart tells a subagent its name, and what to leave to the session that started it.
func subagentStart(ctx context.Context, a *workspace.Run, h assistant.Host, e assistant.Event) []byte {
	join(ctx, a, h, e)
	r, ok := a.Sessions()
	if !ok || a.Hooked == nil {
		return nil
	}
	name, _ := r.Agent(*a.Hooked, e.Agent) // it has a name even if it cannot be saved
	return h.Agent(workspace.Visible(fmt.Sprintf("This repository keeps its issues with stig: type stig orient ID to read one. You are %s, a subagent of %s.\n"+
		"Report what you found to whoever started you, and leave stig checkpoint and stig close to them.\n"+
		"Only to take an issue of your own, type stig claim ID --actor %[1]s, and give --actor %[1]s to checkpoint and close it too.\n", name, a.Hooked.Name)))
}

// sessionEnd records the end of a session.
func sessionEnd(_ context.Context, a *workspace.Run, h assistant.Host, e assistant.Event) []byte {
	if r, ok := a.Sessions(); ok && e.Session != "" {
		_ = r.End(string(h), e.Session) // if this fails, the missing process shows it too
	}
	return nil
}

// claims opens the store and returns the actor's issues in progress; in a session, those
// claimed in it.
func claims(ctx context.Context, a *workspace.Run) (file *beads.Snapshot, who string, claims []int, err error) {
	store, err := a.Discover()
	if err != nil {
		return nil, "", nil, err
	}
	if who, err = a.ActorName(ctx); err != nil {
		return nil, "", nil, err
	}
	if file, err = store.Snapshot(); err != nil {
		return nil, "", nil, err
	}
	has := func(issue *beads.Issue) bool {
		return issue.Status == beads.StatusInProgress && issue.Assignee == who && who != ""
	}
	if r, ok := a.Sessions(); ok && a.Hooked != nil {
		has = func(issue *beads.Issue) bool { return r.Has(*a.Hooked, issue) }
	}
	for i, issue := range file.All() {
		if at, ok := file.Index(issue.ID); ok && at == i && has(issue) {
			claims = append(claims, i)
		}
	}
	return file, who, claims, nil
}

// within returns a text of at most limit characters, as the host counts them. The budget is
// reduced until the text fits, because a host may count one character as two to four, and a
// text has a minimum length. If it does not fit, within returns a line that says so.
func within(h assistant.Host, limit int, text func(budget int) (string, error)) (string, error) {
	budget := limit
	for range 4 {
		t, err := text(budget)
		length := h.Length(workspace.Visible(t))
		if err != nil || length <= limit {
			return t, err
		}
		budget = max(budget*limit/length*15/16, orient.MinBudget)
	}
	return fmt.Sprintf("The briefing is longer than %d characters: type stig orient to read it.\n", limit), nil
}

// stop reports what the store lost since the session last looked, and reminds of claimed work.
func stop(ctx context.Context, a *workspace.Run, h assistant.Host, e assistant.Event) []byte {
	join(ctx, a, h, e)
	if e.Again || a.Hooked == nil {
		return nil
	}
	lost, _ := lostSince(ctx, a, e.Session) // an error was reported when the session started
	text := lost + forgottenWork(ctx, a)
	if text == "" {
		return nil
	}
	return h.GoOn(workspace.Visible(text))
}

// forgottenWork reminds a session of claims with work since the last checkpoint or reminder. It
// reminds once of claims without recorded work that have no checkpoint of today. If the
// reminder cannot be recorded, it returns "".
func forgottenWork(ctx context.Context, a *workspace.Run) string {
	file, _, claims, err := claims(ctx, a)
	if err != nil {
		return ""
	}
	defer file.Close()
	r, ok := a.Sessions()
	if !ok || len(claims) == 0 {
		return ""
	}
	head, beyond := a.Work(ctx, file.Place())
	var held []clone.SessionClaim
	for _, i := range claims {
		last, ok := lastCheckpoint(a, file.At(i))
		held = append(held, clone.SessionClaim{Issue: file.At(i).ID, As: file.At(i).Assignee, Due: ok && last < signals.Day(r.Now), Base: head, Work: beyond})
	}
	due, err := r.Remind(*a.Hooked, held)
	if err != nil || len(due) == 0 {
		return ""
	}
	return reminder(due)
}

func reminder(ids []string) string {
	has := "has"
	if len(ids) > 1 {
		has = "have"
	}
	return fmt.Sprintf("%s: %s work that no checkpoint records\n", strings.Join(ids, ", "), has) +
		fmt.Sprintf("hint: type stig checkpoint %s --surprise … --progress … --done … --learned … --remains … --downstream …, "+
			"or stig release %s if you did not work on it; then stop", ids[0], ids[0])
}

// lastCheckpoint returns the latest date of an issue's state estimate and signals; "" if it has
// neither, or only a draft.
func lastCheckpoint(a *workspace.Run, issue *beads.Issue) (date string, ok bool) {
	record, err := issue.Record()
	if err != nil {
		return "", false
	}
	doc := notes.Parse(record.Text(beads.Notes))
	estimate, _ := signals.LastEstimate(doc)
	if strings.Contains(estimate.Body, draftMark) {
		return "", true
	}
	date = estimate.Date
	table := signals.Read(doc, a.Schema)
	for _, s := range table.Signals() {
		date = max(date, table.Updated(s))
	}
	return date, true
}

// draftMark distinguishes a draft from what a worker wrote.
const draftMark = "This is a draft that a hook left before the context of a session was compacted"

// draftWait is how long a draft waits for the lock of the store: a session must not wait for
// others.
const draftWait = 10 * time.Millisecond

// preCompact writes a draft of the state estimate to claimed issues that have none, before the
// session's context is cut. It skips this if another process holds the store, or if bd would
// have to import the draft, which takes longer than an assistant should wait.
func preCompact(ctx context.Context, a *workspace.Run, h assistant.Host, e assistant.Event) []byte {
	join(ctx, a, h, e)
	file, _, claims, err := claims(ctx, a)
	if err != nil {
		return nil
	}
	defer file.Close()
	if file.Place().ByBD() {
		return h.Nothing()
	}
	var without []string
	for _, i := range claims {
		if record, err := file.At(i).Record(); err == nil {
			if _, has := signals.LastEstimate(notes.Parse(record.Text(beads.Notes))); !has {
				without = append(without, file.At(i).ID)
			}
		}
	}
	options, err := a.Options(false)
	if len(without) == 0 || err != nil || a.RefuseUnfinished(ctx, file.Place()) != nil {
		return h.Nothing()
	}
	options.Wait = draftWait
	update := checkpoint.Update{Estimate: draft(ctx, a), Evidence: a.Config.Signals.Evidence}
	for _, id := range without {
		// Failing is acceptable: the draft is only a fallback.
		_, _ = checkpoint.DraftEstimate(ctx, a.At(file.Place()), options, id, update, checkpoint.Rules{Schema: a.Schema, Now: options.Now})
	}
	return h.Nothing()
}

// draft describes the work as far as it can be seen from outside.
func draft(ctx context.Context, a *workspace.Run) signals.Estimate {
	e := signals.Estimate{
		Done:    "not recorded. " + draftMark,
		Remains: "not recorded. Compare the tree with the acceptance criteria, and replace this draft with a checkpoint",
	}
	git := a.GitIn(cmp.Or(a.Dir, "."))
	result, err := git.Run(ctx, "status", "--short", "--branch", "--no-ahead-behind", "--untracked-files=normal", "--ignore-submodules=dirty")
	if err != nil || result.Exit != 0 {
		return e
	}
	lines := strings.Split(strings.TrimSpace(workspace.Visible(string(result.Stdout))), "\n")
	branch, files := strings.TrimPrefix(lines[0], "## "), lines[1:]
	for i, file := range files {
		files[i] = strings.TrimSpace(file)
	}
	const shown = 10
	if len(files) > shown {
		files = append(files[:shown], fmt.Sprintf("and %d more", len(files)-shown))
	}
	if len(files) == 0 {
		files = []string{"none"}
	}
	e.Done += fmt.Sprintf(". Branch: %s. Changed since its last commit: %s", branch, strings.Join(files, ", "))
	return e
}

// preToolUse denies a command that would bypass the gate or write the store, and leaves every
// other decision to the host. Closing an issue with a fresh verdict does not bypass the gate.
func preToolUse(ctx context.Context, a *workspace.Run, h assistant.Host, e assistant.Event) []byte {
	attempts := assistant.Attempts(e.Command)
	if len(e.Writes) > 0 {
		attempts = append(attempts, assistant.Attempt{Verb: "this tool", Files: e.Writes})
	}
	if len(e.Closes) > 0 {
		attempts = append(attempts, assistant.Attempt{Verb: "this tool", Words: e.Closes})
	}
	if len(attempts) == 0 {
		return nil
	}
	store, err := jsonl.Discover(a.Where())
	if err != nil {
		return nil
	}
	var reasons []string
	for _, attempt := range attempts {
		if reason := objection(ctx, a, store, attempt); reason != "" {
			reasons = append(reasons, reason)
		}
	}
	if len(reasons) == 0 {
		return nil
	}
	return h.Deny(workspace.Visible(strings.Join(reasons, "\n")))
}

// objection returns why an attempt is denied, and what to type instead; "" if it is allowed.
func objection(ctx context.Context, a *workspace.Run, store beads.Place, attempt assistant.Attempt) string {
	if len(attempt.Files) > 0 {
		dir, err := filepath.Abs(cmp.Or(a.Dir, "."))
		path, err2 := filepath.Abs(store.File())
		if err != nil || err2 != nil || store.File() == "" || !attempt.Overwrites(dir, path) {
			return ""
		}
		return fmt.Sprintf("%s: writes %s directly, bypassing stig, which validates changes and loses nothing\n", attempt.Verb, filepath.Base(path)) +
			"hint: type stig checkpoint ID, stig signals set ID, stig create or stig close ID; reading the file is fine"
	}
	if isElsewhere(a, store, attempt.Dir) {
		return ""
	}
	return pastGate(ctx, a, store, attempt)
}

// isElsewhere reports whether a tracker that runs in dir, relative to the directory of this
// run, finds another store than this one, or none.
func isElsewhere(a *workspace.Run, store beads.Place, dir string) bool {
	if dir == "" {
		return false
	}
	where := a.Where()
	if below, ok := strings.CutPrefix(dir, "~"); ok {
		dir = a.Getenv("HOME") + below
	}
	where.Dir = file.Under(where.Dir, dir)
	other, err := jsonl.Discover(where)
	if err != nil {
		return true
	}
	if store.Mode == beads.Server && other.Mode == beads.Server {
		return store.URL != other.URL
	}
	here, err := workspace.RealPath(store.Path)
	there, err2 := workspace.RealPath(other.Path)
	return err == nil && err2 == nil && here != there
}

package service

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"stig/checkpoint"
	"stig/internal/beads"
	"stig/internal/clone"
	"stig/internal/gate"
	"stig/internal/git"
	"stig/internal/process"
	"stig/internal/visible"
	"stig/internal/workspace"
	"stig/notes"
	"stig/signals"
)

// Notice is an event that people are notified of. It is the input of notify.command.
type Notice struct {
	Event   string `json:"event"`
	ID      string `json:"id"` // issue of the event; "" for none
	Title   string `json:"title"`
	Message string `json:"message"`
	Time    string `json:"time"`            // RFC 3339, UTC
	Click   string `json:"click,omitempty"` // URL that shows the issue

	fresh string // distinguishes the event from the last one of its kind about the issue; "" if every one is new
}

// The events.
const (
	EventAsked    = "escalation-pending"
	eventFailed   = "gate-failed"
	eventComplete = "epic-complete"
	eventReplan   = "replanning-needed"
	eventStuck    = "stuck-epic"
	eventShift    = "upward-shift"
	eventStopped  = "loop-stopped"
)

// eventOf returns the event of an alert; "" for alerts without notification.
func eventOf(alert signals.Alert) (event, title string) {
	switch alert.Rule {
	case signals.AlertReplanning:
		return eventReplan, "to be replanned: "
	case signals.AlertStuck:
		return eventStuck, "stuck: "
	case signals.AlertShift:
		return eventShift, "less certain: "
	}
	return "", ""
}

// alertNotices returns the notices for the alerts of a report about an issue. An epic that
// stays over its threshold, or stuck, is reported once a day.
func alertNotices(id string, alerts []checkpoint.Alert, day string) (list []Notice) {
	for _, alert := range alerts {
		event, title := eventOf(alert)
		if event == "" {
			continue
		}
		about, message := cmp.Or(alert.About, id), strings.TrimPrefix(alert.Message, alert.About+": ")
		n := Notice{Event: event, ID: about, Title: title + about, Message: message, fresh: day}
		if event == eventShift {
			n.fresh += message
		}
		list = append(list, n)
	}
	return list
}

// shiftNotices returns the notices for signals that were set without a checkpoint. It skips
// unreadable lines, which stig did not write.
func shiftNotices(changes []beads.Change, schema *signals.Schema, day string) (list []Notice) {
	for _, c := range changes {
		before, err := beads.ParseRecord(c.Before)
		if err != nil {
			continue
		}
		after, err := beads.ParseRecord(c.After)
		if err != nil {
			continue
		}
		was := signals.Read(notes.Parse(before.Text(beads.Notes)), schema)
		is := signals.Read(notes.Parse(after.Text(beads.Notes)), schema)
		if alert, up := signals.Shift(was.Value(signals.Cynefin), is.Value(signals.Cynefin)); up && was.Present() {
			list = append(list, alertNotices(c.ID, []checkpoint.Alert{alert}, day)...)
		}
	}
	return list
}

// questionNotice returns the notice of a question to a person: the beginning of the text, and
// all options. The store refuses a question that is already waiting, so each notice is new,
// also for a question that was answered and is asked again.
func questionNotice(id string, q checkpoint.Question, now time.Time) Notice {
	said := q.Said(now)
	said.Text = ""
	choices := said.String()
	room := max(longestMessage-utf8.RuneCountInString(choices), longestTitle)
	text := visible.Clipped(strings.TrimSpace(q.Text), room) + choices
	title := "question: " + id
	if q.By != "" {
		title += ", by " + q.By
	}
	return Notice{Event: EventAsked, ID: id, Title: title, Message: text}
}

// reportNotices returns the notices of a checkpoint or a question.
func reportNotices(r *checkpoint.Report, q checkpoint.Question, now time.Time) (list []Notice) {
	if q.Text != "" && slices.Contains(r.Sections, signals.EscalationSection) {
		list = append(list, questionNotice(r.ID, q, now))
	}
	return append(list, alertNotices(r.ID, r.Alerts, signals.Day(now))...)
}

// notices returns the notices of an issue at the gate. They omit the output of checks, which
// may contain what must not leave the machine.
func (f Finding) notices(day string) (list []Notice) {
	if f.DryRun {
		return nil
	}
	if f.Failed() && !f.GateRun.Reused {
		n := Notice{Event: eventFailed, ID: f.Id, Title: "gate failed: " + f.Id, fresh: day}
		for _, o := range f.GateRun.Verdict.Outcomes() {
			if !o.Passed() && o.Exit != gate.ExitNotRun {
				n.Message += fmt.Sprintf("exit %d: %s\n", o.Exit, o.Named())
			}
		}
		if state := f.GateRun.Verdict.Tree().State; state != "" {
			n.fresh = state
		}
		n.fresh += f.GateRun.Verdict.Hash() + n.Message
		if f.Escalated {
			n.Event, n.Title, n.fresh = EventAsked, "question: "+f.Id+", whose acceptance criteria do not pass", ""
		}
		list = append(list, n)
	}
	c := f.Closed
	if c == nil || c.Already {
		return list
	}
	if c.Epic.Complete() {
		list = append(list, Notice{Event: eventComplete, ID: c.Epic.ID, Title: "complete: " + c.Epic.ID + " " + c.Epic.Title,
			Message: fmt.Sprintf("all of its %d children are closed; type %s", c.Epic.Total, c.Epic.Command()),
			fresh:   fmt.Sprintf("%s %d", day, c.Epic.Total)})
	}
	return append(list, alertNotices(f.Id, c.Alerts, day)...)
}

// notify notifies people, once per event. It neither waits nor fails: a separate process sends
// the notice. An error before that process starts is a warning.
func notify(ctx context.Context, a *workspace.Run, store beads.Place, now time.Time, notices []Notice) {
	notifyBy(ctx, a, store, now, notices, Delivery.send)
}

// NotifyStopped notifies people that a loop has stopped, once a day per title and reason;
// details do not count. It waits for at most Telling, because systemd kills the children of a
// loop that ends.
func NotifyStopped(ctx context.Context, a *workspace.Run, store beads.Place, now time.Time, title, why, details string) {
	n := Notice{Event: eventStopped, Title: title, Message: why + details, fresh: signals.Day(now) + title + why}
	notifyBy(ctx, a, store, now, []Notice{n}, func(p Delivery) error {
		_ = p.Deliver(ctx, a.Environ()) // failures are logged
		return nil
	})
}

func notifyBy(ctx context.Context, a *workspace.Run, store beads.Place, now time.Time, notices []Notice, tell func(Delivery) error) {
	if len(notices) == 0 || a.Config.Notify.Off() {
		return
	}
	warn := func(err error) { a.Warn("notify: no notification sent: %v", err) }
	code, err := a.Code(ctx, store)
	if err != nil {
		warn(err)
		return
	}
	to, err := NotifyTarget(ctx, a, code)
	if err != nil {
		warn(err)
		return
	}
	if to.Off() {
		a.Note("notify: no notification sent: its settings are in a repository that is not trusted; see stig trust")
		return
	}
	for _, n := range notices {
		n.Title, n.Message = visible.HideSecrets(n.Title), visible.HideSecrets(n.Message)
		n.Time, n.Click = now.UTC().Format(time.RFC3339), to.Page(n.ID)
		if err := tellOf(code, to, n, tell); err != nil {
			warn(err)
		}
	}
}

// NotifyTarget returns where notifications go. A repository's settings apply only if it is
// trusted, since they name programs to start and servers to contact.
func NotifyTarget(ctx context.Context, a *workspace.Run, s *workspace.Code) (workspace.Notifications, error) {
	if a.Config.Notify.Same(a.Own) {
		return a.Own, nil
	}
	trusted, err := a.Trusted(ctx, s)
	if err == nil && trusted {
		trusted, err = holdsStore(ctx, a, s)
	}
	if err != nil || !trusted {
		return a.Own, err
	}
	return a.Config.Notify, nil
}

// holdsStore reports whether the store, next to which the configuration is, is in the
// repository that trust is given to: --store can name any other.
func holdsStore(ctx context.Context, a *workspace.Run, s *workspace.Code) (bool, error) {
	holder, err := workspace.RealPath(filepath.Dir(s.Store.Dir))
	if err != nil {
		return false, err
	}
	place, err := a.PlaceOf(ctx, holder)
	if err != nil || place.Home == "" {
		return holder == s.Root && s.Place.Home == "", err
	}
	return place.Home == s.Place.Home, nil
}

// tellOf notifies of an event unless that was done before.
func tellOf(s *workspace.Code, to workspace.Notifications, n Notice, tell func(Delivery) error) error {
	p := Delivery{To: to, Notice: n.Bounded(), Dir: s.Root, Log: NotifyLog(s), Mark: mark(s, n)}
	if err := p.Claim(); errors.Is(err, fs.ErrExist) {
		return nil
	} else if err != nil {
		return err
	}
	err := tell(p)
	if err != nil {
		err = errors.Join(err, p.unclaim())
	}
	return err
}

// Most characters of a title and a message.
const longestTitle, longestMessage = 200, 1500

// Bounded returns the notice, clipped to the longest title and message.
func (n Notice) Bounded() Notice {
	n.Title, n.Message = visible.Clipped(visible.OneLine(n.Title), longestTitle), visible.Clipped(strings.TrimSpace(n.Message), longestMessage)
	return n
}

// notices returns the directory of notification state, "" for none. All work trees of the clone
// share it: each event is notified once, and a worker's work tree is removed with its issue.
func notices(s *workspace.Code) string {
	if s.Own == "" {
		return s.State
	}
	tree, err := git.CheckoutOf(s.Place.Root)
	if err != nil || tree.Common == "" {
		return s.Own
	}
	return clone.Writable(filepath.Join(tree.Common, filepath.Base(s.Place.Own)), s.Store.Path)
}

// NotifyLog returns the path of the log of failed notifications; "" for none.
func NotifyLog(s *workspace.Code) string { return workspace.Below(notices(s), "notify.log") }

// mark returns the file that marks an event as notified; "" if there is no directory for it, or
// it needs no mark.
func mark(s *workspace.Code, n Notice) string {
	if n.fresh == "" {
		return ""
	}
	full, err := filepath.Abs(s.Store.Path) // the user's directory is shared by all stores
	if err != nil {
		full = s.Store.Path
	}
	return workspace.Below(notices(s), "notified", n.Event+"-"+gate.Hash(strings.Join([]string{full, n.Event, n.ID, n.fresh}, "\x00"))[:24])
}

// Delivery is the input of the process that sends a notification.
type Delivery struct {
	To     workspace.Notifications `json:"to"`
	Notice Notice                  `json:"notice"`
	Dir    string                  `json:"dir"`  // directory of the command
	Log    string                  `json:"log"`  // log of failures
	Mark   string                  `json:"mark"` // removed if nobody was notified
}

// Claim creates the mark. If several processes try, all but one get fs.ErrExist.
func (p Delivery) Claim() error {
	if p.Mark == "" {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(p.Mark), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(p.Mark, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	dropMarks(p.Mark)
	return f.Close()
}

// markAge is how long a mark is kept: by then the day, the tree or the question of the event
// has changed.
const markAge = 90 * 24 * time.Hour

// dropMarks removes old marks, by the time of a mark that was just created. Failures are
// retried with the next mark.
func dropMarks(mark string) {
	now, err := os.Stat(mark)
	entries, _ := os.ReadDir(filepath.Dir(mark))
	for _, e := range entries {
		if info, e := e.Info(); err == nil && e == nil && now.ModTime().Sub(info.ModTime()) > markAge {
			_ = os.Remove(filepath.Join(filepath.Dir(mark), info.Name()))
		}
	}
}

func (p Delivery) unclaim() error {
	if p.Mark == "" {
		return nil
	}
	return os.Remove(p.Mark)
}

// send starts stig itself to send the notification. Secrets in a URL are passed on standard
// input, where nobody else can see them.
func (p Delivery) send() error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(p); err != nil {
		return err
	}
	return process.Detach(process.Command{Argv: []string{self, SendName}, Dir: p.Dir, Stdin: text.Bytes()}, "stig")
}

// SendName is the hidden command that sends one notification.
const SendName = "notify-send"

// Telling is the timeout for sending a notification.
const Telling = 5 * time.Second

// Deliver sends the notice in all configured ways in parallel. Failures are logged. If all
// fail, the mark is removed, so that the next occurrence is notified. env is the environment of
// the command.
func (p Delivery) Deliver(ctx context.Context, env []string) error {
	ctx, done := context.WithTimeout(ctx, Telling)
	defer done()
	var group sync.WaitGroup
	var failures [2]error
	if p.To.URL != "" {
		group.Go(func() { failures[0] = p.post(ctx) })
	}
	if len(p.To.Command) > 0 {
		group.Go(func() { failures[1] = p.runCommand(ctx, env) })
	}
	group.Wait()
	told := p.To.URL != "" && failures[0] == nil || len(p.To.Command) > 0 && failures[1] == nil
	err := errors.Join(failures[:]...)
	if err == nil {
		return nil
	}
	err = errors.Join(err, p.LogFailure(err))
	if !told {
		err = errors.Join(err, p.unclaim())
	}
	return err
}

// priority returns the priority for ntfy: 3 by default, 4 if something waits for a person.
func (n Notice) priority() int {
	switch n.Event {
	case EventAsked, eventReplan, eventStuck, eventStopped:
		return 4
	}
	return 3
}

// tags returns the event, and its issue if there is one.
func (n Notice) tags() []string {
	if n.ID == "" {
		return []string{n.Event}
	}
	return []string{n.Event, n.ID}
}

// post sends the event to the server, in ntfy's JSON format.
func (p Delivery) post(ctx context.Context) error {
	body, err := json.Marshal(struct {
		Click    string   `json:"click,omitempty"`
		Message  string   `json:"message"`
		Priority int      `json:"priority"`
		Tags     []string `json:"tags"`
		Title    string   `json:"title"`
		Topic    string   `json:"topic"`
	}{p.Notice.Click, p.Notice.Message, p.Notice.priority(), p.Notice.tags(), p.Notice.Title, cmp.Or(p.To.Topic, "stig")})
	if err != nil {
		return err
	}
	where, err := url.Parse(p.To.URL)
	if err != nil {
		return errors.New("notify.url: not a URL") // err's text may contain a password
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, p.To.URL, bytes.NewReader(body))
	if err != nil {
		return errors.New("notify.url: not a URL")
	}
	request.Header.Set("Content-Type", "application/json")
	client := http.Client{CheckRedirect: sameScheme}
	response, err := client.Do(request)
	if err != nil {
		return fmt.Errorf("%s: %w", where.Host, withoutURL(ctx, err))
	}
	_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, 64<<10)) // the body does not matter
	if err := response.Body.Close(); err != nil {
		return fmt.Errorf("%s: %w", where.Host, withoutURL(ctx, err))
	}
	if response.StatusCode < 200 || response.StatusCode > 299 {
		return fmt.Errorf("%s: answered %d %s", where.Host, response.StatusCode, http.StatusText(response.StatusCode))
	}
	return nil
}

// withoutURL returns an error of net/http without the URL, which may contain a password or a
// token.
func withoutURL(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("no answer within %s", Telling)
	}
	if of, ok := errors.AsType[*url.Error](err); ok {
		return of.Err
	}
	return err
}

// sameScheme follows a redirect only to the same scheme, so that encrypted traffic stays
// encrypted.
func sameScheme(to *http.Request, via []*http.Request) error {
	if to.URL.Scheme != via[0].URL.Scheme {
		return fmt.Errorf("redirects from %s to %s; not followed", via[0].URL.Scheme, to.URL.Scheme)
	}
	if len(via) > 3 {
		return errors.New("redirects more than three times")
	}
	return nil
}

// runCommand starts notify.command with the event on standard input. It discards the output,
// which may contain what must not be logged.
func (p Delivery) runCommand(ctx context.Context, env []string) error {
	var event bytes.Buffer
	if err := workspace.WriteJSON(&event, "notification", p.Notice); err != nil {
		return err
	}
	name := p.To.Command[0]
	result, err := process.Run(ctx, process.Command{
		Argv: p.To.Command, Dir: p.Dir, Stdin: event.Bytes(), Stdout: io.Discard,
		Env: append(slices.Clone(env), "STIG_EVENT="+p.Notice.Event, "STIG_ISSUE="+p.Notice.ID),
	})
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("%s: timed out after %s", name, Telling)
	case err != nil:
		return err
	case result.Exit != 0:
		return fmt.Errorf("%s: exit %d", name, result.Exit)
	}
	return nil
}

// LogLimit is the size in bytes beyond which the log of failures is cut to half of it.
const LogLimit = 64 << 10

// LogFailure appends failures to the log, one line each. It is safe for use by several
// processes, except that lines appended while another process shortens a full log may be lost.
func (p Delivery) LogFailure(failures error) (err error) {
	if p.Log == "" {
		return nil
	}
	var text []byte
	for line := range strings.SplitSeq(failures.Error(), "\n") {
		text = fmt.Appendf(text, "%s %s: %s\n", p.Notice.Time, strings.Join(p.Notice.tags(), " "), visible.Clipped(workspace.Visible(line), 300))
	}
	f, err := os.OpenFile(p.Log, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if text, err = os.ReadFile(p.Log); err != nil || len(text) <= LogLimit {
		return err
	}
	_, text, _ = bytes.Cut(text[len(text)-LogLimit/2:], []byte("\n"))
	return os.WriteFile(p.Log, text, 0o600)
}

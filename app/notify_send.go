package app

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"stig/process"
)

// SendName is the hidden command that tells of one event.
const SendName = "notify-send"

// Telling is how long telling of an event may take.
const Telling = 5 * time.Second

// Deliver tells of the event in all ways at once. What failed is logged; when
// nobody could be told the mark goes, so that the next occasion counts. env is
// what the command is started in.
func (p Parcel) Deliver(ctx context.Context, env []string) error {
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

// priorities are those of ntfy: 3 unless told, 4 where somebody waits for a person.
func (n Notice) priority() int {
	switch n.Event {
	case EventAsked, eventReplan, eventStuck:
		return 4
	}
	return 3
}

// post sends the event to the server, as the JSON of ntfy.
func (p Parcel) post(ctx context.Context) error {
	message := map[string]any{
		"topic": cmp.Or(p.To.Topic, "stig"), "title": p.Notice.Title, "message": p.Notice.Message,
		"priority": p.Notice.priority(), "tags": []string{p.Notice.Event, p.Notice.ID},
	}
	if p.Notice.Click != "" {
		message["click"] = p.Notice.Click
	}
	body, err := json.Marshal(message)
	if err != nil {
		return err
	}
	where, err := url.Parse(p.To.URL)
	if err != nil {
		return errors.New("notify.url: is no URL") // its text may hold a password
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, p.To.URL, bytes.NewReader(body))
	if err != nil {
		return errors.New("notify.url: is no URL")
	}
	request.Header.Set("Content-Type", "application/json")
	client := http.Client{CheckRedirect: sameScheme}
	response, err := client.Do(request)
	if err != nil {
		return fmt.Errorf("%s: %w", where.Host, withoutURL(ctx, err))
	}
	_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, 64<<10)) // what it says is of no interest
	if err := response.Body.Close(); err != nil {
		return fmt.Errorf("%s: %w", where.Host, withoutURL(ctx, err))
	}
	if response.StatusCode < 200 || response.StatusCode > 299 {
		return fmt.Errorf("%s: answered %d %s", where.Host, response.StatusCode, http.StatusText(response.StatusCode))
	}
	return nil
}

// withoutURL is an error of net/http without the URL, which may hold a
// password or a token.
func withoutURL(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("no answer within %s", Telling)
	}
	if of, ok := errors.AsType[*url.Error](err); ok {
		return of.Err
	}
	return err
}

// sameScheme follows a redirect only where it leads to the same scheme: what
// was to be encrypted stays so.
func sameScheme(to *http.Request, via []*http.Request) error {
	if to.URL.Scheme != via[0].URL.Scheme {
		return fmt.Errorf("redirects from %s to %s, which is not followed", via[0].URL.Scheme, to.URL.Scheme)
	}
	if len(via) > 3 {
		return errors.New("redirects more than three times")
	}
	return nil
}

// runCommand starts notify.command with the event on its standard input. Its
// output is not kept: it may hold what no log should.
func (p Parcel) runCommand(ctx context.Context, env []string) error {
	var event bytes.Buffer
	if err := WriteJSON(&event, "notification", p.Notice); err != nil {
		return err
	}
	name := p.To.Command[0]
	result, err := process.Run(ctx, process.Command{
		Argv: p.To.Command, Dir: p.Dir, Stdin: event.Bytes(), Stdout: io.Discard,
		Env: append(slices.Clone(env), "STIG_EVENT="+p.Notice.Event, "STIG_ISSUE="+p.Notice.ID),
	})
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("%s: not done within %s", name, Telling)
	case err != nil:
		return err
	case result.Exit != 0:
		return fmt.Errorf("%s: exit %d", name, result.Exit)
	}
	return nil
}

// LogLimit is what the log of failures grows to, in bytes; half of it is kept then.
const LogLimit = 64 << 10

// LogFailure appends failures to the log, a line for each.
func (p Parcel) LogFailure(failures error) error {
	if p.Log == "" {
		return nil
	}
	text, err := os.ReadFile(p.Log)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	for line := range strings.SplitSeq(failures.Error(), "\n") {
		text = fmt.Appendf(text, "%s %s %s: %s\n", p.Notice.Time, p.Notice.Event, p.Notice.ID, clipped(Visible(line), 300))
	}
	if len(text) > LogLimit {
		_, text, _ = bytes.Cut(text[len(text)-LogLimit/2:], []byte("\n"))
	}
	return os.WriteFile(p.Log, text, 0o600)
}

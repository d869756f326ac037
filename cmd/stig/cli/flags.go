package cli

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"stig/app"
	"stig/checkpoint"
)

// span is the value of a flag that takes a span of time, in the units of checkpoint.ParseSpan.
type span time.Duration

func (s *span) String() string { return time.Duration(*s).String() }
func (s *span) Type() string   { return "span" }

func (s *span) Set(text string) error {
	d, err := checkpoint.ParseSpan(text)
	*s = span(d)
	return err
}

// SpanVar binds a flag that takes a span of time such as 90s, 10m, 24h, 7d or 2w.
func SpanVar(flags *pflag.FlagSet, d *time.Duration, name, usage string) {
	flags.Var((*span)(d), name, usage)
	flags.Lookup(name).DefValue = "" // the help names no default of 0s
}

// oneLine is the value of a flag that takes texts with commas between them. pflag reads the
// first line of what it is given, and drops the others.
type oneLine struct {
	pflag.Value
	pflag.SliceValue
}

func (v oneLine) Set(text string) error {
	if strings.ContainsAny(text, "\r\n") {
		return errors.New("must be one line, with commas between the values")
	}
	return v.Value.Set(text)
}

// SingleLine has flags of several texts refuse what has more than one line.
func SingleLine(cmd *cobra.Command, names ...string) {
	for _, name := range names {
		f := cmd.Flags().Lookup(name)
		f.Value, f.DefValue = oneLine{f.Value, f.Value.(pflag.SliceValue)}, "" // the help names no default of []
	}
}

// filter is the annotation of a flag of which an empty value is refused.
const filter = "filter"

// Filters marks flags that narrow what a command works on: an empty value, as of a variable
// that is not set, would let everything through.
func Filters(cmd *cobra.Command, names ...string) {
	for _, name := range names {
		cmd.Flags().Lookup(name).Annotations = map[string][]string{filter: nil}
	}
}

// EmptyFilter refuses (fault.Usage) a command line on which a filter has an empty value.
func EmptyFilter(cmd *cobra.Command) (err error) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		values := []string{f.Value.String()}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		if _, filters := f.Annotations[filter]; filters && (len(values) == 0 || slices.Contains(values, "")) {
			err = app.Usage("--"+f.Name+": must not be empty", "leave it out, or give it a value")
		}
	})
	return err
}

// flagError words what is wrong with the flags of a command line.
func flagError(cmd *cobra.Command, err error) error {
	if wrong, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		return app.Usage(fmt.Sprintf("--%s: %s; found %q", wrong.GetFlag().Name, wanted(wrong), wrong.GetValue()), "")
	}
	if missing, ok := errors.AsType[*pflag.ValueRequiredError](err); ok {
		return app.Usage("--"+missing.GetFlag().Name+": a value is missing", "")
	}
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok {
		return app.Usage(err.Error(), "")
	}
	name, dashes := unknown.GetSpecifiedName(), "--"
	if unknown.GetSpecifiedShortnames() != "" {
		dashes = "-"
	}
	if here := Elsewhere()[Called(cmd)+" "+dashes+name]; here != "" {
		return app.Usage(err.Error(), "type "+here)
	}
	for _, here := range flagsElsewhere()[name] {
		if cmd.Flags().Lookup(here) != nil {
			return app.Usage(err.Error(), "did you mean --"+here+"?")
		}
	}
	if near := nearFlags(cmd, name); len(near) > 0 && dashes == "--" {
		return app.Usage(err.Error(), "did you mean "+strings.Join(near, ", ")+"?")
	}
	return app.Usage(err.Error(), "")
}

// wanted is what the value of a flag must be.
func wanted(e *pflag.InvalidValueError) string {
	switch e.GetFlag().Value.Type() {
	case "int":
		return "must be a whole number"
	case "bool":
		return "must be true or false"
	case "span":
		text, _, _ := strings.Cut(e.Unwrap().Error(), "; found")
		return text
	}
	return e.Unwrap().Error()
}

// nearFlags are up to three flags of a command with a name near to one that it does
// not have, the nearest first.
func nearFlags(cmd *cobra.Command, name string) []string {
	const most = 3
	away := map[string]int{}
	var near []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		d := distance(name, f.Name)
		if strings.HasPrefix(f.Name, name) || strings.HasPrefix(name, f.Name) {
			d = min(d, 1)
		}
		if !f.Hidden && d <= tolerated(name) {
			away["--"+f.Name] = d
			near = append(near, "--"+f.Name)
		}
	})
	slices.SortFunc(near, func(a, b string) int { return cmp.Or(cmp.Compare(away[a], away[b]), strings.Compare(a, b)) })
	return near[:min(most, len(near))]
}

// nearCommands are the commands with a name near to one that is not there, the
// nearest first.
func nearCommands(cmd *cobra.Command, name string) []string {
	name = strings.ToLower(name)
	away := map[string]int{}
	var near []string
	for _, c := range cmd.Commands() {
		d := distance(name, c.Name())
		if strings.HasPrefix(c.Name(), name) {
			d = 0
		}
		if c.IsAvailableCommand() && d <= tolerated(name) {
			away[c.Name()] = d
			near = append(near, c.Name())
		}
	}
	slices.SortFunc(near, func(a, b string) int { return cmp.Or(cmp.Compare(away[a], away[b]), strings.Compare(a, b)) })
	return near
}

// tolerated is how far a name may be from the one that is meant.
func tolerated(name string) int {
	if len(name) < 5 {
		return 1
	}
	return 2
}

// distance is the number of letters to insert, delete or replace to get from a to b;
// two that are swapped count as one.
func distance(a, b string) int {
	rows := [][]int{make([]int, len(b)+1)}
	for k := range rows[0] {
		rows[0][k] = k
	}
	for i := range len(a) {
		row := make([]int, len(b)+1)
		row[0] = i + 1
		for k := range len(b) {
			row[k+1] = min(rows[i][k+1], row[k]) + 1
			if a[i] == b[k] {
				row[k+1] = min(row[k+1], rows[i][k])
			} else {
				row[k+1] = min(row[k+1], rows[i][k]+1)
			}
			if i > 0 && k > 0 && a[i] == b[k-1] && a[i-1] == b[k] {
				row[k+1] = min(row[k+1], rows[i-1][k-1]+1)
			}
		}
		rows = append(rows, row)
	}
	return rows[len(a)][len(b)]
}

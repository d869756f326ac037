package cli

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"stig/checkpoint"
	"stig/internal/beads"
	"stig/internal/workspace"
)

// span is a flag value for a duration in the units of checkpoint.ParseSpan.
type span time.Duration

func (s *span) String() string { return time.Duration(*s).String() }
func (s *span) Type() string   { return "span" }

func (s *span) Set(text string) error {
	d, err := checkpoint.ParseSpan(text)
	*s = span(d)
	return err
}

// SpanVar binds a flag for a duration such as 90s, 10m, 24h, 7d or 2w.
func SpanVar(flags *pflag.FlagSet, d *time.Duration, name, usage string) {
	flags.Var((*span)(d), name, usage)
	flags.Lookup(name).DefValue = "" // omit the default 0s in the help
}

// oneLine is a flag value for comma-separated texts that rejects line breaks: pflag would use
// only the first line.
type oneLine struct {
	pflag.Value
	pflag.SliceValue
}

func (v oneLine) Set(text string) error {
	if strings.ContainsAny(text, "\r\n") {
		return errors.New("must be one line of comma-separated values")
	}
	return v.Value.Set(text)
}

// SingleLine makes list flags reject values with more than one line.
func SingleLine(cmd *cobra.Command, names ...string) {
	for _, name := range names {
		f := cmd.Flags().Lookup(name)
		f.Value, f.DefValue = oneLine{f.Value, f.Value.(pflag.SliceValue)}, "" // omit the default [] in the help
	}
}

// filter is the annotation of a flag that must not be empty.
const filter = "filter"

// Filters marks flags that narrow what a command works on. An empty value, as from an unset
// variable, would match everything.
func Filters(cmd *cobra.Command, names ...string) {
	for _, name := range names {
		cmd.Flags().Lookup(name).Annotations = map[string][]string{filter: nil}
	}
}

// EmptyFilter returns an error (fault.Usage) if a filter flag has an empty value.
func EmptyFilter(cmd *cobra.Command) (err error) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		values := []string{f.Value.String()}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		if _, filters := f.Annotations[filter]; filters && (len(values) == 0 || slices.Contains(values, "")) {
			err = workspace.Usage("--"+f.Name+": must not be empty", "leave it out, or give it a value")
		}
	})
	return err
}

// flagError returns a usage error for invalid flags.
func flagError(cmd *cobra.Command, err error) error {
	if wrong, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		return workspace.Usage(fmt.Sprintf("--%s: %s; found %q", wrong.GetFlag().Name, wanted(wrong), wrong.GetValue()), "")
	}
	if missing, ok := errors.AsType[*pflag.ValueRequiredError](err); ok {
		return workspace.Usage("--"+missing.GetFlag().Name+": a value is missing", "")
	}
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok {
		return workspace.Usage(err.Error(), "")
	}
	name, dashes := unknown.GetSpecifiedName(), "--"
	if unknown.GetSpecifiedShortnames() != "" {
		dashes = "-"
	}
	elsewhere := Elsewhere()
	if here := elsewhere[Called(cmd)+" "+dashes+name]; here != "" {
		return workspace.Usage(err.Error(), "type "+here)
	}
	for here := range strings.FieldsSeq(elsewhere["* "+dashes+name]) {
		if cmd.Flag(here[2:]) != nil {
			return workspace.Usage(err.Error(), "did you mean "+here+"?")
		}
	}
	if near := nearest(name, flagsOf(cmd)); len(near) > 0 && dashes == "--" {
		return workspace.Usage(err.Error(), "did you mean --"+strings.Join(near, ", --")+"?")
	}
	return workspace.Usage(err.Error(), "")
}

// wanted returns what the value of a flag must be.
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

// nearest returns up to three of names that are similar to name, nearest first: those that name
// is a prefix of, and those at most two edits away.
func nearest(name string, names []string) []string {
	const most = 3
	name = strings.ToLower(name)
	away := map[string]int{}
	for _, other := range names {
		d := beads.Distance(name, other)
		if strings.HasPrefix(other, name) {
			d = 0
		}
		if d < 2 || d == 2 && len(name) > 4 {
			away[other] = d
		}
	}
	near := slices.Collect(maps.Keys(away))
	slices.SortFunc(near, func(a, b string) int { return cmp.Or(cmp.Compare(away[a], away[b]), strings.Compare(a, b)) })
	return near[:min(most, len(near))]
}

// flagsOf and commandsOf return the names of a command's visible flags and subcommands.
func flagsOf(cmd *cobra.Command) (names []string) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	return names
}

func commandsOf(cmd *cobra.Command) (names []string) {
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	return names
}

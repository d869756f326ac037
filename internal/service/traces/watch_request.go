package traces

import (
	"fmt"
	"slices"
	"strings"

	"stig/dag"
	"stig/internal/beads"
	"stig/internal/trace"
	"stig/internal/workspace"
)

// WatchRequest says which events to report: those that match all given conditions.
type WatchRequest struct {
	IDs    []string // of these issues
	Events []string // with these names
	Types  []string // only traces of these types
	Roles  []string // traces for one of these roles, or that need one
	To     []string // traces for one of these actors, or for @all
	Labels []string // of issues with all of these labels
	Epic   string   // of this issue and those within it
	As     string   // name under which to remember what was reported
	Anew   bool     // forget what is remembered under that name
	Until  string   // end after an event with this name

	Begun func() error // called once, when every later event will be reported; may be nil
}

// check rejects conditions that no event can match, and expands ids.
func (r *WatchRequest) check(file *beads.Snapshot) error {
	for _, name := range append(slices.Clone(r.Events), r.Until) {
		if name != "" && !slices.Contains(EventNames(), name) {
			return workspace.Usage(fmt.Sprintf("event: must be one of %s; found %q", strings.Join(EventNames(), ", "), name), "")
		}
	}
	for _, name := range r.Types {
		if _, known := trace.KindOf(name); !known && name != trace.Comment {
			return workspace.Usage(fmt.Sprintf("--type: must be one of %s; found %q", strings.Join(append(trace.Types(), trace.Comment), ", "), name), "")
		}
	}
	if len(r.Events) > 0 && r.Until != "" && !slices.Contains(r.Events, r.Until) {
		return workspace.Usage(fmt.Sprintf("--until %s: not one of the watched events", r.Until), "add --event "+r.Until)
	}
	if r.Anew && r.As == "" {
		return workspace.Usage("--anew: goes with --as NAME", "")
	}
	r.IDs = slices.Clone(r.IDs)
	for i, id := range r.IDs {
		issue, err := file.Find(id)
		if err != nil {
			return err
		}
		r.IDs[i] = issue.ID
	}
	if r.Epic != "" {
		issue, err := file.Find(r.Epic)
		if err != nil {
			return err
		}
		r.Epic = issue.ID
	}
	return nil
}

// pick returns the matching events.
func (r WatchRequest) pick(events []Event, file *beads.Snapshot, graph *dag.Graph) (picked []Event, err error) {
	within := r.within(file, graph)
	for _, e := range events {
		fits := r.fits(e) && (within == nil || within[e.ID])
		if fits && len(r.Labels) > 0 {
			if fits, err = r.labelled(e.ID, file); err != nil {
				return nil, err
			}
		}
		if fits {
			picked = append(picked, e)
		}
	}
	return picked, nil
}

func (r WatchRequest) fits(e Event) bool {
	traces := len(r.Types)+len(r.Roles)+len(r.To) > 0
	switch {
	case len(r.Events) > 0 && !slices.Contains(r.Events, e.Event):
		return false
	case e.Event == EventSwitched:
		return !traces
	case e.InSwitch && len(r.IDs) == 0:
		return false // the switch was reported
	case len(r.IDs) > 0 && !slices.Contains(r.IDs, e.ID):
		return false
	case !traces:
		return true
	case e.Event != EventLeft:
		return false
	}
	shares := func(with ...[]string) bool {
		return slices.ContainsFunc(slices.Concat(with...), func(name string) bool {
			return slices.Contains(r.Roles, name) || slices.Contains(r.To, name) || name == "@all"
		})
	}
	return (len(r.Types) == 0 || slices.Contains(r.Types, e.Type)) &&
		(len(r.Roles)+len(r.To) == 0 || shares(e.To, e.Needs))
}

// within returns the ids of the epic and what it contains; nil for no epic.
func (r WatchRequest) within(file *beads.Snapshot, graph *dag.Graph) map[string]bool {
	if r.Epic == "" {
		return nil
	}
	within := map[string]bool{r.Epic: true, "": true}
	if at, ok := file.Index(r.Epic); ok {
		for _, i := range graph.Inside(at) {
			within[file.At(i).ID] = true
		}
	}
	return within
}

func (r WatchRequest) labelled(id string, file *beads.Snapshot) (bool, error) {
	at, ok := file.Index(id)
	if !ok {
		return false, nil
	}
	record, err := file.At(at).Record()
	if err != nil {
		return false, err
	}
	has := record.Labels()
	return !slices.ContainsFunc(r.Labels, func(l string) bool { return !slices.Contains(has, l) }), nil
}

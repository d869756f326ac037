package traces

import (
	"fmt"

	"stig/internal/beads"
	"stig/internal/fault"
	"stig/internal/visible"
	"stig/internal/workspace"
	"stig/orient"
)

// RecallLimit is the default number of results of recall.
const RecallLimit = 5

// RecallRequest asks what the whole store knows about words, or about the subject of an issue.
type RecallRequest struct {
	Words string
	Like  string // id of an issue, instead of words
	Limit int    // at most this many; 0 for all
}

// Recalled is what the store knows, best match first.
type Recalled struct {
	Known  []orient.Known `json:"known"`
	Total  int            `json:"total"`  // including those beyond the limit
	Unread []Unread       `json:"unread"` // unreadable parts of the store, which may contain more
}

// Unread is a part of the store that could not be read.
type Unread struct {
	Line    int    `json:"line"`
	Message string `json:"message"`
}

// Recall searches what the store knows. If it finds nothing in a store that was not fully
// readable it returns an error (fault.Store), since there may be something.
func Recall(a *workspace.Run, r RecallRequest) (*Recalled, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	file, err := a.Open()
	if err != nil {
		return nil, err
	}
	defer file.Close()
	out := &Recalled{Unread: []Unread{}}
	for _, p := range file.Problems() {
		if p.Rule != beads.DuplicateID {
			out.Unread = append(out.Unread, Unread{p.Line, p.Message})
		}
	}
	out.Known, out.Total, err = orient.Recall(file, orient.RecallRequest{Words: r.Words, Like: r.Like, Limit: r.Limit, Least: orient.Least})
	if err == nil && out.Total == 0 && len(out.Unread) > 0 {
		err = &fault.Error{Code: fault.Store, Hint: "type stig vet to see why; retry when it is fixed",
			Reason: fmt.Sprintf("nothing found, but %s of the store could not be read", visible.Counted(len(out.Unread), "place"))}
	}
	return out, err
}

func (r RecallRequest) check() error {
	const example = "type for example stig recall tide gauge"
	switch {
	case r.Limit < 0:
		return workspace.Usage(fmt.Sprintf("--limit: must not be negative; found %d", r.Limit), "")
	case r.Words != "" && r.Like != "":
		return workspace.Usage("--like and words cannot be used together", "omit one of them")
	case r.Words == "" && r.Like == "":
		return workspace.Usage("neither words nor --like given", example)
	case r.Like == "" && orient.Ask(orient.Field{Text: r.Words, Weight: 1}).Empty():
		return workspace.Usage(fmt.Sprintf("must be words that say what it is about; found %q", r.Words), example)
	}
	return nil
}

package board

import (
	"net/url"
	"time"
)

// lane is an epic with the issues in it, by column. The lane without an id has the issues
// without an epic.
type lane struct {
	ID, Title     string
	Closed, Total int // children of the epic
	Cells         []cell
}

// cell is the issues of a lane in one column.
type cell struct {
	Column column
	Cards  []row
	More   string // address of a list with those that are not shown; "" if all are
	Left   int    // how many are not shown
}

// wall is the data of the columns.
type wall struct {
	Heads []head
	Lanes []*lane
	Left  int // epics that are not shown
}

type head struct {
	Column column
	Count  int
}

// Limits of the columns, so that the page stays small.
const (
	mostLanes = 30
	mostCards = 6 // in a cell
	allCards  = 150
)

// lately is for how long closed issues stay in the columns.
const lately = 7 * 24 * time.Hour

// wallOf arranges the matching issues by epic and column; all has the epics of the store.
func (v *view) wallOf(list []row, all *standings) wall {
	w, at := wall{}, map[string]*lane{}
	counts := map[column]int{}
	room := allCards
	none := &lane{Cells: v.cells("")}
	for _, r := range list {
		if r.Stands.Column == "" || r.Stands.Column == columnClosed && v.now.Sub(r.updated) > lately {
			continue
		}
		in := at[r.Stands.Epic]
		switch epic, known := all.Epics[r.Stands.Epic]; {
		case in != nil:
		case !known:
			in = none
		default:
			in = &epic
			in.Cells = v.cells(epic.ID)
			at[epic.ID] = in
			if len(w.Lanes) == mostLanes {
				w.Left++
			} else {
				w.Lanes = append(w.Lanes, in)
			}
		}
		counts[r.Stands.Column]++
		for k := range in.Cells {
			c := &in.Cells[k]
			switch {
			case c.Column != r.Stands.Column:
			case len(c.Cards) < mostCards && room > 0:
				c.Cards = append(c.Cards, r)
				room--
			default:
				c.Left++
			}
		}
	}
	w.Lanes = append(w.Lanes, none)
	for _, c := range columns() {
		w.Heads = append(w.Heads, head{c, counts[c]})
	}
	return w
}

// cells returns the empty cells of a lane.
func (v *view) cells(epic string) (list []cell) {
	for _, c := range columns() {
		query := url.Values{"state": {string(c)}}
		if epic != "" {
			query.Set("parent", epic)
		}
		list = append(list, cell{Column: c, More: "/issues?" + query.Encode()})
	}
	return list
}

// IsEmpty reports whether a lane has no issues in any column.
func (l *lane) IsEmpty() bool {
	for _, c := range l.Cells {
		if len(c.Cards)+c.Left > 0 {
			return false
		}
	}
	return true
}

package board

import (
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"stig/dag"
	"stig/internal/service"
	"stig/internal/workspace"
)

// perPage is the number of rows on a page.
const perPage = 50

// row is an issue in a list.
type row struct {
	ID, Title, Type, Assignee, Excerpt string
	Priority                           int
	Stands                             standing

	updated time.Time
}

// rows is the data of a page of the list.
type rows struct {
	List           []row
	Total          int
	At             time.Time // when the search began; zero while the first one runs
	Old            bool      // another search is running
	Earlier, Later string    // addresses; "" if there is none
	Ranked         bool      // sorted by relevance, whatever the sort key
	Wall           *wall     // the columns, in place of the list; nil for the list
	Edited         *draft    // the row that is a form; nil for none
}

// issues is the page of the issues that match the filters of the query, or its words: as a
// list, or in columns.
func issues(v *view) (page, error) {
	p := page{Title: "Issues", Section: "Issues", Finds: true}
	last, wrong := looked(v, "matching "+v.query.Encode(), longer, true, (*view).found)
	menus, err := v.menus()
	if err != nil {
		return p, err
	}
	p.Parts = []part{v.part("filters", menus)} // stays on the page if the filters are invalid
	if wrong != nil {
		return p, wrong
	}
	if v.MayAll() && v.query.Get("new") != "" {
		p.Parts = append(p.Parts, v.part("create", v.blank(menus)))
	}
	found := last.Value
	found.At, found.Old = last.At, last.Old
	if found.Edited, err = v.edited(); err != nil {
		return p, err
	}
	p.Parts = append(p.Parts, v.part("rows", found))
	return p, nil
}

// IsWall reports whether the query asks for columns.
func (v *view) IsWall() bool { return v.query.Get("as") == "columns" }

// found returns the matching issues: all of them in columns, or a page of the list.
func (v *view) found() (rows, error) {
	state := v.query.Get("state")
	if state != "" && state != string(columnWaits) && !slices.Contains(states(), state) {
		return rows{}, workspace.Usage("state: must be one of "+strings.Join(states(), ", ")+"; found "+strconv.Quote(state), "choose a state in the menu")
	}
	list, total, err := v.matching()
	if err != nil {
		return rows{}, err
	}
	all, err := v.standings()
	if err != nil {
		return rows{}, err
	}
	for i := range list {
		list[i].Stands = all.Of[list[i].ID]
	}
	if state != "" {
		list = slices.DeleteFunc(list, func(r row) bool { return !r.Stands.Is(state) })
		total = len(list)
	}
	found := rows{Total: total, Ranked: strings.TrimSpace(v.query.Get("q")) != ""}
	if v.IsWall() {
		found.Wall = new(v.wallOf(list, all))
		return found, nil
	}
	from, err := strconv.Atoi(v.query.Get("from"))
	if err != nil || from < 0 {
		from = 0
	}
	if from >= len(list) { // there are fewer now: show the last page
		from = max(0, (len(list)-1)/perPage*perPage)
	}
	found.List = slices.Clone(list[from:min(from+perPage, len(list))]) // the result is cached
	if from > 0 {
		found.Earlier = v.at("from", strconv.Itoa(max(0, from-perPage)))
	}
	if from+perPage < len(list) {
		found.Later = v.at("from", strconv.Itoa(from+perPage))
	}
	return found, nil
}

// at returns the address of this page with one parameter replaced; without it if value is "".
func (v *view) at(name, value string) string {
	query := url.Values{}
	maps.Copy(query, v.query)
	if query.Set(name, value); value == "" {
		query.Del(name)
	}
	return (&url.URL{Path: "/" + strings.Join(v.path, "/"), RawPath: v.raw, RawQuery: query.Encode()}).RequestURI()
}

// listed returns the comma-separated values of a filter.
func (v *view) listed(name string) (values []string) {
	for value := range strings.SplitSeq(v.query.Get(name), ",") {
		if value = strings.TrimSpace(value); value != "" {
			values = append(values, value)
		}
	}
	return values
}

// mostHits limits the issues found by words; the best come first.
const mostHits = 500

// matching returns the issues that match the query, whatever their state, and how many do.
func (v *view) matching() (list []row, total int, err error) {
	q := v.query
	closed := q.Get("all") != "" || v.IsWall() || q.Get("state") == string(columnClosed) || q.Get("state") == string(columnLand)
	request := service.ListRequest{All: new(closed), Sort: q.Get("sort"), Parent: q.Get("parent"), Since: q.Get("since"), View: q.Get("view"), Limit: new(0)}
	request.Status, request.Types, request.Assignees, request.Labels = v.listed("status"), v.listed("type"), v.listed("assignee"), v.listed("label")
	if words := q.Get("q"); strings.TrimSpace(words) != "" {
		hits, total, err := service.Search(v.Run, service.SearchRequest{Words: words, Among: &request, Limit: mostHits})
		for _, h := range hits {
			list = append(list, row{ID: h.ID, Title: h.Title, Type: h.IssueType, Assignee: h.Assignee, Priority: h.Priority, Excerpt: h.Excerpt, updated: h.Updated})
		}
		return list, total, err
	}
	found, err := service.List(v.Run, request)
	if err != nil {
		return nil, 0, err
	}
	for _, r := range found.Rows {
		list = append(list, row{ID: r.ID, Title: r.Title, Type: r.IssueType, Assignee: r.Assignee, Priority: r.Priority, updated: r.Updated})
	}
	return list, found.Total, nil
}

// menus is the data of the filters: what exists in the store.
type menus struct {
	Query            url.Values
	Types, Assignees []string
	Labels, States   []string
	Sorts            []string
	Epics            []Epic // the unclosed ones
	Views            []saved
	View             string // the saved view that is shown; "" for none
	Kept             string // the query that a saved view has
}

// saved is a view of the clone or of the configuration, which has a name.
type saved struct{ Name, Address string }

// mostChoices limits a menu.
const mostChoices = 200

// menus returns the filters. Labels take a reading of all lines, so they may come later.
func (v *view) menus() (menus, error) {
	type choices struct{ Types, Assignees, Labels []string }
	last, err := looked(v, "choices", longer, false, func(v *view) (c choices, err error) {
		for by, to := range map[string]*[]string{"type": &c.Types, "assignee": &c.Assignees, "label": &c.Labels} {
			counted, err := service.Count(v.Run, service.ListRequest{}, by)
			if err != nil {
				return c, err
			}
			for _, g := range counted.Groups {
				if g.Group != "" && !strings.HasPrefix(g.Group, "(") && isPlain(g.Group) && len(*to) < mostChoices {
					*to = append(*to, g.Group)
				}
			}
		}
		return c, nil
	})
	m := menus{Query: v.query, Types: last.Value.Types, Assignees: last.Value.Assignees, Labels: last.Value.Labels, Sorts: service.SortKeys(), States: states(), Kept: v.keptQuery()}
	if err != nil {
		return m, err
	}
	if m.Epics, err = v.epics(); err != nil {
		return m, err
	}
	return m, v.savedViews(&m)
}

// isPlain reports whether a text has no hidden characters, so that a form can contain it as it
// is.
func isPlain(text string) bool { return workspace.Visible(text) == text }

// epics returns the unclosed epics.
func (v *view) epics() ([]Epic, error) {
	return kept(v, "epics", longer, func(v *view) (list []Epic, err error) {
		file, err := v.Open()
		if err != nil {
			return nil, err
		}
		defer file.Close()
		graph := dag.New(file)
		for _, i := range graph.Epics() {
			if graph.Lasting(i) && !graph.Closed(i) && isPlain(file.At(i).ID) && len(list) < mostChoices {
				list = append(list, Epic{file.At(i).ID, file.At(i).Title})
			}
		}
		return list, nil
	})
}

// menu is one menu of the filters.
type menu struct {
	Name, Label, Any, At string
	Values               []string
}

// Menu returns the menu of a parameter; none is the choice of every value.
func (m menus) Menu(name, none string, values []string) menu {
	at := m.Query.Get(name)
	return menu{name, name, none, at, m.Choices(values, at)}
}

// EpicsWith returns the epics, with the chosen one if it is not among them.
func (m menus) EpicsWith(chosen string) []Epic {
	if chosen == "" || slices.ContainsFunc(m.Epics, func(e Epic) bool { return e.ID == chosen }) {
		return m.Epics
	}
	return append([]Epic{{ID: chosen, Title: chosen}}, m.Epics...)
}

// Hidden lists the parameters of the query that have no menu.
func (m menus) Hidden() (names []string) {
	for _, name := range []string{"status", "since", "all", "view"} {
		if m.Query.Get(name) != "" {
			names = append(names, name)
		}
	}
	return names
}

// AsList, AsWall, WithForm and Editing return the address of this page in another form.
func (v *view) AsList() string           { return v.at("as", "") }
func (v *view) AsWall() string           { return v.at("as", "columns") }
func (v *view) WithForm() string         { return v.at("new", "yes") }
func (v *view) Editing(id string) string { return v.at("edit", id) }

// Choices returns the values of a menu, with the chosen one if it is not among them.
func (m menus) Choices(values []string, chosen string) []string {
	if chosen != "" && !slices.Contains(values, chosen) {
		return append([]string{chosen}, values...)
	}
	return values
}

// keptQuery returns the query of the page without what is not part of a view.
func (v *view) keptQuery() string {
	query := url.Values{}
	for name, values := range v.query {
		if !slices.Contains([]string{"from", "new", "edit", "whole"}, name) && values[0] != "" {
			query[name] = values
		}
	}
	return query.Encode()
}

// IsFiltered reports whether the query leaves out issues.
func (v *view) IsFiltered() bool {
	kept := v.keptQuery()
	return kept != "" && kept != "as=columns"
}

// savedViews adds the views of the clone, and those of the configuration.
func (v *view) savedViews(m *menus) error {
	place, err := v.LivePlace()
	if err != nil {
		return err
	}
	own, err := place.Views()
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(own)) {
		if own[name] == m.Kept {
			m.View = name
		}
		m.Views = append(m.Views, saved{name, "/issues?" + own[name]})
	}
	for _, name := range slices.Sorted(maps.Keys(v.Config.Views)) {
		m.Views = append(m.Views, saved{name, "/issues?view=" + url.QueryEscape(name)})
	}
	return nil
}

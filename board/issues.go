package board

import (
	"net/url"
	"strconv"
	"strings"

	"stig/app"
)

// perPage is how many rows a list shows at once.
const perPage = 100

// row is an issue in a list.
type row struct {
	ID, Title, Status, Type, Assignee, Excerpt string
	Priority                                   int
}

// rows are those of a page of a list.
type rows struct {
	List           []row
	Total, First   int
	Earlier, Later string // addresses, "" for none
	Filters        url.Values
	Sorts          []string
}

// issues lists the issues that match the filters in the address, or searches for words.
func issues(v *view) (page, error) {
	p := page{Title: "Issues", Section: "Issues"}
	found := rows{Filters: v.query, Sorts: app.SortKeys()}
	from, err := strconv.Atoi(v.query.Get("from"))
	if err != nil || from < 0 {
		from = 0
	}
	all, err := v.matching()
	if err != nil {
		return p, err
	}
	found.Total, found.First = len(all), min(from, len(all))
	found.List = all[found.First:min(len(all), found.First+perPage)]
	if from > 0 {
		found.Earlier = v.at("from", strconv.Itoa(max(0, from-perPage)))
	}
	if found.First+perPage < len(all) {
		found.Later = v.at("from", strconv.Itoa(from+perPage))
	}
	p.Parts = []part{v.part("filters", found), v.part("rows", found)}
	return p, nil
}

// at is the address of this page with another value of a filter.
func (v *view) at(name, value string) string {
	query := url.Values{}
	for k, values := range v.query {
		query[k] = values
	}
	query.Set(name, value)
	return "/" + strings.Join(v.path, "/") + "?" + query.Encode()
}

// matching are the issues that the address asks for.
func (v *view) matching() (list []row, err error) {
	if words := v.query.Get("q"); strings.TrimSpace(words) != "" {
		hits, _, err := v.Search(app.SearchRequest{Words: words, Open: v.query.Get("all") == ""})
		for _, h := range hits {
			list = append(list, row{ID: h.ID, Title: h.Title, Status: h.Status, Priority: h.Priority, Excerpt: h.Excerpt})
		}
		return list, err
	}
	request := app.ListRequest{All: v.query.Get("all") != "", Sort: v.query.Get("sort"), Parent: v.query.Get("parent"), Since: v.query.Get("since")}
	for name, values := range map[string]*[]string{"status": &request.Status, "type": &request.Types, "assignee": &request.Assignees, "label": &request.Labels} {
		if value := v.query.Get(name); value != "" {
			*values = strings.Split(value, ",")
		}
	}
	found, _, err := v.List(request)
	for _, r := range found {
		list = append(list, row{ID: r.ID, Title: r.Title, Status: r.Status, Type: r.IssueType, Assignee: r.Assignee, Priority: r.Priority})
	}
	return list, err
}

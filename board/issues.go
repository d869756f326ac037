package board

import (
	"net/url"
	"strconv"
	"strings"
	"time"

	"stig/app"
)

// perPage is how many rows a list shows at once.
const perPage = 50

// row is an issue in a list.
type row struct {
	ID, Title, Status, Type, Assignee, Excerpt string
	Priority                                   int
}

// rows are those of a page of a list.
type rows struct {
	List           []row
	Total          int
	At             time.Time // when they were looked for; zero while they are
	Old            bool      // they are being looked for again
	Earlier, Later string    // addresses, "" for none
	Filters        url.Values
	Sorts          []string
}

// issues lists the issues that match the filters in the address, or searches for words.
func issues(v *view) (page, error) {
	p := page{Title: "Issues", Section: "Issues"}
	found := rows{Filters: v.query, Sorts: app.SortKeys()}
	from, err := strconv.Atoi(v.query.Get("from"))
	if err != nil || from < 0 || from > 1<<30 {
		from = 0
	}
	type hits struct {
		list  []row
		total int
	}
	last, err := looked(v, "matching "+v.query.Encode(), longer, true, func(v *view) (hits, error) {
		list, total, err := v.matching(from)
		return hits{list, total}, err
	})
	if err != nil {
		return p, err
	}
	all := last.Value
	found.Total, found.List, found.At, found.Old = all.total, all.list, last.At, last.Old
	if from > 0 {
		found.Earlier = v.at("from", strconv.Itoa(max(0, from-perPage)))
	}
	if from+perPage < all.total {
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
	return (&url.URL{Path: "/" + strings.Join(v.path, "/"), RawPath: v.raw, RawQuery: query.Encode()}).RequestURI()
}

// matching are the issues that the address asks for, from one on, and how many there are.
func (v *view) matching(from int) (list []row, total int, err error) {
	if words := v.query.Get("q"); strings.TrimSpace(words) != "" {
		hits, total, err := v.Search(app.SearchRequest{Words: words, Open: v.query.Get("all") == "", Limit: from + perPage})
		for _, h := range hits[min(from, len(hits)):] {
			list = append(list, row{ID: h.ID, Title: h.Title, Status: h.Status, Priority: h.Priority, Excerpt: h.Excerpt})
		}
		return list, total, err
	}
	request := app.ListRequest{All: v.query.Get("all") != "", Sort: v.query.Get("sort"), Parent: v.query.Get("parent"), Since: v.query.Get("since"), Limit: from + perPage}
	for name, values := range map[string]*[]string{"status": &request.Status, "type": &request.Types, "assignee": &request.Assignees, "label": &request.Labels} {
		if value := v.query.Get(name); value != "" {
			*values = strings.Split(value, ",")
		}
	}
	found, total, err := v.List(request)
	for _, r := range found[min(from, len(found)):] {
		list = append(list, row{ID: r.ID, Title: r.Title, Status: r.Status, Type: r.IssueType, Assignee: r.Assignee, Priority: r.Priority})
	}
	return list, total, err
}

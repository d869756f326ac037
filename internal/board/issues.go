package board

import (
	"maps"
	"net/url"
	"strconv"
	"strings"
	"time"

	"stig/internal/service"
)

// perPage is the number of rows on a page.
const perPage = 50

// row is an issue in a list.
type row struct {
	ID, Title, Status, Type, Assignee, Excerpt string
	Priority                                   int
}

// rows is the data of a page of the list.
type rows struct {
	List           []row
	Total          int
	At             time.Time // when the search began; zero while the first one runs
	Old            bool      // another search is running
	Earlier, Later string    // addresses; "" if there is none
	Filters        url.Values
	Sorts          []string
	Ranked         bool // sorted by relevance, whatever the sort key
}

// issues is the page of the issues that match the filters of the query, or its words.
func issues(v *view) (page, error) {
	p := page{Title: "Issues", Section: "Issues"}
	found := rows{Filters: v.query, Sorts: service.SortKeys(), Ranked: strings.TrimSpace(v.query.Get("q")) != ""}
	p.Parts = []part{v.part("filters", found)} // stays on the page if the filters are invalid
	from, err := strconv.Atoi(v.query.Get("from"))
	if err != nil || from < 0 || from > 1<<30 {
		from = 0
	}
	type hits struct {
		list        []row
		from, total int
	}
	last, err := looked(v, "matching "+v.query.Encode(), longer, true, func(v *view) (hits, error) {
		list, total, err := v.matching(from)
		at := from
		if err == nil && from >= total && total > 0 { // there are fewer now: show the last page
			at = (total - 1) / perPage * perPage
			list, total, err = v.matching(at)
		}
		return hits{list, at, total}, err
	})
	if err != nil {
		return p, err
	}
	all := last.Value
	found.Total, found.List, found.At, found.Old = all.total, all.list, last.At, last.Old
	if all.from > 0 {
		found.Earlier = v.at("from", strconv.Itoa(max(0, all.from-perPage)))
	}
	if all.from+perPage < all.total {
		found.Later = v.at("from", strconv.Itoa(all.from+perPage))
	}
	p.Parts = append(p.Parts, v.part("rows", found))
	return p, nil
}

// at returns the address of this page with one parameter replaced.
func (v *view) at(name, value string) string {
	query := url.Values{}
	maps.Copy(query, v.query)
	query.Set(name, value)
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

// matching returns one page of the issues that match the query, starting at from, and their
// total.
func (v *view) matching(from int) (list []row, total int, err error) {
	request := service.ListRequest{All: new(v.query.Get("all") != ""), Sort: v.query.Get("sort"), Parent: v.query.Get("parent"), Since: v.query.Get("since"), Limit: new(from + perPage)}
	request.Status, request.Types, request.Assignees, request.Labels = v.listed("status"), v.listed("type"), v.listed("assignee"), v.listed("label")
	if words := v.query.Get("q"); strings.TrimSpace(words) != "" {
		hits, total, err := service.Search(v.Run, service.SearchRequest{Words: words, Among: &request, Limit: from + perPage})
		for _, h := range hits[min(from, len(hits)):] {
			list = append(list, row{ID: h.ID, Title: h.Title, Status: h.Status, Type: h.IssueType, Assignee: h.Assignee, Priority: h.Priority, Excerpt: h.Excerpt})
		}
		return list, total, err
	}
	found, err := service.List(v.Run, request)
	if err != nil {
		return nil, 0, err
	}
	for _, r := range found.Rows[min(from, len(found.Rows)):] {
		list = append(list, row{ID: r.ID, Title: r.Title, Status: r.Status, Type: r.IssueType, Assignee: r.Assignee, Priority: r.Priority})
	}
	return list, found.Total, nil
}

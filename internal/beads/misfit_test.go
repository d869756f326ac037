package beads

import (
	"fmt"
	"strings"
	"testing"
)

// Each kind has a value that programs accept and one that they reject.
func TestMisfits(t *testing.T) {
	for values, want := range map[string]string{
		`"pinned":true,"is_template":false,"ephemeral":false`: "",
		`"pinned":1`:         `"pinned" must be true or false; found 1`,
		`"is_template":0`:    `"is_template" must be true or false; found 0`,
		`"ephemeral":"true"`: `"ephemeral" must be true or false; found a string`,
		`"no_history":{}`:    `"no_history" must be true or false; found an object`,
		`"pinned":null`:      `"pinned" must be true or false; found null`,
		`"estimated_minutes":90,"compaction_level":0,"timeout":3600000000000,"quality_score":0.5`: "",
		`"estimated_minutes":1.5`:                      `"estimated_minutes" must be a whole number; found 1.5`,
		`"estimated_minutes":"90"`:                     `"estimated_minutes" must be a whole number; found a string`,
		`"compaction_level":1e0`:                       `"compaction_level" must be a whole number; found 1e0`,
		`"original_size":3e9`:                          `"original_size" must be a whole number; found 3e9`,
		`"original_size":3000000000`:                   `"original_size" must be a whole number; found 3000000000`,
		`"comment_count":true`:                         `"comment_count" must be a whole number; found a boolean`,
		`"timeout":0.5`:                                `"timeout" must be a whole number; found 0.5`,
		`"quality_score":"high"`:                       `"quality_score" must be a number; found a string`,
		`"estimated_minutes":null,"timeout":null`:      "",
		`"labels":["a","b"],"waiters":[]`:              "",
		`"labels":["a",1,null]`:                        `"labels": element 2 must be a string; found 1, "labels": element 3 must be a string; found null`,
		`"labels":[1,2,3,4,5]`:                         `"labels": element 1 must be a string; found 1, "labels": element 2 must be a string; found 2, "labels": element 3 must be a string; found 3; 2 more`,
		`"labels":null`:                                `"labels" must be a list; found null`,
		`"waiters":"ann"`:                              `"waiters" must be a list; found a string`,
		`"waiters":[["ann"]]`:                          `"waiters": element 1 must be a string; found a list`,
		`"validations":{}`:                             `"validations" must be a list; found an object`,
		`"creator":"ann"`:                              `"creator" must be an object; found a string`,
		`"metadata":7,"mine":[1],"agent_context":"{}"`: "",
		`"title":null`:                                 `"title" must be a string; found null`,
		`"owner":null`:                                 "",
		`"notes":7,"due_at":5,"labels":"x"`:            "", // flaws
		`"p\u0069nned":1`:                              `"pinned" must be true or false; found 1`,

		`"due_at":"2026-11-01T00:00:00Z","created_at":"2026-11-01T00:00:00.123456789+05:30"`: "",
		`"due_at":"2026-11-01"`:               `"due_at" is not a time: "2026-11-01" (time)`,
		`"defer_until":"soon"`:                `"defer_until" is not a time: "soon" (time)`,
		`"created_at":"2026-11-01 00:00:00Z"`: `"created_at" is not a time: "2026-11-01 00:00:00Z" (time)`,
		`"last_activity":""`:                  `"last_activity" is not a time: "" (time)`,
		`"closed_at":null`:                    "",

		`"dependencies":[{"issue_id":"a","depends_on_id":"b","type":"blocks","created_at":"2026-11-01T00:00:00Z","created_by":null,"metadata":"{}"}]`: "",
		`"dependencies":["b",{"depends_on_id":"b","type":1}]`:                                             `dependency 2: "type" must be a string; found 1`,
		`"dependencies":[{"depends_on_id":"b","metadata":{}}]`:                                            `dependency 1: "metadata" must be a string; found an object`,
		`"dependencies":[{"depends_on_id":"b","created_at":"1 May"}]`:                                     `dependency 1: "created_at" is not a time: "1 May" (time)`,
		`"dependencies":[{"issue_id":"b","depends_on_id":"c"},{"issue_id":"\u0061","depends_on_id":"c"}]`: `dependency 1: "issue_id" is another issue: "b"`,
		`"comments":[{"issue_id":"a b"}]`:                                                                 `comment 1: "issue_id" is another issue: "a b"`,
		`"dependencies":[{"depends_on_id":7}]`:                                                            `dependency 1: "depends_on_id" must be a string; found 7`,

		`"comments":[{"id":7,"issue_id":"a","author":"ann","text":"x","created_at":"2026-11-01T00:00:00Z"},{"id":"018f3b9e-7C1d-7a52-9d3e-0123456789ab","text":"y"}]`: "",
		`"comments":[7,"x",null]`:                                        `comment 1 must be an object; found 7, comment 3 must be an object; found null`,
		`"comments":[{"id":"c-1"}]`:                                      `comment 1: "id" must be a whole number or a UUID; found "c-1"`,
		`"comments":[{"id":1.5}]`:                                        `comment 1: "id" must be a whole number or a UUID; found 1.5`,
		`"comments":[{"id":true}]`:                                       `comment 1: "id" must be a whole number or a UUID; found true`,
		`"comments":[{"id":"018f3b9e-7c1d-7a52-9d3e-0123456789ag"}]`:     `comment 1: "id" must be a whole number or a UUID; found "018f3b9e-7c1d-7a52-9d3e-0123456789ag"`,
		`"comments":[{"id":1,"author":{"name":"ann"},"text":"x"}]`:       `comment 1: "author" must be a string; found an object`,
		`"comments":[{"id":1,"author":"ann","text":"x","created_at":0}]`: `comment 1: "created_at" must be a string; found 0`,
	} {
		r, err := ParseRecord([]byte(`{"id":"a",` + values + `}`))
		if err != nil {
			t.Fatal(values, err)
		}
		var got []string
		for _, m := range r.Misfits() {
			if m.Time {
				m.Message = fmt.Sprint(m.Message, " (time)")
			}
			got = append(got, m.Message)
		}
		if said := strings.Join(got, ", "); said != want {
			t.Errorf("%s\n%s, want\n%s", values, said, want)
		}
	}
}

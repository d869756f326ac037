package orient

import (
	"slices"
	"strings"
	"testing"

	"stig/internal/beads"
	"stig/internal/trace"
)

// store returns a snapshot of the lines.
func store(t *testing.T, lines ...string) *beads.Snapshot {
	t.Helper()
	content := strings.Join(lines, "\n") + "\n"
	file, err := beads.NewSnapshot(beads.Place{Path: "issues.jsonl"}, beads.Source{Lines: strings.NewReader(content), Size: int64(len(content))})
	if err != nil {
		t.Fatal(err)
	}
	return file
}

const found = `finding: The office prints twelve months in advance\n\nThere is no feed.\n\nstig: finding/1`

func harbour(t *testing.T) *beads.Snapshot {
	return store(t,
		`{"id":"h-1","title":"Show the almanac","status":"closed","close_reason":"The table is copied by hand. The moon is left out.","comments":[{"id":1,"author":"bo","text":"`+found+`"},{"id":2,"author":"bo","text":"the printer was out of ink"}]}`,
		`{"id":"h-2","title":"Compute the tide","status":"open","description":"From the moon alone. It is not known how the moon pulls, and who could say it."}`,
		`{"id":"h-3","title":"Read the gauge","status":"closed","notes":"Ask the keeper first.\n\n<!-- checkpoint-context -->\n\n## State estimate (2026-11-01)\n\nDone: the serial line needs 9600 baud.\n\n<!-- /checkpoint-context -->\n"}`,
		`{"id":"h-4","title":"Gone moon","status":"tombstone","description":"The moon, the moon."}`,
		`{"_type":"memory","key":"printer","value":"The harbour master has the only key to the printer room."}`,
		`{"id":"h-5","title":"Twice","status":"closed","description":"an old sextant"}`,
		`{"id":"h-5","title":"Twice","status":"closed","description":"the newer compass"}`,
	)
}

// TestRecall checks what is searched, and which passage is shown.
func TestRecall(t *testing.T) {
	tests := []struct {
		words    string
		ids      string
		from     string
		passage  string
		title    string
		withName bool
	}{
		{words: "by hand or not?", ids: "h-1", from: "close_reason", passage: "The table is copied by hand.", title: "Show the almanac"},
		{words: "is there a feed", ids: "h-1", from: "finding", passage: "There is no feed.", title: "Show the almanac", withName: true},
		{words: "ink", ids: "h-1", from: "comment", passage: "the printer was out of ink", title: "Show the almanac"},
		{words: "printer key", ids: "printer h-1", from: "memory", passage: "The harbour master has the only key to the printer room."},
		{words: "serial line", ids: "h-3", from: "checkpoint", passage: "Done: the serial line needs 9600 baud.", title: "Read the gauge"},
		{words: "keeper", ids: "h-3", from: "notes", passage: "Ask the keeper first.", title: "Read the gauge"},
		{words: "the moon", ids: "h-2 h-1", from: "description", passage: "From the moon alone.", title: "Compute the tide"},                                                    // tombstones are excluded
		{words: "tides", ids: "h-2", from: "description", passage: "From the moon alone. It is not known how the moon pulls, and who could say it.", title: "Compute the tide"}, // only the title matches
		{words: "sextant"},
		{words: "compass", ids: "h-5", from: "description", passage: "the newer compass", title: "Twice"},
		{words: "anchor"},
	}
	file := harbour(t)
	for _, test := range tests {
		list, total, err := Recall(file, RecallRequest{Words: test.words})
		var ids []string
		for _, k := range list {
			ids = append(ids, k.ID)
		}
		if err != nil || strings.Join(ids, " ") != test.ids || total != len(ids) {
			t.Errorf("%q: %v of %d (%v), want %s", test.words, ids, total, err, test.ids)
			continue
		}
		if len(list) == 0 {
			continue
		}
		if k := list[0]; k.From != test.from || k.Passage != test.passage || k.Title != test.title || trace.IsName(k.Trace) != test.withName {
			t.Errorf("%q: %+v", test.words, k)
		}
	}
}

// TestRecallLike asks with the text of an issue.
func TestRecallLike(t *testing.T) {
	file := store(t,
		`{"id":"h-1","title":"Read the tide gauge","status":"closed","close_reason":"It speaks Modbus."}`,
		`{"id":"h-2","title":"Read the wind gauge","description":"It stands at the pier, and the cable is new.","status":"open"}`,
		`{"id":"h-3","title":"Paint the pier","status":"closed"}`,
		`{"id":"h-4","title":"Order rope","status":"closed"}`,
	)
	list, total, err := Recall(file, RecallRequest{Like: "h-2", Limit: 1})
	if err != nil || total != 2 || len(list) != 1 || list[0].ID != "h-1" {
		t.Errorf("%+v of %d (%v)", list, total, err)
	}
	list, _, err = Recall(file, RecallRequest{Like: "2", Except: []string{"h-1"}})
	if err != nil || len(list) != 1 || list[0].ID != "h-3" {
		t.Errorf("%+v (%v)", list, err)
	}
	if list, total, err := Recall(file, RecallRequest{Like: "h-2", Least: 0.9}); err != nil || len(list)+total != 0 {
		t.Errorf("%+v (%v)", list, err)
	}
	if _, _, err := Recall(file, RecallRequest{Like: "h-9"}); err == nil {
		t.Error("found h-9")
	}
	if list, total, err := Recall(store(t), RecallRequest{Words: "tide"}); list == nil || len(list)+total != 0 || err != nil {
		t.Errorf("an empty store: %+v (%v)", list, err)
	}
}

// paraphrased lists questions that use other words than the issues that answer them. The
// ranking was tuned with such questions on stores in use.
var paraphrased = []struct{ question, id string }{
	{"which port does the gauge listen on", "p-1"},
	{"timezone wrong in tables", "p-2"},
	{"how do I restart the pumps after a power cut", "p-3"},
	{"duplicated alarms at night", "p-4"},
	{"crane load limits", "p-5"},
	{"why did we drop the old chart format", "p-6"},
	{"parseTideTable fails on empty rows", "p-7"},
}

func TestParaphrased(t *testing.T) {
	file := store(t,
		`{"id":"p-1","title":"Connect the gauge","status":"closed","description":"The gauge in the tower.","close_reason":"Listens on TCP port 502, and only from inside."}`,
		`{"id":"p-2","title":"Tables are an hour off in summer","status":"closed","close_reason":"The time zone was applied twice. Tables are in UTC now."}`,
		`{"id":"p-3","title":"Pump control","status":"closed","description":"Power cuts stop all pumps.","close_reason":"They restart one after another, by hand on the panel."}`,
		`{"id":"p-4","title":"Alarms","status":"open","description":"Each alarm is sent twice at night: duplicates."}`,
		`{"id":"p-5","title":"Crane","status":"closed","description":"What may the crane lift?","close_reason":"The limit is 5 t of load, 3 t in wind."}`,
		`{"id":"p-6","title":"Remove S-57 charts","status":"closed","close_reason":"Nobody can read the format any more; dropped for S-101."}`,
		`{"id":"p-7","title":"Crash in parseTideTable","status":"closed","description":"A row that is empty."}`,
		`{"id":"p-8","title":"Old office","status":"closed","description":"The night, the power, the format, the port, the old tables and the crane: what is it all for, and how do I know?"}`,
	)
	for _, p := range paraphrased {
		list, _, err := Recall(file, RecallRequest{Words: p.question, Limit: 2})
		if err != nil || !slices.ContainsFunc(list, func(k Known) bool { return k.ID == p.id }) {
			t.Errorf("%q: %+v (%v)", p.question, list, err)
		}
	}
}

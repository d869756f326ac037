package beads

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"stig/internal/fault"
)

// readCases are whole files with their problems, as "line:column rule id", and the ids of their
// issues.
var readCases = []struct {
	name, content string
	problems, ids []string
}{
	{"empty", "", nil, nil},
	{"blank lines", "\n \t\n\r\n{\"id\":\"a\"}\n\n", nil, []string{"a"}},
	{"no final newline", "{\"id\":\"a\"}\n{\"id\":\"b\"}", nil, []string{"a", "b"}},
	{"CR LF", "{\"id\":\"a\"}\r\n{\"id\":\"b\"}\r\n", nil, []string{"a", "b"}},
	{"byte order mark", "\xef\xbb\xbf{\"id\":\"a\"}\n", nil, []string{"a"}},
	{"byte order mark and nothing else", "\xef\xbb\xbf", nil, nil},
	{"byte order mark counts in columns", "\xef\xbb\xbf{]\n", []string{"1:5 bad-json"}, nil},
	{"byte order mark later", "{\"id\":\"a\"}\n\xef\xbb\xbf{\"id\":\"b\"}\n", []string{"2:1 bad-json"}, []string{"a"}},
	{"other kinds of lines", `{"_schema":"beads-jsonl/1","x":1}` + "\n" + `{"_type":"memory","key":"k"}` + "\n" +
		`{"_type":"memory","id":"m"}` + "\n" + `{"_type":"issue","id":"a"}` + "\n" + `{"_type":null,"id":"b"}` + "\n",
		nil, []string{"a", "b"}},
	{"tombstone", `{"id":"a","status":"tombstone"}` + "\n", nil, []string{"a"}},
	{"no id", `{"title":"x"}` + "\n" + `{"id":null}` + "\n", []string{"1:1 bad-json", "2:1 bad-json"}, nil},
	{"id of another kind", `{"id":7}` + "\n" + `{"id":""}` + "\n" + `  {"id":["a"]}` + "\n",
		[]string{"1:7 bad-json", "2:7 bad-json", "3:9 bad-json"}, nil},
	{"last id counts", `{"id":"a","id":"b"}` + "\n" + `{"\u0069d":"\u0063"}` + "\n", nil, []string{"b", "c"}},
	{"reading goes on", "{\"id\":\"a\"}\n{\"id\":\nnull\n{\"id\":\"b\"}\n",
		[]string{"2:7 bad-json", "3:1 bad-json"}, []string{"a", "b"}},
	{"conflict markers", "<<<<<<< ours\n{\"id\":\"a\"}\n||||||| base\n=======\n \t>>>>>>> theirs\r\n",
		[]string{"1:1 conflict-marker"}, []string{"a"}},
	{"repeated ids in conflicts, one without its base", "{\"id\":\"b\"}\n<<<<<<< x\n{\"id\":\"a\"}\n||||||| y\n{\"id\":\"a\"}\n=======\n{\"id\":\"a\"}\n>>>>>>> z\n<<<<<<< x\n=======\n{\"id\":\"b\"}\n>>>>>>> z\n",
		[]string{"2:1 conflict-marker", "9:1 conflict-marker", "11:1 duplicate-id b"}, []string{"b", "a", "a", "b"}},
	{"markers without their others", "=======\n<<<<<<< x\n<<<<<<< x\n=======\n||||||| y\n>>>>>>> z\n",
		[]string{"1:1 conflict-marker", "2:1 conflict-marker", "3:1 conflict-marker", "4:1 conflict-marker", "5:1 conflict-marker", "6:1 conflict-marker"}, nil},
	{"no conflict markers", "<<<<<<<\n========\n", []string{"1:1 bad-json", "2:1 bad-json"}, nil},
	{"cut short", "{\"id\":\"a\"}\n{\"id\":\"b\",\"ti", []string{"2:14 cut-short"}, []string{"a"}},
	{"cut short to a marker", "=======", []string{"1:1 conflict-marker"}, nil},
	{"no newline but no id", `{"title":"x"}`, []string{"1:1 bad-json"}, nil},
	{"repeated ids", "{\"id\":\"a\"}\n{\"id\":\"b\"}\n{\"id\":\"a\"}\n\n{\"id\":\"a\"}\n",
		[]string{"3:1 duplicate-id a", "5:1 duplicate-id a"}, []string{"a", "b", "a", "a"}},
	{"a NUL byte", "{\"id\":\"a\"}\x00\n", []string{"1:11 bad-json"}, nil},
}

func TestRead(t *testing.T) {
	for _, c := range readCases {
		t.Run(c.name, func(t *testing.T) {
			f := mustRead(t, writeStore(t, c.content).Path)
			var ids, problems []string
			for _, is := range f.All() {
				ids = append(ids, is.ID)
			}
			for _, p := range f.Problems() {
				problems = append(problems, strings.TrimSpace(fmt.Sprintf("%d:%d %s %s", p.Line, p.Column, p.Rule, p.ID)))
			}
			if !reflect.DeepEqual(ids, c.ids) {
				t.Errorf("ids %q, want %q", ids, c.ids)
			}
			if !reflect.DeepEqual(problems, c.problems) {
				t.Errorf("problems %q, want %q: %+v", problems, c.problems, f.Problems())
			}
			if f.Distinct() == strings.HasPrefix(c.name, "repeated ids") {
				t.Errorf("distinct: %v", f.Distinct())
			}
			if got := rejoined(t, f); string(got) != c.content {
				t.Errorf("joined again: %q", got)
			}
		})
	}
}

func TestProblemMessages(t *testing.T) {
	f := mustRead(t, writeStore(t, "{\"id\":\"a\"}\n<<<<<<< HEAD\n{\"id\":\"a\"}\n{\"id\" 1}\n{\"ti").Path)
	want := []string{
		`conflict marker "<<<<<<< HEAD"`,
		`id "a" is already used on line 1`,
		`expected ":" after the key, found "1"`,
		`the last line is truncated: expected the closing quote of a string, found the end of the line`,
	}
	for i, p := range f.Problems() {
		if p.Message != want[i] {
			t.Errorf("got %q, want %q", p.Message, want[i])
		}
	}
}

// An issue is read whatever the types of its values; values of the wrong type count as absent.
func TestIssueFields(t *testing.T) {
	lines := []string{
		`{"id":"a","title":"a \u003c b","status":"open","issue_type":"bug","assignee":"ann","priority":3,"pinned":true,` +
			`"ephemeral":true,"is_template":true,"notes":"n","updated_at":"2026-01-02T03:04:05.5-05:00","defer_until":"2026-01-02T00:00:00Z",` +
			`"dependencies":[{"issue_id":"a","depends_on_id":"b","type":"blocks","metadata":"{}"},{"depends_on_id":"c\u0064","metadata":{}},` +
			`{"type":"blocks"},{"depends_on_id":null},7,null]}`,
		`{"id":"b","title":7,"status":null,"issue_type":[],"assignee":{},"priority":"1","pinned":"true","ephemeral":1,` +
			`"is_template":null,"notes":"","updated_at":"yesterday","defer_until":0,"dependencies":{"a":1},"labels":4}`,
		`{"id":"c","priority":-1,"priority":2.5,"notes":null,"dependencies":[]}`,
		`{"id":"d","priority":99999999999999999999,"title":"\ud800\u0041` + "\xff" + `"}`,
	}
	f := mustRead(t, writeStore(t, strings.Join(lines, "\n")).Path)
	want := []Issue{
		{ID: "a", Title: "a < b", Status: "open", Type: "bug", Assignee: "ann", Priority: 3, Pinned: true, Ephemeral: true,
			Template: true, HasNotes: true, Line: 1, UpdatedAt: time.Date(2026, 1, 2, 8, 4, 5, 5e8, time.UTC),
			DeferUntil: time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC), Deps: []Dep{{"b", "blocks"}, {"cd", ""}}},
		{ID: "b", Line: 2},
		{ID: "c", Line: 3},
		{ID: "d", Line: 4, Title: "\ufffdA\ufffd"},
	}
	if f.Len() != len(want) {
		t.Fatalf("%d issues: %v", f.Len(), f.Problems())
	}
	for i, is := range f.All() {
		got := *is
		got.of, got.off, got.size, got.sum, got.notesStart, got.notesEnd, got.Unread = nil, 0, 0, 0, 0, 0, nil
		if !reflect.DeepEqual(got, want[i]) {
			t.Errorf("got  %+v\nwant %+v", got, want[i])
		}
	}
}

// The index is the same on any number of processors, and lines far longer than a block are read
// correctly.
func TestReadParallel(t *testing.T) {
	var b strings.Builder
	b.Write(generate(3000))
	long := 12 << 17 // bytes: several blocks
	fmt.Fprintf(&b, `{"id":"long","description":"%s","status":"open"}`+"\n", strings.Repeat("lantern ", long/8))
	b.WriteString("no json\n")
	b.Write(generate(1500))
	s := writeStore(t, b.String())
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	var first *Snapshot
	for _, n := range []int{1, 2, 8} {
		runtime.GOMAXPROCS(n)
		f := mustReadToEdit(t, s)
		if f.Len() != 4501 || len(f.Problems()) != 1501 {
			t.Fatalf("GOMAXPROCS %d: %d issues, %d problems", n, f.Len(), len(f.Problems()))
		}
		if h, err := SumOf(strings.NewReader(b.String()), int64(b.Len())); err != nil || h != f.Sum() {
			t.Errorf("GOMAXPROCS %d: the file hashes otherwise the second time (%v)", n, err)
		}
		if first == nil {
			first = f
			continue
		}
		if !reflect.DeepEqual(first.problems, f.problems) {
			t.Errorf("GOMAXPROCS %d: other problems", n)
		}
		for i, is := range f.All() {
			if was, _ := first.Index(is.ID); f.At(was).ID != is.ID {
				t.Fatalf("GOMAXPROCS %d: %s found elsewhere", n, is.ID)
			}
			a, b := *first.At(i), *is
			a.of, b.of, a.sum, b.sum = nil, nil, 0, 0
			if !reflect.DeepEqual(a, b) {
				t.Fatalf("GOMAXPROCS %d: %+v, before %+v", n, b, a)
			}
		}
	}
	found, err := first.Find("long")
	if err != nil {
		t.Fatal(err)
	}
	if found.Line != 3001 || first.problems[0].Line != 3002 || first.At(4500).Line != 4502 {
		t.Errorf("lines %d, %d, %d", found.Line, first.problems[0].Line, first.At(4500).Line)
	}
	r, err := found.Record()
	if err != nil || len(r.Text(Description)) != long {
		t.Fatalf("%d bytes, %v", len(r.Text(Description)), err)
	}
	if string(rejoined(t, first)) != b.String() {
		t.Error("the lines joined differ from the file")
	}
}

// The same bytes always have the same hash; other bytes have another one.
func TestSum(t *testing.T) {
	data := string(generate(2000))
	f := mustReadToEdit(t, writeStore(t, data))
	for _, c := range []struct {
		data string
		want bool
	}{
		{data, true},
		{data[:len(data)-1], false},
		{data + "\n", false},
		{strings.Replace(data, "lantern", "lanterm", 1), false},
		{data[:3<<20] + "X" + data[3<<20+1:], false},
	} {
		h, err := SumOf(strings.NewReader(c.data), int64(len(c.data)))
		if err != nil || (h == f.Sum()) != c.want {
			t.Errorf("equal: %v, want %v (%v)", !c.want, c.want, err)
		}
	}
}

// Every line is whole in the block in which it begins, and every byte is in one block, wherever
// lines and blocks end.
func TestBlocks(t *testing.T) {
	line := func(size int) string { return strings.Repeat("x", size-1) + "\n" }
	short := strings.Repeat(line(100), blockSize/100)
	for name, data := range map[string]string{
		"empty":                      "",
		"one byte":                   "x",
		"one newline":                "\n",
		"just a block":               line(blockSize),
		"a block and a byte":         line(blockSize) + "x",
		"a line ends before":         line(blockSize-1) + line(10),
		"a line ends after":          line(blockSize+1) + line(10),
		"no newline at the end":      short + short + "x",
		"no newline in blocks":       strings.Repeat("x", 3*blockSize),
		"a line over several blocks": line(10) + line(5*blockSize+7) + short,
		"the tail ends the file":     line(blockSize-9) + strings.Repeat("x", 9+tailSize),
		"many":                       short + line(tailSize) + short + line(2*tailSize+1) + short + "\n\n\n",
	} {
		t.Run(name, func(t *testing.T) {
			r := blockReader{from: strings.NewReader(data)}
			var lines strings.Builder
			for n := 0; ; n++ {
				b, err := r.read(n)
				if err != nil {
					t.Fatal(err)
				}
				if len(b.data) > 0 && int(b.off) != lines.Len() {
					t.Fatalf("block %d begins at %d, after %d bytes", n, b.off, lines.Len())
				}
				if cut := len(b.data) > 0 && b.data[len(b.data)-1] != '\n'; cut && lines.Len()+len(b.data) < len(data) {
					t.Fatalf("block %d ends in the middle of a line", n)
				}
				lines.Write(b.data)
				if b.last {
					break
				}
			}
			if lines.String() != data {
				t.Errorf("%d bytes of lines, want %d", lines.Len(), len(data))
			}
		})
	}
}

// countedReads counts the bytes read from a file.
type countedReads struct {
	io.ReaderAt
	bytes int
}

func (c *countedReads) ReadAt(p []byte, off int64) (int, error) {
	n, err := c.ReaderAt.ReadAt(p, off)
	c.bytes += n
	return n, err
}

// Lines that continue after their block add at most a twentieth to the bytes read.
func TestBlocksReadOnce(t *testing.T) {
	data := generate(5000)
	from := &countedReads{ReaderAt: bytes.NewReader(data)}
	r := blockReader{from: from}
	for n := range blocksOf(int64(len(data))) {
		if _, err := r.read(n); err != nil {
			t.Fatal(err)
		}
	}
	if extra := from.bytes - len(data); extra < 0 || extra > len(data)/15 {
		t.Errorf("read %d bytes of %d", from.bytes, len(data))
	}
}

// What is appended during a reading is read too, with the same hash.
func TestReadGrown(t *testing.T) {
	data := generate(1000)
	s := writeStore(t, string(data))
	f := mustReadToEdit(t, s)
	seed := maphash.MakeSeed()
	f.sums, f.size = nil, 0
	parts, err := eachBlock(f.source.Lines, 0, func() func(block) part { return newIndexer(f, seed).part })
	if err != nil {
		t.Fatal(err)
	}
	f.problems, f.repeats = nil, nil
	f.assemble(parts, seed)
	if f.Len() != 1000 {
		t.Errorf("%d issues", f.Len())
	}
	for _, size := range []int{0, blockSize, len(data), 3 * len(data)} { // the last one has become shorter
		h, err := SumOf(bytes.NewReader(data), int64(size))
		if err != nil || h != f.Sum() {
			t.Errorf("%d of %d bytes there at first: the same hash: %v, %v", size, len(data), (h == f.Sum()), err)
		}
	}
	all, err := eachBlock(f.source.Lines, int64(3*len(data)), func() func(block) int64 { return func(b block) int64 { return b.off } })
	if err != nil || len(all) != len(parts) {
		t.Errorf("%d blocks up to the last, want %d; %v", len(all), len(parts), err)
	}
}

// A file that is rewritten in place during a reading must not hash like its index; otherwise an
// edit would splice lines that are gone.
func TestReadWhileWritten(t *testing.T) {
	before := generate(1000)
	end := blockSize + bytes.IndexByte(before[blockSize:], '\n') // in the line that continues in the second block
	after := slices.Clone(before)
	after[end-40] ^= 1
	f := mustReadToEdit(t, writeStore(t, string(before)))
	seed := maphash.MakeSeed()
	f.sums, f.size = nil, 0
	var parts []part
	for n := range blocksOf(int64(len(before))) {
		r := blockReader{from: bytes.NewReader(after)}
		if n == 0 {
			r.from = bytes.NewReader(before)
		}
		b, err := r.read(n)
		if err != nil {
			t.Fatal(err)
		}
		parts = append(parts, newIndexer(f, seed).part(b))
	}
	f.assemble(parts, seed)
	for _, data := range [][]byte{before, after} {
		h, err := SumOf(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		if want := bytes.Equal(data, before); (h == f.Sum()) != want {
			t.Errorf("hashes alike: %v, want %v", !want, want)
		}
	}
}

// A large store is never entirely in memory.
func TestReadAllocates(t *testing.T) {
	const issues = 20_000
	data := generate(issues)
	s := writeStore(t, string(data))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f := mustRead(t, s.Path)
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > uint64(len(data))/3 {
		t.Errorf("allocated %d bytes to read %d", got, len(data))
	}
	if got := after.Mallocs - before.Mallocs; got > issues/8 {
		t.Errorf("%d allocations for %d lines", got, issues)
	}
	if f.Len() != issues {
		t.Errorf("%d issues", f.Len())
	}
}

// A file replaced by rename stays readable; one rewritten in place is noticed.
func TestRecordAfterRewrite(t *testing.T) {
	s := writeStore(t, `{"id":"a","notes":"one"}`+"\n"+`{"id":"b","notes":"two"}`+"\n")
	f := mustRead(t, s.Path)
	other := s.Path + ".new"
	if err := errors.Join(os.WriteFile(other, []byte("{}"), 0o644), os.Rename(other, s.Path)); err != nil {
		t.Fatal(err)
	}
	if r, err := f.At(1).Record(); err != nil || r.Text(Notes) != "two" {
		t.Fatalf("%v %v", r, err)
	}
	for _, data := range []string{"", `{"id":"a"}`, `{"id":"a","notes":"one"}` + "\n" + `{"id":"c","notes":"two"}` + "\n", `{"id":"a","notes":"longer than it was"}` + "\n" + `{"id":"b","notes":"two"}` + "\n"} {
		s := writeStore(t, `{"id":"a","notes":"one"}`+"\n"+`{"id":"b","notes":"two"}`+"\n")
		f := mustRead(t, s.Path)
		if err := os.WriteFile(s.Path, []byte(data), 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := f.At(1).Record()
		_, ahead := f.Reader().Record(f.At(1))
		for _, err := range []error{err, ahead} {
			if !fault.Is(err, fault.Changed) || !strings.Contains(err.Error(), "line 2 no longer holds b") {
				t.Errorf("%q: %v", data, err)
			}
		}
	}
}

// A reader returns what Issue.Record returns, in any order and for any length of line, and
// keeps nothing of the previous line.
func TestReader(t *testing.T) {
	long := `{"id":"long","title":"` + strings.Repeat("x", 3*readAhead) + `"}` + "\n" + `{"id":"bare"}` + "\n"
	f := mustRead(t, writeStore(t, string(generate(200))+long+string(generate(300))).Path)
	r := f.Reader()
	same := func(i int) {
		t.Helper()
		want, err := f.At(i).Record()
		got, e := r.Record(f.At(i))
		if err != nil || e != nil {
			t.Fatal(err, e)
		}
		if !bytes.Equal(got.Bytes(), want.Bytes()) || got.Text(Title) != want.Text(Title) || !reflect.DeepEqual(got.Keys(), want.Keys()) {
			t.Fatalf("issue %d: %s, want %s", i, got.Bytes(), want.Bytes())
		}
	}
	for i := range f.Len() {
		same(i)
	}
	for i := range f.Len() {
		same(i * 379 % f.Len())
	}
	if got := testing.AllocsPerRun(100, func() { _, _ = r.Record(f.At(7)) }); got > 0 {
		t.Errorf("%v allocations a record", got)
	}
}

// TestReaderNotes compares notes found by position with those of a full record.
func TestReaderNotes(t *testing.T) {
	lines := []string{
		`{"id":"a","notes":"one <!-- x -->\n\"two\""}`,
		`{"id":"b","notes":"one"}`,
		`{"notes":"<!-- x -->","id":"c"}`,
		` { "id" : "d" , "notes" : "<!-- x --> é" } `,
		`{"id":"e","notes":"\u003c!-- x --\u003e"}`,
		`{"id":"\u0066","notes":"<!-- x -->"}`,
		`{"id":"g","notes":"<!-- x -->","notes":"<!-- y -->"}`,
		`{"id":"h","notes":"<!-- x -->","notes":null}`,
		`{"id":"i","title":"<!-- x -->"}`,
		`{"id":"j","notes":["<!-- x -->"]}`,
		`{"id":"k","notes":""}`,
	}
	text := strings.Join(lines, "\n")
	s := writeStore(t, text)
	f := mustRead(t, s.Path)
	r := f.Reader()
	for i := range f.Len() {
		record, err := f.At(i).Record()
		if err != nil {
			t.Fatal(err)
		}
		want := record.Text(Notes)
		if !record.MayHold(Notes, "<!--") {
			want = ""
		}
		if got, err := r.Notes(f.At(i), "<!--"); got != want || err != nil {
			t.Errorf("%s: %q, %v, want %q", lines[i], got, err, want)
		}
	}
	for was, is := range map[string]string{
		lines[0]: `{"id":"z"` + lines[0][len(`{"id":"a"`):],
		lines[1]: `{"id":"b","notes":"o"ne}`,
	} {
		if err := os.WriteFile(s.Path, []byte(strings.Replace(text, was, is, 1)), 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := f.Reader().Notes(f.At(slices.Index(lines, was)), "<!--")
		if !fault.Is(err, fault.Changed) {
			t.Errorf("%s became %s: %v, want a conflict", was, is, err)
		}
	}
}

func TestFind(t *testing.T) {
	f := mustRead(t, writeStore(t, `{"id":"harbour-1a2"}
{"id":"harbour-1a2.1"}
{"id":"old-harbour-9zz"}
{"id":"tide-77x"}
{"id":"harbour-77x"}
{"id":"harbour-kelp"}
{"id":"harbour-kemp"}
{"id":"harbour-kept"}
`).Path)
	for _, c := range []struct{ id, found, near string }{
		{"harbour-1a2", "harbour-1a2", ""},
		{"1a2", "harbour-1a2", ""},
		{"1a2.1", "harbour-1a2.1", ""},
		{"9zz", "old-harbour-9zz", ""},
		{"harbour-9zz", "old-harbour-9zz", ""},
		{"tide-77x", "tide-77x", ""},
		{"77x", "", "harbour-77x tide-77x"},
		{"a2", "", "harbour-1a2"},
		{"tide", "", "tide-77x"},
		{"harbour-1a3", "", "harbour-1a2"},
		{"harbour-keLp", "", "harbour-kelp"},
		{"harbour-keip", "", "harbour-kelp harbour-kemp harbour-kept"},
		{"kemt", "", "harbour-kemp harbour-kept harbour-kelp"},
		{"HARBOUR-1A2", "", "harbour-1a2"},
		{"#1a2,", "", "harbour-1a2"},
		{" 1a2 ", "", "harbour-1a2"},
		{"", "", ""},
		{"nothing-like-it", "", ""},
	} {
		is, err := f.Find(c.id)
		if c.found != "" {
			if err != nil || is.ID != c.found {
				t.Errorf("%s: %v, %v", c.id, is, err)
			}
			continue
		}
		e, ok := fault.As(err, fault.NotFound)
		if !ok || e.Error() != cmp.Or(c.id, `""`)+": no such issue" {
			t.Errorf("%s: %v", c.id, err)
			continue
		}
		want := "type stig ready to see what there is"
		if c.near != "" {
			want = "did you mean " + strings.ReplaceAll(c.near, " ", ", ") + "?"
		}
		if e.Hint != want {
			t.Errorf("%s: hint %q, want %q", c.id, e.Hint, want)
		}
	}
	if i, ok := f.Index("harbour-kelp"); !ok || i != 5 {
		t.Errorf("index %d %v", i, ok)
	}
	if i, ok := f.Index("kelp"); ok {
		t.Errorf("index of a part: %d", i)
	}
}

// MayHold never returns false for a text that holds the part.
func TestMayHold(t *testing.T) {
	for _, c := range []struct {
		line string
		want bool
	}{
		{`{"id":"a","notes":"the lantern is lit"}`, true},
		{`{"id":"a","notes":"the \u006cantern is lit"}`, true},
		{`{"id":"a","notes":"the lamp is lit","title":"lantern"}`, false},
		{`{"id":"a"}`, false},
	} {
		r, err := ParseRecord([]byte(c.line))
		if err != nil {
			t.Fatal(err)
		}
		if got := r.MayHold(Notes, "lantern"); got != c.want || strings.Contains(r.Text(Notes), "lantern") && !got {
			t.Errorf("%s: %v", c.line, got)
		}
	}
}

// FuzzRead checks that reading preserves every byte and that every issue matches its line.
func FuzzRead(f *testing.F) {
	for _, c := range readCases {
		f.Add([]byte(c.content))
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(dir, "issues.jsonl")
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		file := mustRead(t, path)
		if got := rejoined(t, file); string(got) != string(data) {
			t.Fatalf("%q became %q", data, got)
		}
		for _, is := range file.All() {
			r, err := is.Record()
			if err != nil {
				t.Fatal(err)
			}
			if r.Text(ID) != is.ID || r.Text(Title) != is.Title || r.Text(Status) != is.Status || (r.Text(Notes) != "") != is.HasNotes {
				t.Fatalf("index %+v, line %s", is, r.Bytes())
			}
			if strings.Count(string(data[:is.off]), "\n") != is.Line-1 {
				t.Fatalf("%s is not on line %d", is.ID, is.Line)
			}
		}
		if err := file.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

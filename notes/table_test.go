package notes_test

import (
	"strings"
	"testing"

	"stig/notes"
)

// section makes a body into a section named "s".
func section(body string) string { return "<!-- s -->\n" + body + "\n<!-- /s -->" }

// tables seed FuzzSetCells. want is the table read: cells separated by "¦", rows by newlines,
// header first; "" for none.
var tables = []struct{ name, text, want string }{
	{"three columns", "| Signal | Value | Updated |\n|---|---|---|\n| a | 1 | 2026-11-20 |\n| b | 2 | — |",
		"Signal¦Value¦Updated\na¦1¦2026-11-20\nb¦2¦—"},
	{"two columns", "| a | b |\n|---|---|\n| 1 | 2 |", "a¦b\n1¦2"},
	{"no rows", "| a | b |\n|---|---|", "a¦b"},
	{"no outer pipes", "a | b\n--- | ---\n1 | 2", "a¦b\n1¦2"},
	{"one outer pipe", "| a | b\n|---|---\n1 | 2 |\n| 3 | 4", "a¦b\n1¦2\n3¦4"},
	{"tight", "|a|b|\n|-|-|\n|1|2|", "a¦b\n1¦2"},
	{"aligned", "| a | b | c |\n|:--|:-:|--:|\n| 1 | 2 | 3 |", "a¦b¦c\n1¦2¦3"},
	{"short and long rows", "| a | b |\n|---|---|\n| 1 |\n| 1 | 2 | 3 |", "a¦b\n1\n1¦2¦3"},
	{"empty cells", "| a | b | c |\n|---|---|---|\n| 1 |  | 3 |\n|||\n| | | |\n|", "a¦b¦c\n1¦¦3\n¦\n¦¦\n"},
	{"escaped pipes", "| a | b |\n|---|---|\n| x \\| y | z\\| |", "a¦b\nx | y¦z|"},
	{"backslash and pipe", "| a | b |\n|---|---|\n| x\\\\| y | z \\ |", "a¦b\nx\\| y¦z \\"},
	{"code with pipes", "| a | b |\n|---|---|\n| `x \\| y` | `p|q` |", "a¦b\n`x | y`¦`p¦q`"},
	{"twice encoded dash", "| a | b |\n|---|---|\n| 1 | â€” |", "a¦b\n1¦â€”"},
	{"wide text", "| 信号 | 🌊 |\n|---|---|\n| 値 | é |", "信号¦🌊\n値¦é"},
	{"no-break space stays", "| a | b |\n|---|---|\n| \u00a0 | 2 |", "a¦b\n\u00a0¦2"},
	{"text directly above", "Measured today.\nSee below\n| a | b |\n|---|---|\n| 1 | 2 |", "a¦b\n1¦2"},
	{"a paragraph above", "Measured today | here.\n\n| a | b |\n|---|---|\n| 1 | 2 |", "a¦b\n1¦2"},
	{"text directly below is a row", "| a | b |\n|---|---|\n| 1 | 2 |\nremark", "a¦b\n1¦2\nremark"},
	{"ends at a blank line", "| a | b |\n|---|---|\n| 1 | 2 |\n\n| 3 | 4 |", "a¦b\n1¦2"},
	{"ends at a heading", "| a | b |\n|---|---|\n| 1 | 2 |\n# more", "a¦b\n1¦2"},
	{"ends at a rule", "| a | b |\n|---|---|\n| 1 | 2 |\n---\n| 3 | 4 |", "a¦b\n1¦2"},
	{"the first of two", "| a | b |\n|---|---|\n\n| c | d |\n|---|---|", "a¦b"},
	{"indented rows", "   | a | b |\n |---|---|\n      | 1 | 2 |", "a¦b\n1¦2"},
	{"widths differ from the header", "| a | b | c |\n|---|---|\n| 1 | 2 | 3 |", "a¦b¦c\n1¦2¦3"},
	{"CRLF", "| a | b |\r\n|---|---|\r\n| 1 | 2 |\r\n| 3 |\r", "a¦b\n1¦2\n3"},
	{"blanks at the ends of lines", "| a | b |  \n|---|---|\t\n| 1 | 2 | \t", "a¦b\n1¦2"},
	{"not a table: no row of dashes", "| a | b |\n| 1 | 2 |", ""},
	{"not a table: row of dashes first", "|---|---|\n| 1 | 2 |", ""},
	{"not a table: dashes and text", "| a | b |\n|---|x|\n| 1 | 2 |", ""},
	{"not a table: heading", "a\n---\n| 1 | 2 |", ""},
	{"not a table: in a fence", "```\n| a | b |\n|---|---|\n```", ""},
	{"not a table: in a list", "- x\n\n  | a | b |\n  |---|---|", ""},
	{"not a table: in a quote", "> | a | b |\n> |---|---|", ""},
	{"not a table: indented code", "    | a | b |\n    |---|---|", ""},
}

func texts(row notes.Row) string {
	var cells []string
	for _, c := range row.Cells {
		cells = append(cells, c.Text)
	}
	return strings.Join(cells, "¦")
}

func rendered(table *notes.Table) string {
	if table == nil {
		return ""
	}
	lines := []string{texts(table.Header)}
	for _, row := range table.Rows {
		lines = append(lines, texts(row))
	}
	return strings.Join(lines, "\n")
}

func TestTable(t *testing.T) {
	for _, c := range tables {
		t.Run(c.name, func(t *testing.T) {
			for _, text := range []string{section(c.text), strings.ReplaceAll(section(c.text), "\n", "\r\n") + "\r\n"} {
				d := notes.Parse(text)
				if got := summary(d); got != "s@1" {
					t.Fatalf("%q: %s", text, got)
				}
				s := d.Sections()[0]
				table := d.Table(s)
				if got := rendered(table); got != c.want {
					t.Errorf("%q\n got %q\nwant %q", text, got, c.want)
				}
				if table != nil {
					checkTable(t, d, s, table)
				}
			}
		})
	}
}

// checkTable checks what is true of every table: whole lines in order inside the section, and
// cells at the bytes they were read from.
func checkTable(t *testing.T, d *notes.Doc, s notes.Section, table *notes.Table) {
	t.Helper()
	text := d.Text()
	if table.Start != table.Header.Start || table.Start < s.Body.Start || table.End > s.Body.End {
		t.Fatalf("table %v outside the body %v of %q", table.Span, s.Body, text)
	}
	for i, row := range append([]notes.Row{table.Header}, table.Rows...) {
		line, column := d.Position(row.Start)
		if line != row.Line || column != 1 || strings.Contains(text[row.Start:row.End], "\n") {
			t.Fatalf("row %d of %q is %v on line %d, has line %d", i, text, row.Span, line, row.Line)
		}
		end := row.Start
		for _, c := range row.Cells {
			if c.Start < end || c.End < c.Start || c.End > row.End {
				t.Fatalf("cell %v of row %v in %q", c.Span, row.Span, text)
			}
			end = c.End
			if got := strings.ReplaceAll(text[c.Start:c.End], `\|`, "|"); got != c.Text {
				t.Fatalf("cell %v reads %q, its bytes are %q", c.Span, c.Text, got)
			}
		}
	}
}

// at is a cell's text; a missing cell reads as empty.
func at(table *notes.Table, r, c int) string {
	if r < len(table.Rows) && c < len(table.Rows[r].Cells) {
		return table.Rows[r].Cells[c].Text
	}
	return ""
}

func TestSetOneCell(t *testing.T) {
	const head = "| a | b | c |\n|---|---|---|\n"
	for _, c := range []struct {
		name, row string
		column    int
		text      string
		want      string
	}{
		{"changes one cell", "| 1 | 2 | 3 |", 1, "new", "| 1 | new | 3 |"},
		{"keeps odd blanks", "|1 |   2| 3 |", 1, "new", "|1 |   new| 3 |"},
		{"present text keeps the bytes", "|  1|\t2 \\| x  |", 1, "2 | x", "|  1|\t2 \\| x  |"},
		{"fills an empty cell", "| 1 |  | 3 |", 1, "new", "| 1 | new | 3 |"},
		{"fills a cell of one blank", "| 1 | | 3 |", 1, "new", "| 1 | new | 3 |"},
		{"fills a cell of nothing", "|1||3|", 1, "new", "|1| new |3|"},
		{"fills a wide empty cell", "| 1 |      | 3 |", 1, "new", "| 1 | new     | 3 |"},
		{"adds the next cell", "| 1 | 2 |", 2, "new", "| 1 | 2 | new |"},
		{"adds a farther cell", "| 1 |", 2, "new", "| 1 |  | new |"},
		{"adds a cell where the last pipe is missing", "| 1 | 2", 2, "new", "| 1 | 2 | new |"},
		{"adds a farther cell where no pipe is", "1", 2, "new", "| 1 |  | new |"},
		{"a row that could begin a list gets a pipe", "*", 1, "new", "| * | new |"},
		{"a row without pipe in front keeps its start", "1 | 2", 1, "new", "1 | new"},
		{"adds a cell before blanks", "| 1 | 2 |  ", 2, "new", "| 1 | 2 | new |  "},
		{"adds no empty cell", "| 1 |", 2, "", "| 1 |"},
		{"escapes pipes", "| 1 | 2 |", 1, "x | y", "| 1 | x \\| y |"},
		{"trims", "| 1 | 2 |", 1, " x\t", "| 1 | x |"},
		{"empties a cell", "| 1 | 2 |", 1, "", "| 1 |  |"},
		{"a backslash at the end does not join cells", "|1|2|3|", 1, `x\`, `|1|x\ |3|`},
		{"a first cell without pipe gets one", "1 | 2", 0, "- x", "| - x | 2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, newline := range []string{"\n", "\r\n"} {
				lines := func(row string) string {
					return strings.ReplaceAll(section(head+row+"\n| last |"), "\n", newline)
				}
				d := notes.Parse(lines(c.row))
				table := d.Table(d.Sections()[0])
				got, err := d.Apply(table.SetCells(d, 0, map[int]string{c.column: c.text}))
				if err != nil {
					t.Fatal(err)
				}
				if got.Text() != lines(c.want) {
					t.Errorf("%q[%d]=%q\n got %q\nwant %q", c.row, c.column, c.text, got.Text(), lines(c.want))
				}
			}
		})
	}
}

func TestInsertRow(t *testing.T) {
	for _, c := range []struct {
		name, body string
		at         int
		want       string
	}{
		{"first", "| a | b |\n|---|---|\n| 1 | 2 |", 0, "| a | b |\n|---|---|\n| x | y \\| z |\n| 1 | 2 |"},
		{"between", "| a | b |\n|---|---|\n| 1 | 2 |\n  | 3 | 4 |", 1, "| a | b |\n|---|---|\n| 1 | 2 |\n| x | y \\| z |\n  | 3 | 4 |"},
		{"last", "| a | b |\n|---|---|\n| 1 | 2 |\n\nend", 1, "| a | b |\n|---|---|\n| 1 | 2 |\n| x | y \\| z |\n\nend"},
		{"into an empty table", "| a | b |\n|---|---|", 0, "| a | b |\n|---|---|\n| x | y \\| z |"},
		{"above a rule", "| a | b |\n|---|---|\n| 1 | 2 |\n---", 1, "| a | b |\n|---|---|\n| 1 | 2 |\n| x | y \\| z |\n---"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, newline := range []string{"\n", "\r\n"} {
				d := notes.Parse(strings.ReplaceAll(section(c.body), "\n", newline))
				table := d.Table(d.Sections()[0])
				got, err := d.Apply(table.InsertRow(d, c.at, "x", "y | z"))
				if err != nil {
					t.Fatal(err)
				}
				if want := strings.ReplaceAll(section(c.want), "\n", newline); got.Text() != want {
					t.Errorf("\n got %q\nwant %q", got.Text(), want)
				}
			}
		})
	}
}

// Missing columns are appended in order, in whichever order they are given.
func TestSetCells(t *testing.T) {
	for _, c := range []struct{ row, want string }{
		{"| 1 | 2 | 3 |", "| 1 | x | y |"},
		{"| 1 | 2 |", "| 1 | x | y |"},
		{"| 1 |", "| 1 | x | y |"},
		{"1", "| 1 | x | y |"},
		{"| 1 | 2", "| 1 | x | y |"},
		{"|1||3|", "|1| x |y|"},
	} {
		d := notes.Parse(section("| a | b | c |\n|---|---|---|\n" + c.row))
		got, err := d.Apply(d.Table(d.Sections()[0]).SetCells(d, 0, map[int]string{2: "y", 1: "x"}))
		if err != nil {
			t.Fatal(err)
		}
		if want := section("| a | b | c |\n|---|---|---|\n" + c.want); got.Text() != want {
			t.Errorf("%q\n got %q\nwant %q", c.row, got.Text(), want)
		}
	}
}

// Missing rows and cells in one place are added together.
func TestSplicesAtOnePlace(t *testing.T) {
	d := notes.Parse(section("| a | b |\n|---|---|\n| 1 |"))
	table := d.Table(d.Sections()[0])
	got, err := d.Apply(table.InsertRow(d, 1, "3", "4"), table.SetCells(d, 0, map[int]string{1: "2"}), table.InsertRow(d, 1, "5", "6"))
	if err != nil {
		t.Fatal(err)
	}
	if want := section("| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n| 5 | 6 |"); got.Text() != want {
		t.Errorf("\n got %q\nwant %q", got.Text(), want)
	}
}

func FuzzSetCells(f *testing.F) {
	for i, c := range tables {
		f.Add(section(c.text), i%3, i%4, "new | text")
		f.Add("above\r\n"+section(c.text)+"\r\n", i%2, i%5, `- \`)
	}
	f.Fuzz(func(t *testing.T, text string, r, c int, value string) {
		d := notes.Parse(text)
		if len(d.Malformed()) > 0 || len(d.Sections()) == 0 || strings.Contains(value, "\n") || c < 0 || c > 9 {
			return
		}
		live := len(d.Sections()) - 1
		table := d.Table(d.Sections()[live])
		if table == nil || r < 0 || r >= len(table.Rows) {
			return
		}
		if same, err := d.Apply(table.SetCells(d, r, map[int]string{c: at(table, r, c)})); err != nil || same.Text() != text {
			t.Fatalf("setting the present value of %d,%d changes %q (%v)", r, c, text, err)
		}
		set := map[int]string{c: value, (c + 3) % 10: "other"}
		splice := table.SetCells(d, r, set)
		row := table.Rows[r]
		if splice.Start < row.Start || splice.End > row.End {
			t.Fatalf("splice %v outside its row %v", splice.Span, row.Span)
		}
		got, err := d.Apply(splice)
		if err != nil {
			return // refused; Apply's own test checks that nothing else happens
		}
		if got.Text()[:splice.Start] != text[:splice.Start] || !strings.HasSuffix(got.Text(), text[splice.End:]) {
			t.Fatalf("bytes outside %v changed:\n%q\n%q", splice.Span, text, got.Text())
		}
		after := got.Table(got.Sections()[live])
		if after == nil || len(after.Rows) != len(table.Rows) {
			t.Fatalf("the table is another one:\n%q\n%q", text, got.Text())
		}
		for i := range table.Rows {
			for j := range 11 {
				want := at(table, i, j)
				if text, changed := set[j]; i == r && changed {
					want = strings.Trim(text, " \t\r\v\f")
				}
				if at(after, i, j) != want {
					t.Fatalf("cell %d,%d is %q, want %q after setting %v of %d:\n%q\n%q", i, j, at(after, i, j), want, set, r, text, got.Text())
				}
			}
		}
	})
}

package merge

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"stig/internal/beads"
	"stig/internal/testkit/sample"
)

// said is a comment in these tests: number, author, text, second.
func said(number any, author, text string, at int) string {
	return fmt.Sprintf(`{"id":%v,"author":%q,"text":%q,"created_at":%q}`, number, author, text, second(at))
}

func commented(id string, hour int, comments ...string) string {
	return is(id, hour, `"comments":[`+strings.Join(comments, ",")+`]`)
}

// TestNumbers: bd numbers the comments of all issues together, so two branches may give one
// number to comments of two issues. Swapping the sides changes nothing.
func TestNumbers(t *testing.T) {
	none := is("a", 0) + is("b", 0) + is("c", 0)
	old := said(7, "ann", "first", 1)
	for _, c := range []struct {
		name               string
		base, ours, theirs string
		want               string // the numbers, issue by issue; N for a new one
	}{
		{"one number on two issues: the older keeps it", none,
			commented("a", 1, said(7, "ann", "x", 5)) + is("b", 0) + is("c", 0), is("a", 0) + commented("b", 1, said(7, "bo", "y", 4)) + is("c", 0), "a N b 7"},
		{"what both knew keeps it", commented("a", 0, old) + is("b", 0),
			commented("a", 0, said(8, "ann", "first", 1)) + is("b", 0), commented("a", 0, old) + commented("b", 1, said(8, "bo", "y", 0)), "a N b 8"},
		{"an issue that nobody changed keeps it", commented("a", 0, old) + is("b", 0) + is("c", 0),
			commented("a", 0, old) + commented("b", 1, said(7, "ann", "x", 5)) + is("c", 0), commented("a", 0, old) + is("b", 0) + commented("c", 1, said(7, "bo", "y", 4)), "a 7 b N c N"},
		{"on one issue and on another", none,
			commented("a", 1, said(7, "ann", "x", 5)) + is("b", 0), commented("a", 1, said(7, "bo", "z", 6)) + commented("b", 1, said(7, "bo", "y", 4)), "a NN b 7"},
		{"the same comment on both sides is one", none,
			commented("a", 1, old) + is("b", 0), commented("a", 2, old) + commented("b", 1, said(8, "bo", "y", 4)), "a 7 b 8"},
		{"what one side repeats stays", none,
			commented("a", 1, said(7, "ann", "x", 5)) + commented("b", 1, said(7, "ann", "x", 5)) + is("c", 0), is("a", 0) + is("b", 0) + commented("c", 1, said(8, "bo", "y", 4)), "a 7 b 7 c 8"},
		{"ids that are strings stay", none,
			commented("a", 1, said(`"u"`, "ann", "x", 5)) + is("b", 0) + is("c", 0), is("a", 0) + commented("b", 1, said(`"u"`, "bo", "y", 4)) + is("c", 0), "a - b -"},
		{"issues made on both sides", "",
			commented("a", 1, said(1, "ann", "x", 5)), commented("b", 1, said(1, "bo", "y", 6)), "a 1 b N"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, turned := merged(c.base, c.ours, c.theirs), merged(c.base, c.theirs, c.ours)
			if len(got.Conflicts) > 0 || numbersOf(t, got.Text) != c.want {
				t.Errorf("got %s, want %s; %v\n%s", numbersOf(t, got.Text), c.want, got.Conflicts, got.Text)
			}
			if !sameStores(t, inOrder(got.Text), inOrder(turned.Text)) {
				t.Errorf("it matters which side is ours\n%s\n%s", got.Text, turned.Text)
			}
			checkLaws(t, c.base, c.ours, c.theirs)
		})
	}
}

func inOrder(text string) string {
	return strings.Join(slices.Sorted(strings.SplitSeq(text, "\n")), "\n")
}

// numbersOf lists the numbers of comments issue by issue, with N for those made by stig.
func numbersOf(t *testing.T, text string) string {
	long := regexp.MustCompile(`^\d{6,}$`)
	var list []string
	for line := range strings.Lines(text) {
		r, err := beads.ParseRecord([]byte(strings.TrimSuffix(line, "\n")))
		if err != nil {
			t.Fatal(err)
		}
		numbers := ""
		for _, n := range r.CommentNumbers() {
			if n == "" {
				n = "-"
			}
			numbers += long.ReplaceAllString(n, "N")
		}
		if numbers != "" {
			list = append(list, r.Text(beads.ID)+" "+numbers)
		}
	}
	slices.Sort(list)
	return strings.Join(list, " ")
}

// A conflict that is answered later reuses no number.
func TestNumbersOfAnswers(t *testing.T) {
	base := is("a", 0, `"title":"t"`) + is("b", 0)
	ours := is("a", 3, `"title":"u"`, `"comments":[`+said(7, "ann", "x", 5)+`]`) + is("b", 0)
	theirs := is("a", 4, `"title":"v"`) + commented("b", 1, said(7, "bo", "y", 4))
	text := Options{}.Stores(base, ours, theirs).Text
	done, err := Resolve(text, Origin{}, "a", Answers{"title": Ours})
	if err != nil || len(done.Open) > 0 {
		t.Fatal(err, done.Open)
	}
	if got := numbersOf(t, text[:done.Start]+done.Text+text[done.End:]); got != "a N b 7" {
		t.Errorf("got %s", got)
	}
}

// TestNumbersUnite: branches that leave comments with the next free number, as bd does, merge
// in any order without losing a comment or repeating a number.
func TestNumbersUnite(t *testing.T) {
	const issues = 4
	for seed := range uint64(sample.Rounds(25)) {
		r := rand.New(rand.NewPCG(seed, 3))
		next := 1
		left := func(from [issues][]string, n int, who string) (to [issues][]string) {
			for i, list := range from {
				to[i] = slices.Clone(list)
			}
			for range n {
				i := r.IntN(issues)
				to[i] = append(to[i], said(next, who, fmt.Sprint(who, " says ", next, " ", r.IntN(9)), next))
				next++
			}
			return to
		}
		text := func(of [issues][]string) (text string) {
			for i, list := range of {
				text += commented(fmt.Sprintf("p-%d", i), len(list), list...)
			}
			return text
		}
		base := left([issues][]string{}, r.IntN(4), "all")
		common := next
		var branches []string
		for b := range 3 {
			next = common
			branches = append(branches, text(left(base, 1+r.IntN(5), fmt.Sprint("branch-", b))))
		}
		want := -2 * count(text(base))
		for _, b := range branches {
			want += count(b)
		}
		first := merged(text(base), branches[0], branches[1])
		if turned := merged(text(base), branches[1], branches[0]); !sameStores(t, first.Text, turned.Text) {
			t.Fatalf("seed %d: it matters which side is ours\n%s\n%s", seed, first.Text, turned.Text)
		}
		all := merged(text(base), first.Text, branches[2])
		numbers := map[string]bool{}
		for line := range strings.Lines(all.Text) {
			for _, n := range numbersIn(strings.TrimSuffix(line, "\n")) {
				if numbers[n.number] {
					t.Fatalf("seed %d: number %s twice in\n%s", seed, n.number, all.Text)
				}
				numbers[n.number] = true
			}
		}
		if len(first.Conflicts)+len(all.Conflicts) > 0 || len(numbers) != want {
			t.Fatalf("seed %d: %d comments, want %d; %v\n%s", seed, len(numbers), want, all.Conflicts, all.Text)
		}
		checkLaws(t, text(base), branches[0], branches[1])
	}
}

func count(store string) int { return strings.Count(store, `"author"`) }

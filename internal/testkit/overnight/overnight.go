// Package overnight contains the parts of the test of a night of workers: the project that they
// work on, what each scripted worker does with an issue, and the judge of the morning after. It
// starts no program and reads no clock. Only tests import it.
//
//	problems := overnight.Judge(night)
package overnight

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Project is a repository with epics of issues that depend on each other.
type Project struct {
	Epics, Each int // the number of epics, and of issues in each
	Seed        uint64
	Green       bool // each epic has an issue whose criteria pass before anybody works on it
}

// Task is an issue that a worker can do.
type Task struct {
	ID, Epic string
	Blockers []string
}

// Tasks lists the issues without their epics. Every third depends on another one of its epic,
// and the first of every third epic on the last of an earlier one.
func (p Project) Tasks() (tasks []Task) {
	for e := range p.Epics {
		epic := fmt.Sprintf("quay-%d", e+1)
		for n := range p.Each {
			t := Task{ID: fmt.Sprintf("%s.%d", epic, n+1), Epic: epic}
			if n%3 == 2 {
				t.Blockers = append(t.Blockers, fmt.Sprintf("%s.%d", epic, n-1))
			}
			if n == 0 && e%3 == 2 {
				t.Blockers = append(t.Blockers, fmt.Sprintf("quay-%d.%d", e-1, p.Each))
			}
			tasks = append(tasks, t)
		}
	}
	return tasks
}

// green is the suffix of the id of the issue in each epic whose criteria pass before anybody
// works on it. Its workers do nothing useful; it is not one of the Tasks, and must never be
// closed.
const green = ".99"

// IsGreen reports whether the criteria of an issue pass before the work on it.
func IsGreen(issue string) bool { return strings.HasSuffix(issue, green) }

// Criteria returns the acceptance criteria of a task. They need the work of its blockers too,
// and the whole build, which anybody can break for everybody.
func (t Task) Criteria() string {
	lines := []string{"```verify", "grep -qx 'stone of " + t.ID + "' src/" + t.ID + ".txt"}
	for _, blocker := range t.Blockers {
		lines = append(lines, "grep -qx 'stone of "+blocker+"' src/"+blocker+".txt")
	}
	return strings.Join(append(lines, "sh build.sh", "```"), "\n")
}

// Script returns the commands in acceptance criteria, for a shell; ok is false if there are
// none.
func Script(criteria string) (script string, ok bool) {
	_, script, ok = strings.Cut(criteria, "```verify\n")
	script, _, closed := strings.Cut(script, "```")
	return script, ok && closed
}

// Files returns the files of the repository by path.
func (p Project) Files() map[string]string {
	return map[string]string{
		"build.sh":            build,
		"src/README.txt":      "stone of README\n",
		".beads/issues.jsonl": p.store(),
	}
}

// build fails if a source file is broken.
const build = `broken=$(grep -L "^stone of " src/*.txt)
[ -z "$broken" ] || { echo "$broken: broken"; exit 1; }
`

// Broken is what a worker writes to break the build.
const Broken = "a heap of sand\n"

type row struct {
	Issue     string `json:"issue_id"`
	DependsOn string `json:"depends_on_id"`
	Type      string `json:"type"`
	Created   string `json:"created_at"`
}

func (p Project) store() string {
	const day = "2026-11-01T08:00:00Z"
	var lines strings.Builder
	put := func(issue map[string]any) {
		issue["status"], issue["created_at"], issue["updated_at"] = "open", day, day
		line, _ := json.Marshal(issue) // a map of strings always has a JSON form
		lines.Write(append(line, '\n'))
	}
	for e := range p.Epics {
		put(map[string]any{"id": fmt.Sprintf("quay-%d", e+1), "title": fmt.Sprintf("Build quay %d", e+1), "issue_type": "epic", "priority": 2})
	}
	for n, t := range p.Tasks() {
		rows := []row{{t.ID, t.Epic, "parent-child", day}}
		for _, blocker := range t.Blockers {
			rows = append(rows, row{t.ID, blocker, "blocks", day})
		}
		put(map[string]any{"id": t.ID, "title": "Lay the stone " + t.ID, "issue_type": "task", "priority": 1 + n%3,
			"acceptance_criteria": t.Criteria(), "dependencies": rows})
	}
	for e := 0; p.Green && e < p.Epics; e++ {
		id := fmt.Sprintf("quay-%d%s", e+1, green)
		put(map[string]any{"id": id, "title": "Lay it faster", "issue_type": "task", "priority": 1, "acceptance_criteria": "```verify\nsh build.sh\n```",
			"dependencies": []row{{id, fmt.Sprintf("quay-%d", e+1), "parent-child", day}}})
	}
	return lines.String()
}

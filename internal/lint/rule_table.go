package lint

import (
	"stig/internal/beads"
	"stig/signals"
)

// storeRules are about lines, most of them such that keep the store from being
// written.
var storeRules = []Rule{{
	ID: beads.BadJSON, Severity: Error,
	Summary: "a line of the store is no JSON object with an id",
	Why:     "The issue on that line is lost to every reader, and a program that rewrites the whole file drops it for good. Nothing is written to the store until it is fixed.",
	Example: `{"id":"demo-1","title":"cut`,
	Fix:     "Fix the line by hand, or take it from git: git log -p -- .beads/issues.jsonl",
}, {
	ID: beads.ConflictMarker, Severity: Error,
	Summary: "a conflict marker was left in the store",
	Why:     "Both versions of the issues between the markers are in the file, and readers differ in which one they see. Nothing is written until a person has chosen.",
	Example: "<<<<<<< HEAD",
	Fix:     "Type stig merge --resolve to see the open questions, and stig merge --resolve ID KEY=ours or KEY=theirs to answer them; stig setup git has git merge the store by its issues.",
}, {
	ID: beads.CutShort, Severity: Error,
	Summary: "the last line of the store is cut short",
	Why:     "A program was stopped while it wrote. What it was writing is lost; what follows would be glued to the rest of it.",
	Example: `{"id":"demo-2","title":"half a li`,
	Fix:     "Take the whole line from git, or remove the rest of it.",
}, {
	ID: beads.DuplicateID, Severity: Error,
	Summary: "an id stands on several lines",
	Why:     "Readers differ in which line counts, so two workers may see two different issues under one id. This issue cannot be written until one line is left.",
	Example: "{\"id\":\"demo-1\",\"title\":\"one\"}\n{\"id\":\"demo-1\",\"title\":\"another\"}",
	Fix:     "Keep one of the lines.",
}, {
	ID: beads.WrongType, Severity: Error,
	Summary: "a value of an issue is of another type than its key has",
	Why:     "Readers take the value for absent, and the first edit of it writes over what it holds. This issue cannot be written until the value is fixed.",
	Example: `{"id":"demo-1","title":"t","status":"open","notes":["keep this"]}`,
	Fix:     "Write the value as a string (a number for priority, a list for labels, dependencies and comments).",
}, {
	ID: beads.RepeatedKey, Severity: Error,
	Summary: "a key stands twice in the line of an issue, with different values",
	Why:     "Most readers take the last value and drop the other when they write. This issue cannot be written until one value is left.",
	Example: `{"id":"demo-1","title":"t","status":"open","notes":"one","notes":"other"}`,
	Fix:     "Join the values in one, and remove the other key.",
}, {
	ID: RulePriority, Severity: Error,
	Summary: "a priority is not a whole number from 0 to 4",
	Why:     "bd and beads_rust refuse the line, and with it the whole file; stig ranks what is no whole number as 0, the most urgent.",
	Example: `{"id":"demo-1","title":"t","status":"open","priority":9}`,
	Fix:     "Write a whole number from 0 (most urgent) to 4 into the line.",
}, {
	ID: RuleEncoding, Severity: Warning,
	Summary: "the line of an issue is not valid UTF-8",
	Why:     "Programs show the bytes as U+FFFD, and those that rewrite the whole file replace them for good.",
	Example: "a title in Latin-1: the byte \xe9 for é",
	Fix:     "Convert the line to UTF-8, or write the text again.",
}, {
	ID: RuleAhead, Severity: Warning,
	Summary: "updated_at is more than a day ahead",
	Why:     "Of two versions of an issue the later one counts: until that day every merge takes this one, whatever was written since.",
	Example: `{"id":"demo-1","title":"t","status":"open","updated_at":"2126-11-01T00:00:00Z"}`,
	Fix:     "stig vet --fix sets it to now.",
}, {
	ID: RuleLastTime, Severity: Error,
	Summary: "updated_at is the last time that can be written",
	Why:     "Every write sets a later time, and there is none: this issue cannot be written.",
	Example: `{"id":"demo-1","title":"t","status":"open","updated_at":"9999-12-31T23:59:59Z"}`,
	Fix:     "stig vet --fix sets it to now.",
}, {
	ID: RuleIncomplete, Severity: Warning,
	Summary: "an issue has no title or no status",
	Why:     "Without a status it is neither open nor closed, so that nothing shows it as work; without a title nobody can tell it from others, and bd refuses it. Whole files of such lines are mostly those of another program.",
	Example: `{"id":"demo-1","data":{"title":"…","status":"open"}}`,
	Fix:     `Write "title":"…" and "status":"open" into the line.`,
}, {
	ID: RuleStatus, Severity: Warning,
	Summary: "a status is none that is known",
	Why:     "Only closed is closed: an issue that is done, complete or resolved is on no list of work, and keeps everything waiting that depends on it. bd refuses a status that the project has not told it of.",
	Example: `{"id":"demo-1","title":"t","status":"done"}`,
	Fix:     `Write "status":"open" into the line, then stig close ID, which runs the criteria; where the project has statuses of its own, bd config set status.custom names them to bd.`,
}}

// peerRules are about what other programs of this format refuse.
var peerRules = []Rule{{
	ID: RuleRefused, Severity: Warning,
	Summary: "a value that other programs of this format refuse",
	Why:     "bd and beads_rust read a line into typed fields. A boolean that is a number, a fraction, a label that is no text, a title over 500 bytes, a blank in an id, a row of another issue: on any of them they refuse the line, and with it the whole file, or drop the issue. stig reads past it.",
	Example: `{"id":"demo-1","title":"t","status":"open","pinned":1}`,
	Fix:     "Write the value as the message says.",
}, {
	ID: RuleTime, Severity: Warning,
	Summary: "a time is no time",
	Why:     "Times are RFC 3339, with seconds and a zone. bd and beads_rust refuse a file that has another; where it says when an issue can be worked on, the issue waits.",
	Example: `{"id":"demo-1","title":"t","status":"open","defer_until":"2099-01-01"}`,
	Fix:     "Write it as 2006-01-02T15:04:05Z.",
}, {
	ID: RuleClosing, Severity: Warning,
	Summary: "closed_at or deleted_at does not fit the status",
	Why:     "bd refuses an issue that is not closed and has closed_at; reports by date count it as closed, and what is closed without a date is in none of them. The status was changed by hand, or by a program that knows neither.",
	Example: `{"id":"demo-1","title":"t","status":"open","closed_at":"2026-11-01T00:00:00Z"}`,
	Fix:     "Take the time out of the line, or set the status that goes with it.",
}, {
	ID: RuleBackdated, Severity: Warning,
	Summary: "an issue was updated before it was created",
	Why:     "beads_rust refuses the whole file, and of two versions of an issue the later counts: this one loses every merge.",
	Example: `{"created_at":"2026-11-02T00:00:00Z","updated_at":"2026-11-01T00:00:00Z"}`,
	Fix:     "stig vet --fix sets updated_at to now.",
}, {
	ID: RuleRow, Severity: Warning,
	Summary: "a dependency on the issue itself, or one that stands twice",
	Why:     "bd has no dependency of an issue on itself, and one row of a type from one issue to another: it refuses the rest, or drops it.",
	Example: `two rows {"depends_on_id":"demo-1","type":"blocks"} in one line`,
	Fix:     "Take one of the rows out of the line, or type stig dep rm ID --on ID --type TYPE.",
}}

// mergeRules are about what git does with the store.
var mergeRules = []Rule{{
	ID: RuleUnfinished, Severity: Error,
	Summary: "git has not finished merging the store",
	Why:     "Where git cannot run the program that merges the store, or that program is killed, git leaves our version in place, with nothing in it that shows a conflict. Whoever commits it then leaves out all that the others did. Until that is settled, orient and every command that writes refuse the store.",
	Example: "git status says: both modified: .beads/issues.jsonl, and the file equals that of HEAD",
	Fix:     "git checkout -m -- .beads/issues.jsonl merges it again; look at the result, then git add .beads/issues.jsonl. To go on without what the others did: git commit --no-verify.",
}}

// sectionRules are about the sections of the notes.
var sectionRules = []Rule{{
	ID: RuleMalformed, Severity: Error,
	Summary: "the delimiters of a section do not pair",
	Why:     "Where a section ends can then only be guessed, and a wrong guess overwrites what somebody wrote. These notes cannot be written until a person has fixed them.",
	Example: "<!-- checkpoint-context -->\nand no closer after it",
	Fix:     "Write each section as <!-- NAME --> and <!-- /NAME -->, each alone on its line, one inside no other.",
}, {
	ID: RuleEscalation, Severity: Warning,
	Summary: "the escalation signal and the escalation section disagree",
	Why:     "A question that the signal does not tell of is never answered; a signal without a question sends a person looking for nothing.",
	Example: "| escalation | pending | 2026-11-01 |\nwith no question in <!-- escalation-context -->",
	Fix:     "stig signals set ID escalation=VALUE as the section has it, or add the question or the answer that the section lacks.",
}, {
	ID: RuleEstimate, Severity: Warning,
	Summary: "implementing or blocked, without a state estimate",
	Why:     "Work that was begun may be taken over by somebody else, who then starts blind: what was done, learned and left is in nobody's reach.",
	Example: "| progress | implementing | 2026-11-01 |\nwith no <!-- checkpoint-context --> section",
	Fix:     "stig checkpoint ID --done … --learned … --remains … --downstream …",
}, {
	ID: RuleMerged, Severity: Info,
	Summary: "a merge of branches kept a second state estimate",
	Why:     "Both branches described the state of the issue. The newer estimate is the live one; the other one is beside it until somebody has read both, and every briefing repeats it.",
	Example: "<!-- merged-estimate 2026-11-01 0123abcd -->",
	Fix:     "stig checkpoint ID --learned … with what still holds of it, then stig checkpoint ID --fold",
}, {
	ID: RuleDescription, Severity: Warning,
	Summary: "a signal table stands in the description",
	Why:     "Signals are read from the notes only. The table in the description looks alive, changes nothing, and grows stale.",
	Example: `{"id":"demo-1","description":"<!-- stigmergic-signals -->\n| Signal | Value | Updated |…"}`,
	Fix:     "stig signals init ID, and take the table out of the description.",
}, {
	ID: RuleTangled, Severity: Warning,
	Summary: "a text nests deeper, or holds more marks, than is read as Markdown",
	Why:     "Such a text is made to keep programs busy, or a program wrote it by mistake. It is shown as it stands, and what it says is not read: no criteria, no headings, no sections.",
	Example: "a description of 200,000 times >",
	Fix:     "Write the text in words, or put what a program printed into a file and name that.",
}}

// signalRules are about the signal table.
var signalRules = []Rule{{
	ID: signals.RuleValue, Severity: Error,
	Summary: "a signal has a value outside its domain",
	Why:     "Whoever reads the signal must guess what was meant: briefings go on with the default, so the worker gets another depth or progress than somebody wanted.",
	Example: "| planning-depth | medium | 2026-11-01 |",
	Fix:     "stig vet --fix rewrites values that have one meaning only; else stig signals set ID SIGNAL=VALUE.",
}, {
	ID: signals.RuleVersion, Severity: Error,
	Summary: "the signal table is of another version",
	Why:     "Rows of another version may mean something else. The table is read as well as can be and never written.",
	Example: "| schema-version | 2 | 2026-11-01 |",
	Fix:     "Use a stig that writes that version, or set schema-version to 1 where it is a slip.",
}, {
	ID: signals.RuleUnknown, Severity: Warning,
	Summary: "a row of the signal table is no signal",
	Why:     "Nothing reads it. Often it is a signal with its name misspelt, and then the default counts in its place.",
	Example: "| cynfin | complex | 2026-11-01 |",
	Fix:     "Correct the name, or move what the row says into the text.",
}, {
	ID: signals.RuleRepeated, Severity: Error,
	Summary: "a signal has several rows",
	Why:     "The last row counts, but a person reads the first one.",
	Example: "| surprise | 0.1 | 2026-11-01 |\n| surprise | 0.7 | 2026-11-02 |",
	Fix:     "Keep one row.",
}, {
	ID: signals.RuleDate, Severity: Warning,
	Summary: "the date of a signal is no date",
	Why:     "Dates tell fresh signals from stale ones, and decide which of two tables is the newer one in a merge.",
	Example: "| surprise | 0.1 | yesterday |",
	Fix:     "Write YYYY-MM-DD, or — where there is none.",
}, {
	ID: signals.RuleSeveral, Severity: Warning,
	Summary: "a signal table is not the live one",
	Why:     "The last table is live. A person who reads from the top sees the others first, and edits what nothing reads.",
	Example: "two <!-- stigmergic-signals --> sections in one note",
	Fix:     "stig signals reconcile ID",
}, {
	ID: signals.RuleMerge, Severity: Error,
	Summary: "a merge joined two signal tables that differ",
	Why:     "Both sides of a merge were put one after the other. The last one counts, so what the other side wrote is lost on the next write: nothing is written until they are reconciled.",
	Example: "<!-- /stigmergic-signals -->\n\n---\n\n<!-- stigmergic-signals -->",
	Fix:     "stig signals reconcile ID; stig setup git has git merge signals row by row.",
}, {
	ID: signals.RuleMissing, Severity: Error,
	Summary: "a signal section has no table",
	Why:     "All signals read as their defaults, although somebody meant to set them.",
	Example: "<!-- stigmergic-signals -->\ncynefin: complex\n<!-- /stigmergic-signals -->",
	Fix:     "Write the table as stig signals init does.",
}, {
	ID: signals.RuleHeader, Severity: Error,
	Summary: "the columns are not those of a signal table",
	Why:     "Which column holds the value can only be guessed, so the table is not written.",
	Example: "| Name | Setting | When |",
	Fix:     "Write the header as | Signal | Value | Updated |",
}, {
	ID: signals.RuleOutside, Severity: Error,
	Summary: "a row of a signal stands outside the table",
	Why:     "Nothing reads a row that a blank line cuts off: the default counts in its place.",
	Example: "| cynefin | complex | 2026-11-01 |\n\n| surprise | 0.4 | 2026-11-01 |",
	Fix:     "Take out what stands between the row and its table.",
}}

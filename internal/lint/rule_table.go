package lint

import (
	"stig/internal/beads"
	"stig/signals"
)

// storeRules are about lines; most of them keep the store from being written.
var storeRules = []Rule{{
	ID: beads.BadJSON, Severity: Error,
	Summary: "a line of the store is not a JSON object with an id",
	Why:     "Readers lose the issue on that line, and a program that rewrites the whole file drops it for good. stig does not write to the store until the line is fixed.",
	Example: `{"id":"demo-1","title":"cut`,
	Fix:     "Fix the line by hand, or restore it from git: git log -p -- .beads/issues.jsonl",
}, {
	ID: beads.ConflictMarker, Severity: Error,
	Summary: "a conflict marker was left in the store",
	Why:     "The file contains both versions of the issues between the markers, and readers differ in which one they see. stig does not write until a person has chosen.",
	Example: "<<<<<<< HEAD",
	Fix:     "Type stig merge --resolve to see the open questions, and stig merge --resolve ID KEY=ours or KEY=theirs to answer them; stig setup git makes git merge the store issue by issue.",
}, {
	ID: beads.CutShort, Severity: Error,
	Summary: "the last line of the store is cut short",
	Why:     "A program was stopped while it wrote. What it was writing is lost, and the next write would be appended to the rest of it.",
	Example: `{"id":"demo-2","title":"half a li`,
	Fix:     "Restore the whole line from git, or remove the rest of it.",
}, {
	ID: beads.DuplicateID, Severity: Error,
	Summary: "an id appears on several lines",
	Why:     "Readers differ in which line counts, so two workers may see different issues under one id. The issue cannot be written until one line is left.",
	Example: "{\"id\":\"demo-1\",\"title\":\"one\"}\n{\"id\":\"demo-1\",\"title\":\"another\"}",
	Fix:     "Keep one of the lines.",
}, {
	ID: beads.WrongType, Severity: Error,
	Summary: "a value of an issue has the wrong type for its key",
	Why:     "Readers treat the value as absent, and the first edit of it overwrites its content. The issue cannot be written until the value is fixed.",
	Example: `{"id":"demo-1","title":"t","status":"open","notes":["keep this"]}`,
	Fix:     "Write the value as a string (a number for priority, a list for labels, dependencies and comments).",
}, {
	ID: beads.RepeatedKey, Severity: Error,
	Summary: "a key appears twice in the line of an issue, with different values",
	Why:     "Most readers use the last value, and drop the other when they write. The issue cannot be written until one value is left.",
	Example: `{"id":"demo-1","title":"t","status":"open","notes":"one","notes":"other"}`,
	Fix:     "Combine the values in one, and remove the other key.",
}, {
	ID: RulePriority, Severity: Error,
	Summary: "a priority is not a whole number from 0 to 4",
	Why:     "bd and beads_rust refuse the line, and with it the whole file; stig treats a priority that is not a whole number as 0, the most urgent.",
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
	Why:     "Of two versions of an issue the later one wins: until that date every merge takes this version, no matter what was written since.",
	Example: `{"id":"demo-1","title":"t","status":"open","updated_at":"2126-11-01T00:00:00Z"}`,
	Fix:     "stig vet --fix sets it to now.",
}, {
	ID: RuleLastTime, Severity: Error,
	Summary: "updated_at is the latest time that can be written",
	Why:     "Every write must set a later time, but there is none, so the issue cannot be written.",
	Example: `{"id":"demo-1","title":"t","status":"open","updated_at":"9999-12-31T23:59:59Z"}`,
	Fix:     "stig vet --fix sets it to now.",
}, {
	ID: RuleIncomplete, Severity: Warning,
	Summary: "an issue has no title or no status",
	Why:     "Without a status an issue is neither open nor closed, so no list of work shows it; without a title nobody can tell it from others, and bd refuses it. A file full of such lines is usually that of another program.",
	Example: `{"id":"demo-1","data":{"title":"…","status":"open"}}`,
	Fix:     `Write "title":"…" and "status":"open" into the line.`,
}, {
	ID: RuleStatus, Severity: Warning,
	Summary: "an issue has an unknown status",
	Why:     "Only closed means closed: an issue that is done, complete or resolved is on no list of work, and still blocks everything that depends on it. bd refuses a status that the project has not configured.",
	Example: `{"id":"demo-1","title":"t","status":"done"}`,
	Fix:     `Write "status":"open" into the line, then stig close ID, which runs the criteria; if the project has its own statuses, bd config set status.custom tells bd about them.`,
}}

// peerRules are about what other programs of this format refuse.
var peerRules = []Rule{{
	ID: RuleRefused, Severity: Warning,
	Summary: "a value that other programs of this format refuse",
	Why:     "bd and beads_rust read a line into typed fields. If a boolean is a number, a number is a fraction, a label is not a string, a title is longer than 500 bytes, an id contains a blank, or a row is of another issue, they refuse the line, and with it the whole file, or drop the issue. stig tolerates it.",
	Example: `{"id":"demo-1","title":"t","status":"open","pinned":1}`,
	Fix:     "Write the value as the message says.",
}, {
	ID: RuleTime, Severity: Warning,
	Summary: "a time is invalid",
	Why:     "Times are RFC 3339, with seconds and a zone. bd and beads_rust refuse a file with any other form; if the time says when work on an issue can start, the issue waits.",
	Example: `{"id":"demo-1","title":"t","status":"open","defer_until":"2099-01-01"}`,
	Fix:     "Write it as 2006-01-02T15:04:05Z.",
}, {
	ID: RuleClosing, Severity: Warning,
	Summary: "closed_at or deleted_at contradicts the status",
	Why:     "bd refuses an unclosed issue with closed_at, and reports by date count it as closed; an issue closed without a date is in none of them. The status was changed by hand, or by a program that knows neither key.",
	Example: `{"id":"demo-1","title":"t","status":"open","closed_at":"2026-11-01T00:00:00Z"}`,
	Fix:     "Remove the time from the line, or set the status that goes with it.",
}, {
	ID: RuleBackdated, Severity: Warning,
	Summary: "an issue was updated before it was created",
	Why:     "beads_rust refuses the whole file. Of two versions of an issue the later one wins: this one loses every merge.",
	Example: `{"created_at":"2026-11-02T00:00:00Z","updated_at":"2026-11-01T00:00:00Z"}`,
	Fix:     "stig vet --fix sets updated_at to now.",
}, {
	ID: RuleRow, Severity: Warning,
	Summary: "a dependency on the issue itself, or a duplicate one",
	Why:     "bd allows no dependency of an issue on itself, and one row of a type from one issue to another: it refuses or drops the others.",
	Example: `two rows {"depends_on_id":"demo-1","type":"blocks"} in one line`,
	Fix:     "Remove one of the rows from the line, or type stig dep rm ID --on ID --type TYPE.",
}}

// mergeRules are about what git does with the store.
var mergeRules = []Rule{{
	ID: RuleUnfinished, Severity: Error,
	Summary: "git has not finished merging the store",
	Why:     "If git cannot run the program that merges the store, or that program is killed, git leaves our version in place without a conflict marker. Whoever commits it drops everything that the others did. Until the merge is settled, orient and every command that writes refuse the store.",
	Example: "git status says: both modified: .beads/issues.jsonl, and the file equals that of HEAD",
	Fix:     "git checkout -m -- .beads/issues.jsonl merges it again; check the result, then git add .beads/issues.jsonl. To continue without what the others did: git commit --no-verify.",
}}

// sectionRules are about the sections of the notes.
var sectionRules = []Rule{{
	ID: RuleMalformed, Severity: Error,
	Summary: "the delimiters of a section do not match",
	Why:     "The end of the section is then a guess, and a wrong guess overwrites what somebody wrote. The notes cannot be written until a person has fixed them.",
	Example: "<!-- checkpoint-context -->\nwithout a closing delimiter after it",
	Fix:     "Write each section as <!-- NAME --> and <!-- /NAME -->, each alone on its line, and do not nest sections.",
}, {
	ID: RuleEscalation, Severity: Warning,
	Summary: "the escalation signal and the escalation section disagree",
	Why:     "A question that the signal does not announce is never answered; a signal without a question sends a person looking for nothing.",
	Example: "| escalation | pending | 2026-11-01 |\nwith no question in <!-- escalation-context -->",
	Fix:     "stig signals set ID escalation=VALUE to match the section, or add the question or the answer that the section lacks.",
}, {
	ID: RuleEstimate, Severity: Warning,
	Summary: "implementing or blocked without a state estimate",
	Why:     "Somebody else may take over work that was begun, and then starts blind: nothing tells what was done, what was learned and what is left.",
	Example: "| progress | implementing | 2026-11-01 |\nwith no <!-- checkpoint-context --> section",
	Fix:     "stig checkpoint ID --done … --learned … --remains … --downstream …",
}, {
	ID: RuleMerged, Severity: Info,
	Summary: "a merge of branches kept a second state estimate",
	Why:     "Both branches described the state of the issue. The newer estimate is the live one; every briefing repeats the other one until somebody has read both.",
	Example: "<!-- merged-estimate 2026-11-01 0123abcd -->",
	Fix:     "stig checkpoint ID --learned … with what still holds, then stig checkpoint ID --fold",
}, {
	ID: RuleDescription, Severity: Warning,
	Summary: "a signal table is in the description",
	Why:     "Signals are read from the notes only. The table in the description looks live, changes nothing, and becomes stale.",
	Example: `{"id":"demo-1","description":"<!-- stigmergic-signals -->\n| Signal | Value | Updated |…"}`,
	Fix:     "stig signals init ID, and remove the table from the description.",
}, {
	ID: RuleTangled, Severity: Warning,
	Summary: "a text is too deeply nested, or has too many marks, to be read as Markdown",
	Why:     "Such a text is made to keep programs busy, or a program wrote it by mistake. It is shown unchanged but not parsed: no criteria, no headings, no sections.",
	Example: "a description of 200,000 times >",
	Fix:     "Write the text in words, or put what a program printed into a file and name the file.",
}}

// signalRules are about the signal table.
var signalRules = []Rule{{
	ID: signals.RuleValue, Severity: Error,
	Summary: "a signal has a value outside its domain",
	Why:     "Readers must guess what was meant: briefings use the default, so the worker gets another depth or progress than intended.",
	Example: "| planning-depth | medium | 2026-11-01 |",
	Fix:     "stig vet --fix rewrites values that have only one meaning; otherwise stig signals set ID SIGNAL=VALUE.",
}, {
	ID: signals.RuleVersion, Severity: Error,
	Summary: "the signal table has another version",
	Why:     "Rows of another version may mean something else. stig reads the table as well as it can and never writes it.",
	Example: "| schema-version | 2 | 2026-11-01 |",
	Fix:     "Use a stig that writes that version, or set schema-version to 1 if it is a slip.",
}, {
	ID: signals.RuleUnknown, Severity: Warning,
	Summary: "a row of the signal table is not a signal",
	Why:     "Nothing reads it. Often it is a signal with a misspelled name, and then the default counts instead.",
	Example: "| cynfin | complex | 2026-11-01 |",
	Fix:     "Correct the name, or move the content of the row into the text.",
}, {
	ID: signals.RuleRepeated, Severity: Error,
	Summary: "a signal has several rows",
	Why:     "The last row counts, but a person reads the first one.",
	Example: "| surprise | 0.1 | 2026-11-01 |\n| surprise | 0.7 | 2026-11-02 |",
	Fix:     "Keep one row.",
}, {
	ID: signals.RuleDate, Severity: Warning,
	Summary: "the date of a signal is invalid",
	Why:     "Dates distinguish fresh signals from stale ones, and decide which of two tables is newer in a merge.",
	Example: "| surprise | 0.1 | yesterday |",
	Fix:     "Write YYYY-MM-DD, or — if there is none.",
}, {
	ID: signals.RuleSeveral, Severity: Warning,
	Summary: "a signal table is not the live one",
	Why:     "The last table is live. A person who reads from the top sees the others first, and edits what nothing reads.",
	Example: "two <!-- stigmergic-signals --> sections in one note",
	Fix:     "stig signals reconcile ID",
}, {
	ID: signals.RuleMerge, Severity: Error,
	Summary: "a merge joined two different signal tables",
	Why:     "Both sides of a merge were put one after the other. The last one counts, so the next write would lose what the other side wrote: stig does not write until they are reconciled.",
	Example: "<!-- /stigmergic-signals -->\n\n---\n\n<!-- stigmergic-signals -->",
	Fix:     "stig signals reconcile ID; stig setup git makes git merge signals row by row.",
}, {
	ID: signals.RuleMissing, Severity: Error,
	Summary: "a signal section has no table",
	Why:     "All signals read as their defaults, although somebody meant to set them.",
	Example: "<!-- stigmergic-signals -->\ncynefin: complex\n<!-- /stigmergic-signals -->",
	Fix:     "Write the table in the form of stig signals init.",
}, {
	ID: signals.RuleHeader, Severity: Error,
	Summary: "the columns are not those of a signal table",
	Why:     "The column with the value is a guess, so stig does not write the table.",
	Example: "| Name | Setting | When |",
	Fix:     "Write the header as | Signal | Value | Updated |",
}, {
	ID: signals.RuleOutside, Severity: Error,
	Summary: "a row of a signal is outside the table",
	Why:     "Nothing reads a row that a blank line cuts off: the default counts instead.",
	Example: "| cynefin | complex | 2026-11-01 |\n\n| surprise | 0.4 | 2026-11-01 |",
	Fix:     "Remove what is between the row and its table.",
}}

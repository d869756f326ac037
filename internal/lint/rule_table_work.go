package lint

// cycleRules are about issues that wait for each other.
var cycleRules = []Rule{{
	ID: RuleDeadlock, Severity: Error,
	Summary: "issues form a dependency cycle",
	Why:     "None of them can ever start or be closed: an issue can start only after its blockers are closed and its epic could start, and an epic can be closed only after its children are. A cycle may go through epics and blocking rows together, with no single row looking wrong.",
	Example: "demo-1.1 is part of demo-1 and is blocked by it",
	Fix:     "Remove the row that stig cycles names, or another one of the cycle.",
}, {
	ID: RuleCycle, Severity: Warning,
	Summary: "a cycle of blocking rows with closed issues in it",
	Why:     "It blocks nothing as long as one issue in it is closed. When that one is reopened, none of them can be done; and the rows give no order of the work.",
	Example: "demo-1 is blocked by demo-2, which is closed and blocked by demo-1",
	Fix:     "Remove the wrong row: stig cycles names one.",
}}

// secretRules are about what must not be in a repository.
var secretRules = []Rule{{
	ID: RuleSecret, Severity: Warning,
	Summary: "a text of the issue contains what looks like a credential",
	Why:     "The store is in the repository, and git keeps what was in it: everybody who can read the repository has the credential.",
	Example: "AKIA followed by sixteen letters and digits",
	Fix:     "Revoke the credential where it was issued, then remove it from the text. Removing it alone does not help: git still has it.",
}}

// linkRules are about how issues are linked.
var linkRules = []Rule{{
	ID: RuleUnread, Severity: Warning,
	Summary: "malformed dependency entry",
	Why:     "Only rows link issues. stig reads an entry that can mean only one thing, and blocks the issue because of any other; other programs do not see the entry or refuse the whole file.",
	Example: `{"id":"demo-2","dependencies":["demo-1"]}`,
	Fix:     `Write {"issue_id":"demo-2","depends_on_id":"demo-1","type":"blocks"} in its place.`,
}, {
	ID: RuleType, Severity: Warning,
	Summary: "an unknown dependency type looks as if it blocked or contained",
	Why:     "Unknown types never block: the issue shows as ready while what it needs is unfinished, or is missing from its epic.",
	Example: `{"issue_id":"demo-2","depends_on_id":"demo-1","type":"blocked-by"}`,
	Fix:     "stig dep rm A --on B --type blocked-by, then stig dep add A --on B",
}, {
	ID: RuleUnknownType, Severity: Warning,
	Summary: "unknown dependency type",
	Why:     "Such a row never blocks and never contains. If it was meant to, the issue shows as ready before what it needs is done; if it is a note, other trackers may refuse or drop it.",
	Example: `{"issue_id":"demo-2","depends_on_id":"demo-1","type":"foo"}`,
	Fix:     "stig dep rm A --on B --type foo, then stig dep add A --on B --type related; type blocks if A has to wait.",
}, {
	ID: RuleDangling, Severity: Warning,
	Summary: "a dependency names an issue that is not in the store",
	Why:     "A dangling dependency blocks nothing, so the issue may start although what it needs was never done, only deleted or kept in another store.",
	Example: `{"issue_id":"demo-2","depends_on_id":"demo-99","type":"blocks"}, and no demo-99`,
	Fix:     "stig dep rm A --on B; write external:… for an issue in another store.",
}, {
	ID: RuleExternal, Severity: Info,
	Summary: "an issue waits for something in another store",
	Why:     "It blocks the issue until it is proved done there: closed by a verdict or a person's waiver, and on the project's published branch. The message says what is missing.",
	Example: `{"issue_id":"demo-2","depends_on_id":"external:api:auth","type":"blocks"}`,
	Fix:     "Configure the project under projects in .stig.cue. If that cannot show it, stig dep rm A --on external:… once it is done; to start before that, stig claim A --despite-external WHY.",
}, {
	ID: RuleStale, Severity: Warning,
	Summary: "what an issue needs from another store is no longer done there",
	Why:     "The notes record that it was done when the issue was claimed. Since then it was reopened, or its work was reverted, so the work here may build on something that is gone.",
	Example: `section external of the notes records api-7 at 1a2b3c4 for external:api:auth, and api-7 is open again`,
	Fix:     "Decide: wait until it is done again, stig dep rm A --on external:…, or stig claim A --despite-external WHY.",
}, {
	ID: RuleEpicBlock, Severity: Warning,
	Summary: "an issue is blocked by its own epic, or an epic by its own child",
	Why:     "The child waits until the epic is closed, and the epic is closed after its children: neither can ever be closed. Containment is a row of type parent-child, not blocks.",
	Example: `{"issue_id":"demo-1.2","depends_on_id":"demo-1","type":"blocks"}`,
	Fix:     "stig dep rm demo-1.2 --on demo-1 --type blocks, then stig dep add demo-1.2 --on demo-1 --type parent-child",
}, {
	ID: RuleLeftOpen, Severity: Warning,
	Summary: "an epic is closed but some of its children are not",
	Why:     "The rest of its work is in no epic that anybody looks at, and those who waited for the epic go on without it.",
	Example: `{"id":"demo-1","status":"closed"} and demo-1.2, open, with a parent-child row to it`,
	Fix:     "Close the children that are done, or type stig reopen EPIC --reason …",
}, {
	ID: RuleOrphan, Severity: Warning,
	Summary: "an id names a parent, but no row does",
	Why:     "Membership in an epic is read from parent-child rows. Without one the epic counts as done too early, and what blocks the epic does not block its child.",
	Example: `{"id":"demo-1.2","title":"…"} without a row of type parent-child to demo-1`,
	Fix:     "stig dep add demo-1.2 --on demo-1 --type parent-child",
}, {
	ID: RuleParents, Severity: Info,
	Summary: "an issue is in several epics",
	Why:     "It counts in the progress and the surprise of each, and readers differ in which of them they show.",
	Example: "two rows of type parent-child, to demo-1 and to demo-7",
	Fix:     "stig dep rm ID --on EPIC --type parent-child, for all but one",
}}

// trailRules are about what is left for later workers.
var trailRules = []Rule{{
	ID: RuleGreen, Severity: Warning,
	Summary: "an issue was closed on criteria that passed before the work too",
	Why:     "A check that passed before the work began proves nothing about it: the issue would have closed with nothing done. Where work lands by review, stig check --against REV --verify reports it as an error.",
	Example: "Verified: … All acceptance criteria pass: 1/1 (1 held) [go vet ./... 0.4s] at 1a2b3c4",
	Fix:     "Review what was done; if nothing shows it, stig reopen ID --reason …, and write a check that fails without the work.",
}, {
	ID: RuleClaimed, Severity: Warning,
	Summary: "an issue was closed as verified without results",
	Why:     "stig close puts the results after the reason: which checks passed, how long each took, at which commit. A reason that begins with Verified: and has no results was typed by hand or cut short, and proves less than it seems to.",
	Example: `{"status":"closed","close_reason":"Verified: the parser reads both forms."}`,
	Fix:     "Reopen it and type stig close ID; if there is nothing to run, stig close ID --waive WHY says so.",
}, {
	ID: RuleLabel, Severity: Warning,
	Summary: "a label contradicts the status of the issue",
	Why:     "Labels and the status are written by different people. An issue that somebody labelled as done is still on the list of work; stig and bd go by the status.",
	Example: `{"id":"demo-1","status":"open","labels":["status:done"]}`,
	Fix:     "stig close ID if it is done; otherwise stig edit ID --remove-label LABEL",
}, {
	ID: RuleNotStarted, Severity: Info,
	Summary: "closed work whose signals say that it was never started",
	Why:     "Either the work was done and nobody said so, or it was closed without being done. Whoever builds on it cannot tell which.",
	Example: `{"status":"closed"} with | progress | not-started | 2026-11-01 |`,
	Fix:     "stig signals set ID progress=verifying, if the work was done",
}, {
	ID: RuleTwins, Severity: Info,
	Summary: "unclosed issues have the same title",
	Why:     "Two workers may do the same work twice.",
	Example: `{"id":"demo-1","title":"Fix the tide table"} and {"id":"demo-2","title":"fix the tide table"}`,
	Fix:     "stig close ID --duplicate-of ID, if they are duplicates; otherwise say in the titles what distinguishes them.",
}, {
	ID: RuleNoCriteria, Severity: Info,
	Summary: "an unclosed issue has no acceptance criteria",
	Why:     "Nobody can say when it is done, so it can close only by a waiver. Without a description, the title is all that its worker learns. stig lint warns about it, as bd lint does.",
	Example: `{"id":"demo-1","title":"Tides","status":"open","issue_type":"task"}`,
	Fix:     "stig edit ID --acceptance … with the command that shows it.",
}, {
	ID: RuleReason, Severity: Info,
	Summary: "a close reason that says nothing",
	Why:     "Later workers read the close reason of this one: what exists now that did not before, and how is it known to work? An empty reason, or done, fixed, closed, completed or implemented alone, sends them to the code and the history.",
	Example: `{"status":"closed","close_reason":"Done"}`,
	Fix:     "Write what exists now and how it is known: Verified: tides/2026-12.csv covers December. All acceptance criteria pass: bin/check tides.",
}, {
	ID: RuleCriteria, Severity: Info,
	Summary: "acceptance criteria contain no command that can be run",
	Why:     "Before an issue closes, stig runs the commands in its criteria. Without any, done is an opinion.",
	Example: "All tests pass and go test ./... is green.",
	Fix:     "Put the commands that show it into a fence:\n\n```verify\ngo test ./...\n```",
}, {
	ID: RuleUnparsed, Severity: Warning,
	Summary: "a block of commands in the criteria does not parse as shell",
	Why:     "Somebody marked the block as shell, so it was meant to run. The issue does not close while it cannot.",
	Example: "```verify\nif test -f tides.csv; then\n```",
	Fix:     "Fix the block, or give it another info string, such as text, if it should not run.",
}, {
	ID: RuleCannotFail, Severity: Info,
	Summary: "a command in the criteria succeeds whatever the work does",
	Why:     "Its success proves nothing, and the issue would close on it. The close reason says so.",
	Example: "`go test ./... || true` passes",
	Fix:     "Remove what hides the failure, or use a command that fails until the work is done.",
}, {
	ID: RuleUnfounded, Severity: Warning,
	Summary: "confidence went up without fresh evidence",
	Why:     "confidence says how well the claims of an issue are shown to hold, and evidence-freshness when that was last seen. Nothing on record shows a confidence that is newer than its evidence.",
	Example: "| confidence | validated | 2026-11-09 |\n| evidence-freshness | 2026-11-01 | 2026-11-01 |",
	Fix:     "Run a check and type stig checkpoint ID --confidence VALUE --evidence \"what was run, and what it printed\"",
}, {
	ID: RuleUnexplained, Severity: Warning,
	Summary: "an issue was closed by a waiver that does not say why",
	Why:     "A waiver replaces a check. Later readers have only its words to judge whether the work was done, and done says nothing.",
	Example: `{"status":"closed","close_reason":"Unverified: the mast is up. Waived: done."}`,
	Fix:     "Ask who waived it, and type stig reopen ID --reason …, then stig close ID --waive with what nobody could check, and why.",
}, {
	ID: RuleWaived, Severity: Info,
	Summary: "an issue was closed without its criteria having passed",
	Why:     "A waiver says who took responsibility for calling work done that no command has shown to work, and why. One is a judgement; many are a habit, and then the criteria need a command, or the command needs fixing.",
	Example: `{"status":"closed","close_reason":"Unverified: the mast is up. Waived: nobody can climb it in this wind."}`,
	Fix:     "Nothing, if the reason still holds; otherwise stig reopen ID --reason …, and criteria that a command can check.",
}}

package lint

// againstRules are about what happened to the store since an earlier version.
var againstRules = []Rule{{
	ID: RuleByHand, Severity: Error,
	Summary: "an issue was closed past the gate",
	Why:     "stig close runs the acceptance criteria of an issue and leaves in the close reason what passed, who waived them and why, how the children of an epic were closed, or why nobody will do it. An issue that was closed in another way is a claim that nothing has shown, and those who wait for it start to build on it.",
	Example: `{"status":"closed","close_reason":"Done"} where main has {"status":"open"}`,
	Fix:     "Open it again and type stig close ID, or stig close ID --waive WHY where there is nothing to run.",
}, {
	ID: RuleForged, Severity: Error,
	Summary: "the results in a close reason are not of the issue's criteria",
	Why:     "stig close names the checks that it ran. Where the criteria have no such check, neither now nor at the revision, or ask for one that the reason leaves out, the reason was typed by hand, or the criteria were edited for the close and restored. A waiver has no results that passed, and the children of an epic are as many as its reason says.",
	Example: `"Verified: … All acceptance criteria pass: 1/1 [true 0.0s] at 1a2b3c4" on criteria that ask for go test ./...`,
	Fix:     "Open it again and type stig close ID, which runs the criteria as they stand.",
}, {
	ID: RuleUntried, Severity: Warning,
	Summary: "a waiver was written by hand",
	Why:     "stig close --waive runs first what the criteria have to run, and puts into the reason what came of it and who waived. A waiver without that was typed into the store, by somebody whom nobody asked.",
	Example: `"Unverified: … Waived: only the frost can show it." on criteria that ask for go test ./...`,
	Fix:     "Open it again and type stig close ID --waive WHY.",
}, {
	ID: RuleImpossible, Severity: Error,
	Summary: "a close reason names a commit that cannot be",
	Why:     "stig close writes the commit at which the checks ran. 0000000 is none, nor is a word; and no issue that a commit holds was closed before the first one.",
	Example: `"Verified: … All acceptance criteria pass: 1/1 [go test ./... 3.1s] at 0000000"`,
	Fix:     "Open it again and type stig close ID, which runs the criteria.",
}, {
	ID: RuleNoCommit, Severity: Info,
	Summary: "a close reason names a commit that git does not have here",
	Why:     "A branch that was squashed or rebased leaves its commits behind, and a shallow clone lacks old ones. Then nothing here shows on what the checks ran.",
	Example: `"… at 1a2b3c4" where git cat-file -e 1a2b3c4 fails`,
	Fix:     "Fetch the whole history, or run the checks again: stig check --against REV --verify",
}, {
	ID: RuleGate, Severity: Error,
	Summary: "the checks of an issue that was closed do not pass here",
	Why:     "stig check --against REV --verify runs the criteria of every issue that was closed since REV again, where nobody who closed them has a say. What fails there was never shown to work, works elsewhere only, or was broken since.",
	Example: "go test ./... exits with 1 on the server for an issue whose reason says that it passed",
	Fix:     "Type stig verify ID to see it fail; fix the work, or open the issue again: stig reopen ID --reason …",
}, {
	ID: RuleCheckWeakened, Severity: Warning,
	Summary: "an issue passes by checks that changed with its work",
	Why:     "Scripts that criteria run, and tests that were there before, decide what passes. stig check --against REV --verify runs the criteria with those of REV as well: where they fail with those, the work passes because its judge was changed. That may be right, and somebody has to read it.",
	Example: "check.sh ends with exit 0 now, and with exit 1 as it was on main",
	Fix:     "Read what changed in them: git diff REV... -- FILE; where a check was weakened, put it back and type stig reopen ID --reason …",
}, {
	ID: RuleGateSet, Severity: Warning,
	Summary: "a setting changed that says what passes the gate",
	Why:     "Who may waive, which credentials checks get, and what they run in is for the project to say, not for the branch whose issues they let pass. Whoever reviews the branch should see it.",
	Example: `.stig.cue has gate: waivers: "anyone" where main has none`,
	Fix:     "See that it was meant, or take it back: git diff REV... -- .stig.cue",
}, {
	ID: RuleVanished, Severity: Error,
	Summary: "an issue, a memory or another line is gone from the store",
	Why:     "Programs that rewrite the whole file drop what they cannot read, lines about no issue too, and a merge that went wrong keeps one side only. An issue that is meant to go is deleted by the tracker, which leaves a line that says so.",
	Example: "main has a line with the id demo-1, and this store has none, or one that was made at another time",
	Fix:     "Put the line back from git, with another id where its own is taken; delete an issue with the tracker that made it.",
}, {
	ID: RuleDeleted, Severity: Warning,
	Summary: "an issue was deleted",
	Why:     "Nobody works on a deleted issue, and it blocks nothing: whoever waited for it may start although what they need was never done.",
	Example: `{"status":"tombstone"} where main has {"status":"open"}`,
	Fix:     "See that it was meant, and that nothing is left to wait for it.",
}, {
	ID: RuleSection, Severity: Error,
	Summary: "a section or a signal is gone from the notes of an issue",
	Why:     "Sections are what workers leave for each other. Programs that decode the notes to a struct of their own and encode that drop them all without a word.",
	Example: "main has <!-- checkpoint-context --> in the notes of demo-1, and this store has not",
	Fix:     "Put it back: stig diff REV shows what there was.",
}, {
	ID: RuleUnsaid, Severity: Warning,
	Summary: "a comment is gone or was edited",
	Why:     "Comments and traces are what workers leave for each other, and are added only. What somebody read and worked by is no longer there.",
	Example: `main has {"comments":[{"author":"ann","text":"The smith has the key."}]}, and this store has not`,
	Fix:     "Put it back: stig diff REV shows what there was. What no longer holds is said in a new comment.",
}, {
	ID: RuleWeakened, Severity: Warning,
	Summary: "acceptance criteria are gone or were changed",
	Why:     "An issue closes when its criteria pass. Whoever changes the criteria of work that they do themselves changes what done means; that wants a second pair of eyes.",
	Example: "main asks for go test ./... and go vet ./..., this store for go vet ./... alone",
	Fix:     "See that they ask for no less than before: stig diff REV",
}, {
	ID: RuleEdge, Severity: Warning,
	Summary: "a dependency that ordered work is gone",
	Why:     "Without the row the issue counts as ready before what it needs is done, or is missing from its epic.",
	Example: `main has {"issue_id":"demo-2","depends_on_id":"demo-1","type":"blocks"}, and this store has not`,
	Fix:     "Where it was not meant: stig dep add A --on B",
}, {
	ID: RuleBackwards, Severity: Warning,
	Summary: "a signal moved backwards without a reason",
	Why:     "Work that goes back, such as progress from verifying to exploring or confidence that is lost, is news for everybody who builds on it: a state estimate left since then, with its date, is the reason. Without one it is more likely that an old version was written over a newer one.",
	Example: "| progress | exploring | 2026-11-02 | where main has | progress | verifying | 2026-11-01 |",
	Fix:     "stig checkpoint ID --done … --learned … with the reason, or set the signal back.",
}, {
	ID: RuleTrail, Severity: Error,
	Summary: "a question or an answer was edited or removed",
	Why:     "Questions and answers are the trail of what was decided, by whom and when. They are added and never edited: work was done by the words that stood there.",
	Example: "main has ## Resolved (2026-11-01) with other words in <!-- escalation-context -->",
	Fix:     "Put the words back, and add what has changed as a new question or answer.",
}}

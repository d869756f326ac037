package lint

// commentRules are about comments and traces on issues.
var commentRules = []Rule{{
	ID: RuleComment, Severity: Warning,
	Summary: "a comment has no author or no text",
	Why:     "A comment records what somebody said. Without a name nobody can ask back, and some versions of bd refuse the line.",
	Example: `"comments":[{"id":1,"text":"the piles are short"}]`,
	Fix:     "Complete the comment by hand, or remove it from the line.",
}, {
	ID: RuleCommentNumber, Severity: Warning,
	Summary: "two comments have the same number",
	Why:     "Two branches numbered them independently, on one issue or on two. Some versions of bd refuse to import the whole store.",
	Example: `"comments":[{"id":1,"author":"ann","text":"x"},{"id":1,"author":"bo","text":"y"}]`,
	Fix:     "Write a number into the later one that no other comment has; stig setup git makes git merge comments, which prevents it on one issue.",
}, {
	ID: RuleTrace, Severity: Warning,
	Summary: "a comment ends like a trace but is not one, or its type is unknown",
	Why:     "The last line names a type of trace, but programs that read traces by type do not find this one: its first line says something else, or no program knows the type.",
	Example: "finding: no feed\n\nstig: findings/1",
	Fix:     "Add it again with stig trace add ID TYPE; the comment stays, since comments are not edited.",
}, {
	ID: RuleTraceContent, Severity: Warning,
	Summary: "a trace lacks what its type requires, or has a value that its type does not allow",
	Why:     "Programs read the fields of a trace by the definition of its type (stig schema traces). What is missing there is missing for all of them.",
	Example: "log: half done\n\nlevel: fatal\nstig: log/1",
	Fix:     "Add it again with stig trace add ID TYPE, which refuses an incomplete trace.",
}}

issue=$(stig list --label text --json | sed 's/.*"id":"\([^"]*\)".*/\1/')
stig watch "$issue" --as writer --until ready --timeout 60s
stig claim "$issue"
stig orient "$issue" --depth deep >briefing-text.md
stig trace add "$issue" completion -m 'high water is when the tide turns; times are in UTC'
stig close "$issue" --reason 'the terms are explained in four lines' --waive 'words do not run'

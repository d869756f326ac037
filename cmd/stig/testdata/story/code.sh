issue=$(stig list --label code --json | sed 's/.*"id":"\([^"]*\)".*/\1/')
stig watch "$issue" --as coder --until ready --timeout 60s
stig claim "$issue"
stig orient "$issue" --depth deep >briefing-code.md
echo 'echo "high water at 09:12 UTC"' >tide.sh
stig trace add "$issue" code_snippet --field file_name=tide.sh --field code="$(cat tide.sh)"
stig trace add "$issue" completion -m 'tide.sh prints the next high water, in UTC'
stig trust
stig close "$issue" --reason 'tide.sh prints the next high water'

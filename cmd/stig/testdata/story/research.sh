issue=$(stig list --label research --json | sed 's/.*"id":"\([^"]*\)".*/\1/')
stig claim "$issue"
stig trace add "$issue" finding -m 'the office publishes a table a month' --field url=https://example.org/tides
stig trace add "$issue" finding -m 'times are in UTC' --field url=https://example.org/tides/times
stig trace add "$issue" completion -m 'a table a month, in UTC, at example.org/tides'
stig close "$issue" --reason 'the tables are found and their form is known' --waive 'reading does not run'

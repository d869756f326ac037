until stig rollup "$EPIC" | grep -q '3 of 3 issues closed'; do # two may close in one look
  stig watch --epic "$EPIC" --as scribe --until closed --timeout 60s
done
stig rollup "$EPIC" --write >answer.md

package guard_test

// closingCases are command lines typed in /repo, whose store is
// /repo/.beads/issues.jsonl, with what is to be seen in them: the issues that
// they close, "?" for some that only running can tell, and "store" for writing
// the store. None is "". The fuzz target begins with them.
var closingCases = []struct{ want, command string }{
	// Plainly.
	{"demo-1", `bd close demo-1`},
	{"demo-1", `br close demo-1`},
	{"demo-1", `bd done demo-1`},
	{"demo-1 demo-2", `bd close demo-1 demo-2 --reason "all done"`},
	{"demo-1", `bd close --reason done demo-1`},
	{"demo-1", `bd close demo-1 -m "all done"`},
	{"demo-1", `bd close --message done --resolution done --comment done demo-1`},
	{"demo-1", `bd done demo-1 "all done"`},
	{"demo-1 demo-2", `bd done demo-1 demo-2`},
	{"demo-1 demo-2", `bd done demo-1 demo-2 -r "all done"`},
	{"demo-1", `bd close -r "see demo-9" -f demo-1`},
	{"demo-1", `bd close -fr done demo-1`},
	{"demo-1", `bd --json --actor ann close demo-1`},
	{"demo-1", `bd -C sub close demo-1`},
	{"demo-1", `bd --db=x.db close demo-1`},
	{"?", `bd close`},
	{"demo-1", `bd update demo-1 --status closed`},
	{"demo-1", `bd update demo-1 --status=closed`},
	{"demo-1", `br update -s closed demo-1`},
	{"demo-1", `br update -sclosed demo-1`},
	{"demo-1", `bd update demo-1 --title "new words" --status CLOSED --notes x`},
	{"demo-1", `bd todo done demo-1`},
	{"?", `bd epic close-eligible`},
	{"demo-1", `bd duplicate demo-1 --of demo-2`},
	{"demo-1", `bd supersede demo-1 --with demo-2`},
	{"demo-1", `bd human dismiss demo-1`},
	{"?", `bd sql "UPDATE issues SET status='closed' WHERE id='demo-1'"`},
	{"?", `sqlite3 .beads/beads.db "update issues set updated_at=1, status = 'closed'"`},

	// In any position.
	{"demo-1", `go test ./... && bd close demo-1`},
	{"demo-1", `true; bd close demo-1; false`},
	{"demo-1", `false || bd close demo-1`},
	{"demo-1", `bd close demo-1 | tail -1`},
	{"demo-1", `(cd sub && bd close demo-1)`},
	{"demo-1", `echo "$(bd close demo-1)"`},
	{"demo-1", "echo `bd close demo-1`"},
	{"demo-1", `if go build; then bd close demo-1; fi`},
	{"demo-1 demo-2", `for i in demo-1 demo-2; do bd close "$i"; done`},
	{"demo-1", `while ! bd close demo-1; do sleep 1; done`},
	{"demo-1", `case x in *) bd close demo-1;; esac`},
	{"demo-1", `bd close demo-1 &`},
	{"demo-1", `diff <(bd close demo-1) /dev/null`},
	{"demo-1", `cat <<EOF
$(bd close demo-1)
EOF`},
	{"demo-1", `bd close demo-1 > out.txt 2>&1`},
	{"demo-1", "bd close demo-1\nif ("},
	{"demo-1", `! bd close demo-1`},
	{"demo-1", `{ bd close demo-1; }`},
	{"demo-1", `x=$(bd close demo-1 --json)`},
	{"demo-1", `[[ -n $(bd close demo-1) ]]`},

	// Evasions.
	{"demo-1", `/usr/local/bin/bd close demo-1`},
	{"demo-1", `~/go/bin/bd close demo-1`},
	{"demo-1", `\bd close demo-1`},
	{"demo-1", `b"d" cl'os'e demo-1`},
	{"demo-1", `$'\x62d' close demo-1`},
	{"demo-1", `command bd close demo-1`},
	{"demo-1", `env BD_ACTOR=ann bd close demo-1`},
	{"demo-1", `BD_ACTOR=ann bd close demo-1`},
	{"demo-1", `env -S "bd close demo-1"`},
	{"demo-1", `sudo -u ann bd close demo-1`},
	{"demo-1", `time nohup nice -n 5 bd close demo-1`},
	{"demo-1", `timeout -k 1 30 bd close demo-1`},
	{"demo-1", `sh -c 'bd close demo-1'`},
	{"demo-1", `bash -lc "cd sub; bd close demo-1"`},
	{"demo-1", `bash -c 'bd close "$1"' _ demo-1`},
	{"demo-1", `eval "bd close demo-1"`},
	{"demo-1", `eval bd close demo-1`},
	{"demo-1", `echo 'bd close demo-1' | sh`},
	{"demo-1", `printf 'bd %s %s\n' close demo-1 | bash`},
	{"demo-1", `bash <<'EOF'
bd close demo-1
EOF`},
	{"demo-1", `sh <<< "bd close demo-1"`},
	{"demo-1", `cat <<EOF | bash -s
bd close demo-1
EOF`},
	{"demo-1", `source <(echo bd close demo-1)`},
	{"demo-1", `echo YmQgY2xvc2UgZGVtby0xCg== | base64 -d | sh`},
	{"demo-1", `xargs bd close <<< demo-1`},
	{"demo-1 demo-2", `echo demo-1 demo-2 | xargs bd close`},
	{"demo-1", `echo demo-1 | xargs -n1 -I{} bd close {}`},
	{"?", `bd list --json | jq -r '.[].id' | xargs bd close`},
	{"?", `bd close $(bd list --json | jq -r '.[0].id')`},
	{"?", `bd close "$ID"`},
	{"demo-1", `ID=demo-1; bd close $ID`},
	{"demo-1", `c="bd close demo-1"; $c`},
	{"demo-1", `BD=bd; $BD close demo-1`},
	{"demo-1", `${BD:-bd} close demo-1`},
	{"demo-1", `$(which bd) close demo-1`},
	{"demo-1", `v=close; bd "$v" demo-1`},
	{"demo-1", `bd {close,demo-1}`},
	{"demo-1 demo-2", `bd close demo-{1,2}`},
	{"demo-1 demo-2", `f() { bd close demo-{1,2}; }; f; f`},
	{"demo-1", `s=closed; bd update demo-1 -s $s`},
	{"demo-1", `bd update demo-1 --status "$(echo closed)"`},
	{"demo-1", `f() { bd close "$1"; }; f demo-1`},
	{"?", `f() { bd close "$1"; }`},
	{"demo-1", `bdj() { bd "$@" --json; }; bdj close demo-1`},
	{"demo-1", `alias c='bd close'; c demo-1`},
	{"demo-1", `trap 'bd close demo-1' EXIT`},
	{"demo-1", `echo demo-1 | while read -r id; do bd close $id; done`},
	{"demo-1 demo-2", `printf 'update demo-1 status="closed"\n"close" "demo-2" "all done"\n' | bd batch`},
	{"demo-1", `printf 'close demo-1 done\n' | bd batch`},
	{"?", `bd batch -f ops.txt`},
	{"?", `echo '{"id":"demo-1","title":"x","status":"closed"}' | bd import -`},
	{"?", `find . -name '*.id' -exec bd close {} \;`},
	{"demo-1", `ssh host 'cd repo && bd close demo-1'`},
	{"demo-1", `docker exec -it box bd close demo-1`},
	{"demo-1", `su ann -c "bd close demo-1"`},
	{"demo-1", `tmux send-keys "bd close demo-1" Enter`},
	{"demo-1", `"bd" "close" "demo-1"`},
	{"demo-1", `bd \
  close \
  demo-1`},

	// The store itself.
	{"store", `sed -i 's/open/closed/' .beads/issues.jsonl`},
	{"store", `sed -E -i.bak s/open/closed/ ./.beads/issues.jsonl`},
	{"store", `sed --in-place=.bak s/a/b/ /repo/.beads/issues.jsonl`},
	{"store", `perl -pi -e 's/open/closed/' .beads/issues.jsonl`},
	{"store", `jq -c . .beads/issues.jsonl > .beads/issues.jsonl`},
	{"store", `jq -c '.status="closed"' .beads/issues.jsonl > /tmp/x && mv /tmp/x .beads/issues.jsonl`},
	{"store", `jq -c . .beads/issues.jsonl | sponge .beads/issues.jsonl`},
	{"store", `echo '{}' | tee -a .beads/issues.jsonl`},
	{"store", `echo '{}' >> .beads/issues.jsonl`},
	{"store", `cat > ".beads/issues.jsonl" <<EOF
{}
EOF`},
	{"store", `cd .beads && sed -i s/open/closed/ issues.jsonl`},
	{"store", `cd sub; echo >> ../.beads/issues.jsonl`},
	{"store", `cp /tmp/issues.jsonl .beads/`},
	{"store", `cp -t .beads /tmp/issues.jsonl`},
	{"store", `dd if=/tmp/x of=.beads/issues.jsonl`},
	{"store", `truncate -s 0 .beads/issues.jsonl`},
	{"store", `: > .beads/issues.jsonl`},
	{"store", `> .beads/issues.jsonl`},
	{"store", `rm -rf .beads`},
	{"store", `mv .beads/issues.jsonl /tmp/`},
	{"store", `F=.beads/issues.jsonl; sed -i s/open/closed/ "$F"`},
	{"store", `sed -i s/open/closed/ "$(git rev-parse --show-toplevel)/.beads/issues.jsonl"`},
	{"store", `sed -i s/open/closed/ .beads/*.jsonl`},
	{"store", `find .beads -name '*.jsonl' -exec sed -i s/open/closed/ {} +`},
	{"store", `python3 -c "open('.beads/issues.jsonl','w').write('')"`},
	{"store", `python3 - <<'EOF'
p = '.beads/issues.jsonl'
text = open(p).read().replace('open', 'closed')
with open(p, 'w') as f:
    f.write(text)
EOF`},
	{"store", `node -e 'fs.writeFileSync(".beads/issues.jsonl", "")'`},
	{"store", `awk -i inplace '{print}' .beads/issues.jsonl`},
	{"store", `ed .beads/issues.jsonl <<< w`},
	{"store", `sort -o .beads/issues.jsonl .beads/issues.jsonl`},
	{"store", `sh -c 'echo {} >> .beads/issues.jsonl'`},

	// False friends.
	{"", `stig close demo-1 --reason "it works"`},
	{"", `bd show demo-1`},
	{"", `bd list --status closed`},
	{"", `bd list -s closed --json`},
	{"", `bd update demo-1 --status in_progress`},
	{"", `bd update demo-1 --notes "then bd close it, --status closed"`},
	{"", `bd update demo-1 -d "--status closed"`},
	{"", `bd create "close the door" -t task`},
	{"", `bd comments add demo-1 "bd close demo-1"`},
	{"", `bd close --help`},
	{"", `bd help close`},
	{"", `bd search close`},
	{"", `bd epic close-eligible --dry-run`},
	{"", `bd reopen demo-1`},
	{"", `bd dep add demo-1 demo-2`},
	{"", `bd todo`},
	{"", `bd import .beads/issues.jsonl`},
	{"", `printf 'update demo-1 status=in_progress\n' | bd batch`},
	{"", `echo "bd close demo-1"`},
	{"", `echo bd close demo-1`},
	{"", `git commit -m "bd close demo-1"`},
	{"", `git commit -m "$(cat <<'EOF'
Say when to type it

bd close demo-1 is what nobody should type.
EOF
)"`},
	{"", `grep -rn 'bd close' docs`},
	{"", `rg "update --status closed" .`},
	{"", `grep bd close notes.txt`},
	{"", `sudo grep bd close notes.txt`},
	{"", `man bd; man close`},
	{"", `which bd close`},
	{"", `# bd close demo-1`},
	{"", `ls # && bd close demo-1`},
	{"", `cat > notes.md <<'EOF'
bd close demo-1
EOF`},
	{"", `echo 'bd close demo-1' >> notes.md`},
	{"", `printf '%s\n' "bd close demo-1" | grep close`},
	{"", `python3 -c 'print("bd close demo-1")'`},
	{"", `abd close demo-1`},
	{"", `mybd close demo-1; bdx close demo-1`},
	{"", `f() { echo bd close demo-1; }; f`},
	{"", `npm run close -- demo-1`},
	{"", `gh issue close 12`},
	{"", `cat .beads/issues.jsonl`},
	{"", `jq -r .id .beads/issues.jsonl`},
	{"", `jq -c . .beads/issues.jsonl > /tmp/copy.jsonl`},
	{"", `grep closed .beads/issues.jsonl | wc -l > count.txt`},
	{"", `sed -n 1,5p .beads/issues.jsonl`},
	{"", `sed 's/open/closed/' .beads/issues.jsonl`},
	{"", `sed -e 's/i/o/' .beads/issues.jsonl`},
	{"", `perl -ne 'print if /closed/' .beads/issues.jsonl`},
	{"", `git add .beads/issues.jsonl && git commit -m close`},
	{"", `git diff .beads/issues.jsonl`},
	{"", `cp .beads/issues.jsonl /tmp/backup.jsonl`},
	{"", `cp -r .beads /tmp/copy`},
	{"", `echo .beads/issues.jsonl > paths.txt`},
	{"", `echo '{}' > other/.beads/issues.jsonl`},
	{"", `d=$(mktemp -d); mkdir $d/.beads; echo '{}' > $d/.beads/issues.jsonl`},
	{"", `cd /srv/other && echo '{}' > .beads/issues.jsonl`},
	{"", `sed -i s/a/b/ docs/issues.jsonl`},
	{"", `python3 -c "import json; [json.loads(l) for l in open('.beads/issues.jsonl')]"`},
	{"", `python3 -c "t=open('.beads/issues.jsonl').read(); open('out.csv','w').write(t)"`},
	{"", `tail -f .beads/issues.jsonl | tee log.txt`},
	{"", `diff <(jq . .beads/issues.jsonl) <(jq . /tmp/x.jsonl)`},
	{"", `rm -rf build dist`},
	{"", `dir=; test -z "$1" || dir=$1; rm -f "$dir/"* "$dir"`},
	{"", `rm -rf . "$a/$b" "/repo/$c"`},
	{"store", `rm -rf "$a/.beads"`},
	{"", `sqlite3 .beads/beads.db "select * from issues where status='closed'"`},
	{"", `tar czf b.tgz .beads`},
	{"", `go test ./... 2>&1 | tee test.log`},
	{"", ``},
	{"", `)`},
	{"", "0&0\xa2"}, // the parser panics

	// More of each, written when the rules stood, to see whether they hold.
	{"demo-1", "BD_JSON=1 time -p bd close demo-1 -q"},
	{"demo-1", "bd -q close demo-1 -- "},
	{"demo-1", "bd close -- demo-1"},
	{"demo-1", `bd close demo-1 --reason="x" --session $S`},
	{"demo-1", "set -e; cd /repo; bd close demo-1"},
	{"demo-1", "if true; then :; else bd close demo-1; fi"},
	{"demo-1", "until bd close demo-1; do :; done"},
	{"demo-1", "until false; do bd close demo-1; break; done"},
	{"demo-1", "for ((i=0;i<1;i++)); do bd close demo-1; done"},
	{"demo-1", "select x in a; do bd close demo-1; done"},
	{"demo-1", "a=(bd close demo-1); \"${a[@]}\""},
	{"demo-1", "declare x=demo-1; bd close $x"},
	{"demo-1", "export ID=demo-1 && bd close ${ID}"},
	{"demo-1", "local id=demo-1; bd close \"${id}\""},
	{"demo-1", "readarray -t a <<< demo-1; bd close ${a}"},
	{"demo-1", "bd update --json demo-1 -s closed --assignee ann"},
	{"demo-1", "bd update demo-1 -p 1 -s closed"},
	{"demo-1", "bd update -p1 demo-1 -sclosed"},
	{"demo-1", "bd update demo-1 --claim -s closed"},
	{"demo-1", "bd update demo-1 -qs closed"},
	{"demo-1", "exec bd close demo-1"},
	{"demo-1", "exec -a x bd close demo-1"},
	{"demo-1", "busybox sh -c 'bd close demo-1'"},
	{"demo-1", "zsh -ic 'bd close demo-1'"},
	{"demo-1", "bash -x -e -c 'bd close demo-1'"},
	{"demo-1", "bash --norc -c 'bd close demo-1'"},
	{"demo-1", "env -i PATH=$PATH bd close demo-1"},
	{"demo-1", "env -u X -- bd close demo-1"},
	{"demo-1", "nice bd close demo-1"},
	{"demo-1", "nice -10 bd close demo-1"},
	{"demo-1", "timeout 5s bd close demo-1"},
	{"demo-1", "timeout --signal=KILL 5s bd close demo-1"},
	{"demo-1", "stdbuf -oL bd close demo-1"},
	{"demo-1", "nohup bd close demo-1 >/dev/null 2>&1 &"},
	{"demo-1", "setsid -f bd close demo-1"},
	{"demo-1", "watch -n1 'bd close demo-1'"},
	{"demo-1", "flock /tmp/l bd close demo-1"},
	{"demo-1", "flock /tmp/l -c 'bd close demo-1'"},
	{"demo-1", "parallel bd close ::: demo-1"},
	{"demo-1 demo-2", "printf '%s\\n' demo-1 demo-2 | xargs -P2 -n 1 bd close"},
	{"demo-1", "echo demo-1 | xargs -I % sh -c 'bd close %'"},
	{"demo-1", "echo 'close demo-1' | xargs bd"},
	{"?", "xargs -a ids.txt bd close"},
	{"?", "cat ids | xargs -r bd close --reason done"},
	{"?", "cat ids | while read i; do bd close \"$i\"; done"},
	{"?", "while read -r i; do bd close $i; done < ids.txt"},
	{"demo-1 demo-2", "while read -r i; do bd close $i; done <<EOF\ndemo-1\ndemo-2\nEOF"},
	{"?", "for i in $(bd ready --json | jq -r .[].id); do bd close $i -r x; done"},
	{"?", "ids=$(bd ready -q); bd close $ids"},
	{"?", "mapfile -t a < ids; bd close \"${a[@]}\""},
	{"?", "function done_all { bd close \"$@\"; }"},
	{"demo-1", "function x { bd close \"$@\"; }; x demo-1"},
	{"demo-1", "x () { local i=$1; bd close $i; }; x demo-1"},
	{"demo-1", "git commit -m wip; bd close demo-1 # done"},
	{"demo-1", "git commit -m \"$(bd close demo-1)\""},
	{"demo-1", "echo $((1+$(bd close demo-1|wc -l)))"},
	{"demo-1", "cat < <(bd close demo-1)"},
	{"demo-1", "tee >(bd close demo-1) < /dev/null"},
	{"demo-1", "python3 -c 'print(1)' && bd close demo-1"},
	{"demo-1", "bd${IFS}close${IFS}demo-1"},
	{"demo-1", "npx bd close demo-1"},
	{"demo-1", "pnpx bd close demo-1"},
	{"demo-1", "./bd close demo-1"},
	{"demo-1", "../../bin/bd.exe close demo-1"},
	{"demo-1", "\"$HOME/.local/bin/bd\" close demo-1"},
	{"demo-1", "$(command -v bd) close demo-1"},
	{"demo-1", "`which br` close demo-1"},
	{"demo-1", "mise exec -- bd close demo-1"},
	{"demo-1", "nix run nixpkgs#beads -- close demo-1; bd close demo-1"},
	{"demo-1", "kubectl exec pod -- bd close demo-1"},
	{"demo-1", "podman exec -e A=b c bd close demo-1"},
	{"demo-1", "ssh -p 22 host bd close demo-1"},
	{"demo-1", "script -qc 'bd close demo-1' /dev/null"},
	{"demo-1", "BD() { bd \"$@\"; }; BD close demo-1"},
	{"demo-1", "dash <<-E\n\tbd close demo-1\n\tE"},
	{"demo-1", "echo -e 'true\\nbd close demo-1' | bash"},
	{"demo-1", "echo bd close demo-1 > /dev/stdout | sh"},
	{"store", "cat x >| .beads/issues.jsonl"},
	{"store", "cat x &> .beads/issues.jsonl"},
	{"store", "jq . x 1> .beads/issues.jsonl"},
	{"store", "exec 3>>.beads/issues.jsonl; echo {} >&3"},
	{"store", "(cd .beads; cat x > issues.jsonl)"},
	{"store", "pushd .beads >/dev/null; mv new issues.jsonl; popd"},
	{"store", "mv -f /tmp/new.jsonl .beads/issues.jsonl"},
	{"store", "cp -f /tmp/n /repo/.beads/issues.jsonl"},
	{"store", "install -m 644 x .beads/issues.jsonl"},
	{"store", "ln -sf /tmp/x .beads/issues.jsonl"},
	{"store", "rsync -a x .beads/issues.jsonl"},
	{"store", "sed -ni p .beads/issues.jsonl"},
	{"store", "sed -i'' -e s/a/b/ .beads/issues.jsonl"},
	{"store", "sed -i '' -e s/a/b/ .beads/issues.jsonl"},
	{"store", "gsed -i s/a/b/ .beads/issues.jsonl"},
	{"store", "perl -i -pe s/a/b/ .beads/issues.jsonl"},
	{"store", "perl -0pi -e s/a/b/ .beads/issues.jsonl"},
	{"store", "ruby -pi -e 'gsub' .beads/issues.jsonl"},
	{"store", "vim -es -c '%s/a/b/' -c wq .beads/issues.jsonl"},
	{"store", "ls .beads/issues.jsonl | xargs sed -i s/a/b/"},
	{"store", "echo .beads/issues.jsonl | xargs sed -i s/open/closed/"},
	{"store", "for f in .beads/*.jsonl; do sed -i s/a/b/ $f; done"},
	{"store", "S=$(git rev-parse --show-toplevel); jq . x > $S/.beads/issues.jsonl"},
	{"store", "cd $(git rev-parse --show-toplevel) && echo >> .beads/issues.jsonl"},
	{"store", "node <<'E'\nconst fs=require('fs'); const p='.beads/issues.jsonl';\nfs.writeFileSync(p, fs.readFileSync(p,'utf8').replace('open','closed'))\nE"},
	{"store", "python3 -c \"from pathlib import Path; p=Path('.beads/issues.jsonl'); p.write_text('')\""},
	{"store", "python3 -c \"import pathlib; pathlib.Path('.beads/issues.jsonl').write_text('x')\""},
	{"store", "python - <<E\nimport json\nwith open(\".beads/issues.jsonl\", \"w\") as f: json.dump({}, f)\nE"},
	{"store", "git show HEAD:.beads/issues.jsonl > .beads/issues.jsonl"},
	{"store", "apply_patch <<'E'\n*** Begin Patch\n*** Update File: .beads/issues.jsonl\n@@\n-a\n+b\n*** End Patch\nE"},
	{"store", "curl -s u -o .beads/issues.jsonl"},
	{"store", "rm .beads/issues.jsonl"},
	{"", "bd list | grep close"},
	{"", "bd show demo-1 --json | jq .status"},
	{"", "bd stats; bd blocked; bd ready --json"},
	{"", "bd update demo-1 --claim"},
	{"", "bd update demo-1 --status open"},
	{"", "bd update demo-1 --append-notes 'closed the door' --priority 1"},
	{"", "bd create 'x' -d 'run bd close demo-1 --status closed'"},
	{"", "bd note demo-1 close"},
	{"", "bd label add demo-1 done"},
	{"", "bd query 'status=closed'"},
	{"", "bd count --status closed"},
	{"", "bd sync --status"},
	{"", "bd sql 'select id from issues where status=\"closed\"'"},
	{"", "bd epic status"},
	{"", "bd todo list"},
	{"", "bd human list"},
	{"", "bd duplicates"},
	{"", "bd orphans"},
	{"", "br sync --flush-only"},
	{"", "gh pr close 3 && gh issue list"},
	{"", "git log --grep 'bd close'"},
	{"", "git log -S'bd close' -- docs"},
	{"", "git tag -m 'bd close' v1"},
	{"", "ag 'bd close demo-1'"},
	{"", "sed -n '/bd close/p' notes.md"},
	{"", "sed -i 's/bd close/stig close/' docs/a.md"},
	{"", "awk '/bd close/' x"},
	{"", "perl -pe 's/bd close/stig close/' x > y"},
	{"", "test -x $(which bd) && echo bd close"},
	{"", "printf 'bd close %s\\n' demo-1"},
	{"", "printf 'bd close %s\\n' demo-1 | tee plan.txt"},
	{"", "cat <<'E' | wc -l\nbd close demo-1\nE"},
	{"", "cat <<E > hook.sh\nbd close demo-1\nE\nchmod +x hook.sh"},
	{"", "echo 'sh -c \"bd close demo-1\"'"},
	{"", "x='bd close demo-1'; echo \"$x\""},
	{"", "alias c='bd close'; ls"},
	{"", "complete -W 'bd close' x"},
	{"", "help bd; type bd; bd --version; bd version"},
	{"", "docker build -t bd close"},
	{"", "make bd close"},
	{"", "just close demo-1"},
	{"", "cargo run -- close demo-1"},
	{"", "go run ./cmd/stig close demo-1 --reason x"},
	{"", "env | grep BD"},
	{"", "env BD_ACTOR=ann bd show demo-1"},
	{"", "sudo -u bd close"},
	{"", "ssh bd close"},
	{"", "ssh host 'grep \"bd close\" x'"},
	{"", "find . -name bd -o -name close"},
	{"", "find .beads -name '*.jsonl' -exec wc -l {} +"},
	{"", "find . -name '*.go' -exec sed -i s/a/b/ {} +"},
	{"", "xargs grep 'bd close' < files"},
	{"", "ls *.md | xargs sed -i s/a/b/"},
	{"", "tail -n1 .beads/issues.jsonl > last.json"},
	{"", "cp .beads/issues.jsonl .beads/issues.jsonl.bak"},
	{"", "mv out.jsonl results.jsonl"},
	{"", "jq -s length .beads/issues.jsonl 2> err.txt"},
	{"", "python3 scripts/report.py .beads/issues.jsonl > report.md"},
	{"", "python3 - <<E\nfor line in open('.beads/issues.jsonl'): print(line)\nE"},
	{"", "python3 -c \"import shutil; shutil.copy('.beads/issues.jsonl','/tmp/b.jsonl')\""},
	{"", "node -e 'const a=require(\"fs\").readFileSync(\".beads/issues.jsonl\",\"utf8\"); require(\"fs\").writeFileSync(\"o.json\",a)'"},
	{"", "sqlite3 x.db 'update issues set title=1'"},
	{"", "cat .beads/config.yaml > /tmp/x"},
	{"", "echo x > .beads/notes.txt"},
	{"", "rm -f .beads/beads.db-wal"},
	{"", "git checkout main -- src && git stash"},
	{"", "less .beads/issues.jsonl"},
	{"", "stig checkpoint demo-1 --done 'bd close demo-1 was denied'"},
	{"", "curl -s https://x/issues.jsonl -o /tmp/issues.jsonl"},
	{"", "for i in $(seq 3); do bd show demo-$i; done"},
	{"", "tmux new -d 'go test ./...'"},
	{"", "watch bd ready"},
	{"", "timeout 10 bd ready"},
	{"", "sort .beads/issues.jsonl -o sorted.jsonl"},
	{"", "diff .beads/issues.jsonl <(git show HEAD:.beads/issues.jsonl)"},

	// Tried by one who had not written the rules; the rules were then mended.
	{"demo-1", `xargs -0 -n1 bd close < <(printf 'demo-1\0')`},
	{"demo-1", `echo demo-1 | xargs --replace=X bd close X`},
	{"demo-1", `echo demo-1 | xargs --replace bd close {}`},
	{"demo-1", `echo "bd close demo-1" | xargs -I{} sh -c "{}"`},
	{"demo-1", `x=b; x+=d; $x close demo-1`},
	{"demo-1", `cmd=(bd close); cmd+=(demo-1); "${cmd[@]}"`},
	{"demo-1", `set -- close demo-1; bd "$@"`},
	{"demo-1", `set -- demo-1; bd close "$1"`},
	{"demo-1", `printf -v c close; bd $c demo-1`},
	{"demo-1", `read a b <<< "close demo-1"; bd $a $b`},
	{"demo-1", `$SHELL -c 'bd close demo-1'`},
	{"demo-1", `at now <<< 'bd close demo-1'`},
	{"demo-1", `echo 'bd close demo-1' | at now + 1 minute`},
	{"demo-1", `batch <<< 'bd close demo-1'`},
	{"demo-1", `systemd-run --user bd close demo-1`},
	{"demo-1", `nix run nixpkgs#beads -- close demo-1`},
	{"demo-1", `nix run github:steveyegge/beads -- close demo-1`},
	{"demo-1", `nix shell nixpkgs#beads -c bd close demo-1`},
	{"demo-1", `nix shell nixpkgs#beads --command bd close demo-1`},
	{"demo-1", `nix develop -c bd close demo-1`},
	{"demo-1", `nix-shell -p beads --run 'bd close demo-1'`},
	{"demo-1", `npx -y @beads/bd@latest close demo-1`},
	{"demo-1", `npm exec -- bd close demo-1`},
	{"demo-1", `npm exec @beads/bd -- close demo-1`},
	{"demo-1", `pnpm dlx @beads/bd close demo-1`},
	{"demo-1", `pnpm exec bd close demo-1`},
	{"demo-1", `yarn bd close demo-1`},
	{"demo-1", `yarn dlx @beads/bd close demo-1`},
	{"demo-1", `bun x bd close demo-1`},
	{"demo-1", `go run github.com/steveyegge/beads/cmd/bd@latest close demo-1`},
	{"demo-1", `go run ./cmd/bd close demo-1`},
	{"demo-1", `cargo run --bin br -- close demo-1`},
	{"demo-1", `uv run bd close demo-1`},
	{"demo-1", `poetry run bd close demo-1`},
	{"demo-1", `devbox run -- bd close demo-1`},
	{"demo-1", `op run -- bd close demo-1`},
	{"demo-1", `doppler run -- bd close demo-1`},
	{"demo-1", `dotenv -- bd close demo-1`},
	{"demo-1", `hyperfine 'bd close demo-1'`},
	{"demo-1", `entr -n bd close demo-1 < files`},
	{"demo-1", `ls | entr bd close demo-1`},
	{"demo-1", `git -c alias.x='!bd close demo-1' x`},
	{"demo-1", `git bisect run bd close demo-1`},
	{"demo-1", `git submodule foreach 'bd close demo-1'`},
	{"demo-1", `git rebase -x 'bd close demo-1' HEAD~1`},
	{"demo-1", `git config alias.x '!bd close demo-1' && git x`},
	{"demo-1", `screen -dm bd close demo-1`},
	{"demo-1", `docker run --rm -v .:/w img bd close demo-1`},
	{"demo-1", `docker compose exec app bd close demo-1`},
	{"demo-1", `docker compose run --rm app bd close demo-1`},
	{"demo-1", `docker run --rm img sh -c 'bd close demo-1'`},
	{"demo-1", `ssh host <<'E'
bd close demo-1
E`},
	{"demo-1", `ssh -t ann@host -- bd close demo-1`},
	{"demo-1", `su - ann <<< 'bd close demo-1'`},
	{"demo-1", `unshare -r bd close demo-1`},
	{"demo-1", `nsenter -t 1 -m bd close demo-1`},
	{"demo-1", `bwrap --bind / / bd close demo-1`},
	{"demo-1", `firejail bd close demo-1`},
	{"demo-1", `taskset -c 0 bd close demo-1`},
	{"demo-1", `chrt -i 0 bd close demo-1`},
	{"demo-1", `prlimit --nproc=9 bd close demo-1`},
	{"demo-1", `run-parts --arg=close x; rlwrap bd close demo-1`},
	{"demo-1", `gdb -batch -ex run --args bd close demo-1`},
	{"demo-1", `perf stat bd close demo-1`},
	{"demo-1", `ltrace bd close demo-1`},
	{"demo-1", `pwsh -c 'bd close demo-1'`},
	{"demo-1", `powershell.exe -Command "bd close demo-1"`},
	{"demo-1", `cmd /c "bd close demo-1"`},
	{"demo-1", `wsl bd close demo-1`},
	{"demo-1", `nu -c 'bd close demo-1'`},
	{"demo-1", `python3 -c "import os; os.system('bd close demo-1')"`},
	{"demo-1", `python3 -c 'import subprocess; subprocess.run(["bd", "close", "demo-1"], check=True)'`},
	{"demo-1", `python3 -c 'import subprocess as s; s.check_call("bd close demo-1", shell=True)'`},
	{"demo-1", `python3 - <<'E'
import subprocess
subprocess.run(["bd", "close", "demo-1", "--reason", "done"])
E`},
	{"demo-1", `perl -e 'system("bd close demo-1")'`},
	{"demo-1", `perl -e 'exec "bd","close","demo-1"'`},
	{"demo-1", "perl -e 'print `bd close demo-1`'"},
	{"demo-1", `ruby -e 'system "bd close demo-1"'`},
	{"demo-1", `node -e 'require("child_process").execSync("bd close demo-1")'`},
	{"demo-1", `node -e 'require("child_process").spawnSync("bd",["close","demo-1"])'`},
	{"demo-1", `awk 'BEGIN{system("bd close demo-1")}'`},
	{"demo-1", `parallel 'bd close {}' ::: demo-1`},
	{"demo-1", `parallel ::: 'bd close demo-1'`},
	{"demo-1", `echo 'bd close demo-1' > x.sh; sh x.sh`},
	{"demo-1", `echo 'bd close demo-1' > x.sh && chmod +x x.sh && ./x.sh`},
	{"demo-1", `cat > /tmp/x.sh <<'E'
bd close demo-1
E
bash /tmp/x.sh`},
	{"demo-1", `tee x.sh <<< 'bd close demo-1'; source ./x.sh`},
	{"demo-1", `a[$(bd close demo-1)]=1`},
	{"demo-1", `case x in $(bd close demo-1)) ;; esac`},
	{"demo-1", `bash --rcfile <(echo bd close demo-1) -i`},
	{"demo-1", `gt close demo-1`},
	{"demo-1", `gc bd close demo-1`},
	{"demo-1", `gc bd --rig a close demo-1`},
	{"demo-1", `cat > close.py <<'E'
import subprocess
subprocess.check_call(["bd", "close", "demo-1", "-r", "done"])
E
python3 close.py`},
	{"demo-1", `python3 -c "import os; os.execvp('bd', ['bd', 'close', 'demo-1'])"`},
	{"demo-1", `python3 -c "__import__('os').popen('bd close demo-1').read()"`},
	{"demo-1", `uv run python -c "import os; os.system('bd close demo-1')"`},
	{"demo-1", `docker run --rm python python3 -c "import os; os.system('bd close demo-1')"`},
	{"demo-1", `printf '#!/bin/sh\nbd close "$1"\n' > /tmp/c && chmod +x /tmp/c && /tmp/c demo-1`},
	{"demo-1", `echo 'bd close demo-1' >> run.sh; chmod +x run.sh; ./run.sh`},
	{"demo-1", `f=$(mktemp); echo 'bd close demo-1' > $f; sh $f`},
	{"demo-1", `cat <<'E' > ops.txt
close demo-1
E
bd batch -f ops.txt`},
	{"demo-1", `(cd sub; echo 'bd close demo-1' > x.sh); sh sub/x.sh`},
	{"demo-1", `sh < <(echo bd close demo-1)`},
	{"demo-1", `echo 'bd close demo-1' > x; sh < x`},
	{"demo-1", `echo 'bd close demo-1' > x; cat x | sh`},
	{"?", `python3 - <<'E'
import subprocess
for i in open("ids"):
    subprocess.run(["bd", "close", i])
E`},
	{"?", `bd ready --json | jq -r '.[]|"bd close \(.id)"' | sh`},
	{"?", `cat ids | sed 's/^/bd close /' | bash`},
	{"?", `awk '{print "bd close", $1}' ids | sh`},
	{"?", `bd import -i <(jq -c '.status="closed"' .beads/issues.jsonl)`},
	{"?", `jq -c '.status="closed"' .beads/issues.jsonl | bd import`},
	{"?", `sed 's/"open"/"closed"/' .beads/issues.jsonl | bd import -`},
	{"?", `echo '{"id":"demo-1","status":"closed"}' > /tmp/x.jsonl; bd import -i /tmp/x.jsonl`},
	{"?", `python3 -c "import sqlite3; sqlite3.connect('.beads/beads.db').execute(\"update issues set status='closed'\")"`},
	{"?", `mysql -e "update beads.issues set status='closed'"`},
	{"?", `sqlite3 .beads/beads.db "update or replace issues set status='closed'"`},
	{"?", `python3 - <<'E'
import subprocess
for i in ["demo-1", "demo-2"]:
    subprocess.run(f"bd close {i} --reason done", shell=True)
E`},
	{"?", `python3 - <<'E'
import subprocess
for i in ids:
    subprocess.run(["bd", "update", i, "--status", "closed"], check=True)
E`},
	{"?", `node -e 'for (const i of ids) require("child_process").execSync("bd close " + i)'`},
	{"?", "node -e 'for (const i of ids) require(\"child_process\").execSync(`bd close ${i}`)'"},
	{"store", `sed -n 'w .beads/issues.jsonl' /tmp/x`},
	{"store", `sed 's/a/b/w .beads/issues.jsonl' /tmp/x`},
	{"store", `sd '"open"' '"closed"' .beads/issues.jsonl`},
	{"store", `printf ',s/open/closed/\nw .beads/issues.jsonl\n' | ed -s /tmp/x`},
	{"store", `vim -c 'w! .beads/issues.jsonl' -c q /tmp/x`},
	{"store", `perl -e 'open F,">.beads/issues.jsonl"; print F "x"'`},
	{"store", `php -r 'file_put_contents(".beads/issues.jsonl","");'`},
	{"store", `python3 - <<'E'
import json
from pathlib import Path
store = Path(".beads") / "issues.jsonl"
store.write_text("")
E`},
	{"store", `python3 - <<'E'
import json, os
path = os.path.join(".beads", "issues.jsonl")
rows = [json.loads(l) for l in open(path)]
for r in rows: r["status"] = "closed"
with open(path, "w") as f:
    for r in rows: f.write(json.dumps(r) + "\n")
E`},
	{"store", `python3 -c "
import fileinput
for l in fileinput.input('.beads/issues.jsonl', inplace=True): print(l.replace('open','closed'), end='')"`},
	{"store", `python3 -c "
import io
with io.open(file='.beads/issues.jsonl', mode='w') as f: pass"`},
	{"store", `deno eval 'Deno.writeTextFileSync(".beads/issues.jsonl","")'`},
	{"store", `awk '{print > ".beads/issues.jsonl"}' /tmp/x`},
	{"store", `git apply <<'E'
--- a/.beads/issues.jsonl
+++ b/.beads/issues.jsonl
@@ -1 +1 @@
-{"id":"demo-1","status":"open"}
+{"id":"demo-1","status":"closed"}
E`},
	{"store", `patch -p1 <<'E'
--- a/.beads/issues.jsonl
+++ b/.beads/issues.jsonl
@@ -1 +1 @@
-{"id":"demo-1","status":"open"}
+{"id":"demo-1","status":"closed"}
E`},
	{"store", `cat <<'E' | patch -p1
--- a/.beads/issues.jsonl
+++ b/.beads/issues.jsonl
@@ -1 +1 @@
-x
+y
E`},
	{"store", `tar xzf b.tgz -C .beads issues.jsonl`},
	{"store", `tar xf b.tar .beads/issues.jsonl`},
	{"store", `unzip -o x.zip .beads/issues.jsonl`},
	{"store", `scp host:x .beads/issues.jsonl`},
	{"store", `grep -rl open .beads | xargs sed -i s/open/closed/`},
	{"store", `find . -name issues.jsonl -print0 | xargs -0 sed -i s/a/b/`},
	{"store", `script -c 'cat x' .beads/issues.jsonl`},
	{"store", `jq -c . x | rw .beads/issues.jsonl`},
	{"store", `uniq x .beads/issues.jsonl`},
	{"store", `shuf x -o .beads/issues.jsonl`},
	{"store", `iconv -f latin1 -t utf8 -o .beads/issues.jsonl x`},
	{"store", `dos2unix .beads/issues.jsonl`},
	{"store", `prettier --write .beads/issues.jsonl`},
	{"store", `python3 - <<'E'
import json, os, tempfile
root = os.getcwd()
p = f"{root}/.beads/issues.jsonl"
tmp = tempfile.NamedTemporaryFile("w", delete=False)
os.replace(tmp.name, p)
E`},
	{"store", `cat > fix.py <<'E'
import json
p = ".beads/issues.jsonl"
rows = [json.loads(l) for l in open(p)]
with open(p, "w") as f:
    f.write("\n".join(json.dumps(r) for r in rows))
E
python3 fix.py && rm fix.py`},
	{"store", `node - <<'E'
const fs = require('fs'), path = require('path');
const store = path.join(__dirname, '.beads', 'issues.jsonl');
fs.writeFileSync(store, '');
E`},
	{"store", `python3 - <<'E'
from pathlib import Path
p = Path.cwd() / ".beads/issues.jsonl"
p.write_text(p.read_text().replace("open", "closed"))
E`},
	{"store", `python3 - <<'E'
import json
from pathlib import Path
BEADS = Path(".beads/issues.jsonl")
with BEADS.open("w") as f:
    pass
E`},
	{"", `rg -l 'bd close' | xargs sed -i 's/bd close/stig close/g'`},
	{"", `perl -pi -e 's/bd close/stig close/' README.md`},
	{"", `cat > AGENTS.md <<'E'
When done:
    bd close ID
E`},
	{"", `cat > .claude/settings.json <<'E'
{"permissions":{"deny":["Bash(bd close:*)"]}}
E`},
	{"", `python3 - <<'E'
print("bd close demo-1")
E`},
	{"", `python3 -c "import json;print(sum(json.loads(l)['status']=='closed' for l in open('.beads/issues.jsonl')))"`},
	{"", `python3 -c "import re,sys; print(re.findall('bd close', open('AGENTS.md').read()))"`},
	{"", `python3 scripts/x.py --cmd 'bd close demo-1'`},
	{"", `node -e 'console.log("bd close demo-1")'`},
	{"", `awk '/bd close/{print $2}' log`},
	{"", `awk 'BEGIN{print "bd close demo-1"}'`},
	{"", `jq -r '.[]|"bd close \(.id)"' x.json`},
	{"", `history | grep 'bd close'`},
	{"", `bd list --status=closed --json | jq length`},
	{"", `bd list --status closed | xargs -n1 echo`},
	{"", `bd list --status closed --json | jq -r '.[].id' | xargs -n1 bd show`},
	{"", `bd ready | head -1 | xargs bd show`},
	{"", `bd show $(bd list -s closed --json | jq -r '.[0].id')`},
	{"", `bd import --dry-run < x`},
	{"", `docker build -t x --build-arg C='bd close' .`},
	{"", `docker run --rm img echo bd close demo-1`},
	{"", `ssh host 'echo bd close demo-1'`},
	{"", `tmux send-keys -t 0 'echo hello' Enter`},
	{"", `watch -n 5 'bd list --status closed'`},
	{"", `find docs -name '*.md' -exec grep -l 'bd close' {} +`},
	{"", `find . -name '*.md' | xargs grep 'bd close'`},
	{"", `git show HEAD:.beads/issues.jsonl | jq -r 'select(.status=="closed").id'`},
	{"", `cat .beads/issues.jsonl | jq -r .title | sort > titles.txt`},
	{"", `cp .beads/issues.jsonl .beads/issues.jsonl.orig`},
	{"", `cp .beads/issues.jsonl{,.bak}`},
	{"", `mkdir -p /tmp/w/.beads && cp .beads/issues.jsonl /tmp/w/.beads/issues.jsonl`},
	{"", `cp -r .beads /tmp/w/ && cd /tmp/w && sed -i s/a/b/ .beads/issues.jsonl`},
	{"", `sqlite3 -readonly .beads/beads.db "select id,status from issues where status!='closed'"`},
	{"", `sqlite3 .beads/beads.db ".dump issues" > dump.sql`},
	{"", `dolt sql -q "select count(*) from issues where status='closed'"`},
	{"", `grep '"status":"closed"' .beads/issues.jsonl | jq -r .id > closed.txt`},
	{"", `jq -c 'select(.status=="closed")' .beads/issues.jsonl | tee closed.jsonl`},
	{"", `perl -lane 'print if /x/i' .beads/issues.jsonl`},
	{"", `ruby -rjson -ne 'puts $_' .beads/issues.jsonl`},
	{"", `rm -f .beads/beads.db .beads/daemon.log`},
	{"", `rm -rf node_modules/.cache`},
	{"", `rm -rf "$TMPDIR/x"`},
	{"", `gt status; gt log`},
	{"", `gt submit --no-edit`},
	{"", `apply_patch <<'E'
*** Begin Patch
*** Update File: docs/a.md
@@
-bd close demo-1
+stig close demo-1
*** End Patch
E`},
	{"", `git apply <<'E'
--- a/docs/x.md
+++ b/docs/x.md
@@ -1 +1 @@
-bd close demo-1
+stig close demo-1
E`},
	{"", `patch -p1 <<'E'
--- a/docs/x.md
+++ b/docs/x.md
@@ -1 +1 @@
-.beads/issues.jsonl
+.beads/beads.jsonl
E`},
	{"", `nix run nixpkgs#beads -- list --status closed`},
	{"", `npx @beads/bd list --status closed`},
	{"", `npx prettier --check bd close`},
	{"", `go run ./cmd/bd list`},
	{"", `docker compose exec app ls`},
	{"", `python3 -c "import subprocess; print(subprocess.run(['bd','list','--status','closed'],capture_output=True).stdout)"`},
	{"", `python3 -c "import subprocess; subprocess.run(['bd','show','demo-1'])"`},
	{"", `python3 -c "cmd = 'bd close demo-1'; print(cmd)"`},
	{"", `python3 - <<'E'
text = open("AGENTS.md").read().replace("bd close", "stig close")
open("AGENTS.md", "w").write(text)
E`},
	{"", `perl -ne 'print if /system\("bd close/' x.pl`},
	{"", `echo "import os; os.system('bd close demo-1')" > notes.txt`},
	{"", `awk '{print "bd close " $1}' ids > plan.txt`},
	{"", `git rebase -x 'go test ./...' HEAD~1`},
	{"", `git bisect run go test ./...`},
	{"", `git config alias.x '!go test'`},
	{"", `echo 'bd close demo-1' > x.sh; cat x.sh`},
	{"", `echo 'go test' > x.sh; sh x.sh`},
	{"", `hyperfine 'bd list'`},
	{"", `make -f Makefile bd close`},
	{"", `at now <<< 'bd list'`},
	{"", `systemd-run --user bd list`},
	{"", `docker run --rm img bd list --status closed`},
	{"", `dos2unix README.md; prettier --write docs/*.md`},
	{"", `tar xf b.tar src`},
	{"", `scp .beads/issues.jsonl host:x`},
	{"", `uniq .beads/issues.jsonl`},
	{"", `echo '{"tool_name":"Bash","tool_input":{"command":"bd close demo-1"}}' | stig hook pre-tool-use`},
	{"", `stig hook pre-tool-use <<< '{"tool_input":{"command":"bd close demo-1"}}' > out.json; cat out.json`},
	{"", `python3 - <<'E'
import os, tempfile
with tempfile.TemporaryDirectory() as d:
    p = os.path.join(d, ".beads", "issues.jsonl")
    open(p, "w").write("{}")
E`},
	{"", `python3 - <<'E'
import subprocess
subprocess.run(["git", "commit", "-m", "bd close demo-1"])
E`},
	{"", `python3 -c 'import subprocess; subprocess.run("echo bd close demo-1", shell=True)'`},
	{"", `python3 -c 'import subprocess; subprocess.run(["bd", "list", "--status", "closed"])'`},
	{"", `python3 -c 'import json; d=json.load(open("x")); d["cmd"]="bd close demo-1"; json.dump(d, open("x","w"))'`},
	{"", `python3 -c 'assert run.called_with("x"); s = "bd close"'`},
	{"", `docker run --rm img grep -r "bd close" /src`},
	{"", `docker run --rm img rg bd close`},
	{"", `docker run --rm -v "$PWD:/w" golang go test ./...`},
	{"", `kubectl exec pod -- cat bd close`},
	{"", `kubectl run bd --image=x`},
	{"", `npm run bd-close`},
	{"", `npm install @beads/bd`},
	{"", `npm exec -- eslint --fix .`},
	{"", `pnpm add -D @beads/bd`},
	{"", `yarn close demo-1`},
	{"", `go install github.com/steveyegge/beads/cmd/bd@latest`},
	{"", `go run ./cmd/bd list --status closed`},
	{"", `go run . hook <<< '{"command":"bd close demo-1"}'`},
	{"", `go run ./cmd/x 'bd close demo-1'`},
	{"", `cargo run -- hook 'bd close demo-1'`},
	{"", `nix run nixpkgs#beads -- show demo-1`},
	{"", `nix develop -c go test ./...`},
	{"", `git config alias.done '!bd list --status closed'`},
	{"", `git log --grep='bd close' --exec-path`},
	{"", `git rebase -x 'bd list' main`},
	{"", `git apply fix.patch && git add -A`},
	{"", `git am < 0001.patch`},
	{"", `git submodule foreach 'git pull'`},
	{"", `cat > x.py <<'E'
print('bd close demo-1')
E
python3 x.py`},
	{"", `cat > check.sh <<'E'
grep -q 'bd close' AGENTS.md
E
bash check.sh`},
	{"", `cat > deny.sh <<'E'
case "$1" in *"bd close"*) exit 2;; esac
E
chmod +x deny.sh; ./deny.sh "bd close demo-1"`},
	{"", `echo 'bd close demo-1' > cases.txt; while read -r l; do echo "$l"; done < cases.txt`},
	{"", `echo 'bd close demo-1' > cases.txt; xargs -I{} echo {} < cases.txt`},
	{"", `echo 'bd close demo-1' > test; test -f x`},
	{"", `cat cases.txt | grep 'bd close' | wc -l`},
	{"", `sed -n 's/.*\(bd close\).*/\1/p' f | sort | uniq -c`},
	{"", `n=$(grep -c 'bd close' AGENTS.md); if [ "$n" -gt 0 ]; then echo "$n"; fi`},
	{"", `for f in $(grep -rl 'bd close' docs); do sed -i 's/bd close/stig close/' "$f"; done`},
	{"", `for f in $(rg -l 'bd close'); do echo $f; done`},
	{"", `files=$(git grep -l 'bd close'); vim $files`},
	{"", `grep -rl 'bd close' docs | xargs sed -i 's/bd close/stig close/'`},
	{"", `grep -rl closed .beads | xargs wc -l`},
	{"", `find . -type f -name '*.md' | xargs sed -i 's/a/b/'`},
	{"", `find . -type f -not -path '*/.*' -exec sed -i s/a/b/ {} +`},
	{"", `find . -not -path './.beads/*' -type f | xargs sed -i s/a/b/`},
	{"", `find . -name node_modules -prune -o -name '*.ts' -print | xargs prettier --write`},
	{"", `awk '{print > "out.txt"}' .beads/issues.jsonl`},
	{"", `awk -F: '{print $1}' .beads/issues.jsonl > out`},
	{"", `tar cf beads.tar .beads/issues.jsonl`},
	{"", `tar tf x.tar .beads/issues.jsonl`},
	{"", `tar xf b.tgz -C /tmp/x .beads/issues.jsonl`},
	{"", `scp host:repo/.beads/issues.jsonl /tmp/`},
	{"", `scp .beads/issues.jsonl host:repo/.beads/issues.jsonl`},
	{"", `script -qc 'go test ./...' log.txt`},
	{"", `set -- $(git diff --name-only); for f in "$@"; do echo "$f"; done`},
	{"", `set -- list --status closed; bd "$@"`},
	{"", `printf -v x '%s' 'bd close demo-1'; echo "$x"`},
	{"", `bd list --json > /tmp/l.json; jq -r '.[].id' /tmp/l.json | head`},
	{"", `bd export -o /tmp/x.jsonl; jq -c 'select(.status=="closed")' /tmp/x.jsonl > closed.jsonl`},
	{"", `bd import -i /tmp/x.jsonl`},
	{"", `jq -c 'select(.status=="open")' x.jsonl | bd import -`},
	{"", `sqlite3 .beads/beads.db "update issues set assignee='ann'"`},
	{"", `python3 -c "import sqlite3; print(sqlite3.connect('.beads/beads.db').execute(\"select id from issues where status='closed'\").fetchall())"`},
	{"", `node -e 'const p=require("path").join(".beads","issues.jsonl"); console.log(require("fs").readFileSync(p,"utf8").length)'`},
	{"", `python3 -c "
import json, pathlib
rows = [json.loads(l) for l in (pathlib.Path('.beads') / 'issues.jsonl').read_text().splitlines()]
open('report.md','w').write(str(len(rows)))"`},
	{"", `python3 - <<'E'
import json, os
path = os.path.join(".beads", "issues.jsonl")
with open(path) as f, open("out.csv", "w") as out:
    for l in f: out.write(json.loads(l)["id"] + "\n")
E`},
	{"", `ruby -e 'puts File.read(".beads/issues.jsonl").lines.size'`},
	{"", `ruby -e 'system "bd list --status closed"'`},
	{"", "perl -e 'print `bd list`'"},
	{"", `perl -ne 'print "bd close $1\n" if /id":"(\S+?)"/' .beads/issues.jsonl`},
	{"", `perl -e 'open F, "<.beads/issues.jsonl"; print <F>'`},
	{"", `tmux new-session -d 'bd list'`},
	{"", `hyperfine --warmup 3 'stig orient' 'bd ready'`},
	{"", `powershell -Command "bd list --status closed"`},
	{"", `ssh host <<'E'
bd list
E`},
	{"", `x=; x+=bd; x+=" list"; $x`},
	{"", `sd 'bd close' 'stig close' docs/*.md`},
	{"", `printf 'w\nq\n' | ed -s notes.md`},
	{"", `sed -n 'w out.txt' .beads/issues.jsonl`},
	{"", `gt create -m "bd close"; gt submit`},
	{"", `gc bd list`},
	{"", `gc status`},

	// Forms that no line above has.
	{"demo-1", `$BD close demo-1`},
	{"demo-1", `coproc bd close demo-1`},
	{"demo-1", `() { bd close demo-1; }`},
	{"demo-1", `{ echo bd close demo-1; } | sh`},
	{"demo-1", `(echo bd close demo-1) | sh`},
	{"demo-1", `echo -n bd close demo-1 | sh`},
	{"demo-1", `printf -- 'bd close %s' demo-1 | sh`},
	{"demo-1", `printf '# 100%%\nbd close demo-1' | sh`},
	{"demo-1", `echo bd close demo-1 | sh /dev/stdin`},
	{"demo-1", `git rebase --exec='bd close demo-1' main`},
	{"demo-1", `env --split-string='bd close demo-1'`},
	{"demo-1", `printf 'update demo-1 status=closed\n' | bd batch`},
	{"demo-1", `python3 -c "import os; os.system(\"\"\"bd close demo-1\"\"\")"`},
	{"demo-1", `node -e 'require("child_process").execSync("bd close \"demo-1\"")'`},
	{"demo-1", `node -p 'require("child_process").execSync("bd close demo-1")'`},
	{"demo-1 demo-2", `for i in 1 2; do echo bd close demo-$i; done | sh`},
	{"demo-1 demo-2", `echo bd close demo-1 | sh && echo bd close demo-2 | sh`},
	{"demo-1 demo-2 demo-3", `bd close demo-{1..3}`},
	{"?", `bd close demo-{1..9..2}`},
	{"?", `for id; do bd close $id; done`},
	{"?", `bd duplicates --auto-merge`},
	{"store", `sed -i s/a/b/ .beads/config.yaml; sed -i s/a/b/ .beads/issues.jsonl`},
	{"store", `echo {} >> /repo/$D/issues.jsonl`},
	{"store", `echo {} >> "$BEADS_DIR/issues.jsonl"`},
	{"store", `d=""; rm -rf "$d/.beads"`},
	{"store", `find .beads -name '*.jsonl' -delete`},
	{"store", `wget -O .beads/issues.jsonl u`},
	{"store", `yq -i -o json .x .beads/issues.jsonl`},
	{"store", `echo {} >> "$(pwd)/.beads/issues.jsonl"`},
	{"", `tar ""`},
	{"", `tar --exclude=x -cf b.tar .beads/issues.jsonl`},
}

package guard_test

import (
	"testing"

	"stig/guard"
)

// unforeseenHonest are lines that people and assistants plainly type in /repo, and
// that close an issue or write the store unforeseen: through code in other languages,
// scripts in files, values of variables, SQL, imports. What each does stands before it.
// The comparison of the store after the call finds it.
var unforeseenHonest = []struct{ does, command string }{
	{"?", `bd sql "UPDATE issues SET status='closed' WHERE id='demo-1'"`},
	{"?", `sqlite3 .beads/beads.db "update issues set updated_at=1, status = 'closed'"`},
	{"demo-1", `BD=bd; $BD close demo-1`},
	{"demo-1", `${BD:-bd} close demo-1`},
	{"demo-1", `$(which bd) close demo-1`},
	{"demo-1", `bdj() { bd "$@" --json; }; bdj close demo-1`},
	{"demo-1", `trap 'bd close demo-1' EXIT`},
	{"?", `bd batch -f ops.txt`},
	{"?", `echo '{"id":"demo-1","title":"x","status":"closed"}' | bd import -`},
	{"demo-1", `su ann -c "bd close demo-1"`},
	{"demo-1", `tmux send-keys "bd close demo-1" Enter`},
	{"store", `dd if=/tmp/x of=.beads/issues.jsonl`},
	{"store", `F=.beads/issues.jsonl; sed -i s/open/closed/ "$F"`},
	{"store", `find .beads -name '*.jsonl' -exec sed -i s/open/closed/ {} +`},
	{"store", `python3 -c "open('.beads/issues.jsonl','w').write('')"`},
	{"store", `python3 - <<'EOF'
p = '.beads/issues.jsonl'
text = open(p).read().replace('open', 'closed')
with open(p, 'w') as f:
    f.write(text)
EOF`},
	{"store", `node -e 'fs.writeFileSync(".beads/issues.jsonl", "")'`},
	{"store", `sed -i s/open/closed/ "$(git rev-parse --show-toplevel)/.beads/issues.jsonl"`},
	{"store", "cd $(git rev-parse --show-toplevel) && echo >> .beads/issues.jsonl"},
	{"store", `echo {} >> "$(pwd)/.beads/issues.jsonl"`},
	{"store", `rm -rf "$a/.beads"`},
	{"demo-1", "$(command -v bd) close demo-1"},
	{"demo-1", "`which br` close demo-1"},
	{"demo-1", "script -qc 'bd close demo-1' /dev/null"},
	{"demo-1", "BD() { bd \"$@\"; }; BD close demo-1"},
	{"store", "ls .beads/issues.jsonl | xargs sed -i s/a/b/"},
	{"store", "echo .beads/issues.jsonl | xargs sed -i s/open/closed/"},
	{"store", "for f in .beads/*.jsonl; do sed -i s/a/b/ $f; done"},
	{"store", "S=$(git rev-parse --show-toplevel); jq . x > $S/.beads/issues.jsonl"},
	{"store", "node <<'E'\nconst fs=require('fs'); const p='.beads/issues.jsonl';\nfs.writeFileSync(p, fs.readFileSync(p,'utf8').replace('open','closed'))\nE"},
	{"store", "python3 -c \"from pathlib import Path; p=Path('.beads/issues.jsonl'); p.write_text('')\""},
	{"store", "python3 -c \"import pathlib; pathlib.Path('.beads/issues.jsonl').write_text('x')\""},
	{"store", "python - <<E\nimport json\nwith open(\".beads/issues.jsonl\", \"w\") as f: json.dump({}, f)\nE"},
	{"demo-1", `at now <<< 'bd close demo-1'`},
	{"demo-1", `echo 'bd close demo-1' | at now + 1 minute`},
	{"demo-1", `nix-shell -p beads --run 'bd close demo-1'`},
	{"demo-1", `su - ann <<< 'bd close demo-1'`},
	{"demo-1", `python3 -c "import os; os.system('bd close demo-1')"`},
	{"demo-1", `python3 -c 'import subprocess; subprocess.run(["bd", "close", "demo-1"], check=True)'`},
	{"demo-1", `python3 -c 'import subprocess as s; s.check_call("bd close demo-1", shell=True)'`},
	{"demo-1", `python3 - <<'E'
import subprocess
subprocess.run(["bd", "close", "demo-1", "--reason", "done"])
E`},
	{"demo-1", `perl -e 'system("bd close demo-1")'`},
	{"demo-1", `ruby -e 'system "bd close demo-1"'`},
	{"demo-1", `node -e 'require("child_process").execSync("bd close demo-1")'`},
	{"demo-1", `node -e 'require("child_process").spawnSync("bd",["close","demo-1"])'`},
	{"demo-1", `echo 'bd close demo-1' > x.sh; sh x.sh`},
	{"demo-1", `echo 'bd close demo-1' > x.sh && chmod +x x.sh && ./x.sh`},
	{"demo-1", `cat > /tmp/x.sh <<'E'
bd close demo-1
E
bash /tmp/x.sh`},
	{"demo-1", `tee x.sh <<< 'bd close demo-1'; source ./x.sh`},
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
	{"demo-1", `echo 'bd close demo-1' > x; sh < x`},
	{"demo-1", `echo 'bd close demo-1' > x; cat x | sh`},
	{"?", `python3 - <<'E'
import subprocess
for i in open("ids"):
    subprocess.run(["bd", "close", i])
E`},
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
	{"store", `grep -rl open .beads | xargs sed -i s/open/closed/`},
	{"store", `find . -name issues.jsonl -print0 | xargs -0 sed -i s/a/b/`},
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
	{"demo-1", `$BD close demo-1`},
	{"demo-1", `python3 -c "import os; os.system(\"\"\"bd close demo-1\"\"\")"`},
	{"demo-1", `node -e 'require("child_process").execSync("bd close \"demo-1\"")'`},
	{"demo-1", `node -p 'require("child_process").execSync("bd close demo-1")'`},
	{"store", `echo {} >> /repo/$D/issues.jsonl`},
	{"store", `echo {} >> "$BEADS_DIR/issues.jsonl"`},
	{"store", `d=""; rm -rf "$d/.beads"`},
	{"store", `find .beads -name '*.jsonl' -delete`},
}

// unforeseenEvasions are lines that somebody types who means to get past the guard, or
// that nobody types.
var unforeseenEvasions = []struct{ does, command string }{
	{"demo-1", `$'\x62d' close demo-1`},
	{"demo-1", `printf 'bd %s %s\n' close demo-1 | bash`},
	{"demo-1", `source <(echo bd close demo-1)`},
	{"demo-1", `echo YmQgY2xvc2UgZGVtby0xCg== | base64 -d | sh`},
	{"demo-1", `c="bd close demo-1"; $c`},
	{"demo-1", `v=close; bd "$v" demo-1`},
	{"demo-1", `bd {close,demo-1}`},
	{"demo-1", `alias c='bd close'; c demo-1`},
	{"demo-1", "a=(bd close demo-1); \"${a[@]}\""},
	{"demo-1", "echo 'close demo-1' | xargs bd"},
	{"demo-1", "bd${IFS}close${IFS}demo-1"},
	{"demo-1", `echo "bd close demo-1" | xargs -I{} sh -c "{}"`},
	{"demo-1", `x=b; x+=d; $x close demo-1`},
	{"demo-1", `cmd=(bd close); cmd+=(demo-1); "${cmd[@]}"`},
	{"demo-1", `set -- close demo-1; bd "$@"`},
	{"demo-1", `printf -v c close; bd $c demo-1`},
	{"demo-1", `read a b <<< "close demo-1"; bd $a $b`},
	{"demo-1", `$SHELL -c 'bd close demo-1'`},
	{"demo-1", `batch <<< 'bd close demo-1'`},
	{"demo-1", `hyperfine 'bd close demo-1'`},
	{"demo-1", `entr -n bd close demo-1 < files`},
	{"demo-1", `ls | entr bd close demo-1`},
	{"demo-1", `git -c alias.x='!bd close demo-1' x`},
	{"demo-1", `git bisect run bd close demo-1`},
	{"demo-1", `git submodule foreach 'bd close demo-1'`},
	{"demo-1", `git rebase -x 'bd close demo-1' HEAD~1`},
	{"demo-1", `git config alias.x '!bd close demo-1' && git x`},
	{"demo-1", `screen -dm bd close demo-1`},
	{"demo-1", `unshare -r bd close demo-1`},
	{"demo-1", `nsenter -t 1 -m bd close demo-1`},
	{"demo-1", `bwrap --bind / / bd close demo-1`},
	{"demo-1", `firejail bd close demo-1`},
	{"demo-1", `chrt -i 0 bd close demo-1`},
	{"demo-1", `prlimit --nproc=9 bd close demo-1`},
	{"demo-1", `run-parts --arg=close x; rlwrap bd close demo-1`},
	{"demo-1", `gdb -batch -ex run --args bd close demo-1`},
	{"demo-1", `perf stat bd close demo-1`},
	{"demo-1", `ltrace bd close demo-1`},
	{"demo-1", `perl -e 'exec "bd","close","demo-1"'`},
	{"demo-1", "perl -e 'print `bd close demo-1`'"},
	{"demo-1", `awk 'BEGIN{system("bd close demo-1")}'`},
	{"demo-1", `parallel ::: 'bd close demo-1'`},
	{"demo-1", `bash --rcfile <(echo bd close demo-1) -i`},
	{"demo-1", `sh < <(echo bd close demo-1)`},
	{"store", `sed -n 'w .beads/issues.jsonl' /tmp/x`},
	{"store", `sed 's/a/b/w .beads/issues.jsonl' /tmp/x`},
	{"store", `printf ',s/open/closed/\nw .beads/issues.jsonl\n' | ed -s /tmp/x`},
	{"store", `vim -c 'w! .beads/issues.jsonl' -c q /tmp/x`},
	{"store", `awk '{print > ".beads/issues.jsonl"}' /tmp/x`},
	{"store", `script -c 'cat x' .beads/issues.jsonl`},
	{"store", `jq -c . x | rw .beads/issues.jsonl`},
	{"store", `uniq x .beads/issues.jsonl`},
	{"store", `iconv -f latin1 -t utf8 -o .beads/issues.jsonl x`},
	{"demo-1", `printf -- 'bd close %s' demo-1 | sh`},
	{"demo-1", `echo bd close demo-1 | sh /dev/stdin`},
	{"demo-1", `git rebase --exec='bd close demo-1' main`},
}

// TestUnforeseen validates that the tables say what Closes does not see: a line that it
// comes to see belongs into closingCases.
func TestUnforeseen(t *testing.T) {
	for _, c := range append(unforeseenHonest, unforeseenEvasions...) {
		if got := seen(guard.Closes(c.command)); got != "" {
			t.Errorf("%s\n is seen to do %q: move it to closingCases", c.command, got)
		}
	}
}

package gate_test

import (
	"slices"
	"strings"
	"testing"

	"stig/internal/gate"
)

// destroying are commands that destroy, "|" between words that may each stand
// in a place: every program and every word that is known to.
const destroying = `
git push
git reset --hard|--merge|--keep
git clean -f|--force|-xdf
git checkout -f|--force|--|. x
git restore x
git branch -D|-d|--delete x
git tag -d|--delete x
git stash drop|clear
git filter-branch|filter-repo|update-ref x
git reflog expire|delete
git gc --prune=now
git worktree remove x
git lfs prune
gh repo delete|archive
gh api -X DELETE|--method=DELETE|-XDELETE
gh issue|run|secret|variable|cache|gist delete x
gh release create|delete|upload
gh pr merge|close
kubectl|oc delete|drain|replace x
helm uninstall|delete|push x
flux|argocd|velero uninstall|delete x
argocd|flux app|kustomization|source delete x
k3d|kind|minikube|eksctl delete
k3d|kind|eksctl cluster|nodegroup delete
docker|podman|nerdctl prune|rm|rmi|push x
docker|podman|nerdctl volume|network|container|image|system rm|prune
docker|podman|nerdctl compose down -v|--volumes
docker-compose down -v|--volumes
terraform|tofu|terragrunt apply|destroy
terraform|tofu state rm x
pulumi up|destroy
cdk|cdktf|serverless|sam deploy|destroy|remove|delete
aws s3 rm|rb x
flyctl|fly|firebase|wrangler|vercel|netlify|heroku delete|destroy|deploy|publish|remove
npm|yarn|pnpm|bun|cargo|poetry|uv|hatch|flit|pdm|lerna|vsce|changeset publish|unpublish|yank|deprecate
yarn|npm npm|pkg publish
dart|flutter pub publish
mix hex.publish|ecto.drop|ecto.reset
mvn|mvnw|gradle|gradlew deploy|publish|release:perform|uploadArchives
mvn|mvnw|gradle|gradlew clean deploy|publish
dotnet nuget push|delete x
nuget|gem|twine|oras|crane|skopeo push|upload|delete|yank x
goreleaser release
nix-collect-garbage|semantic-release|rimraf
nix store gc|delete
nixos-rebuild|darwin-rebuild|home-manager|colmena switch|boot|apply
brew|apt|apt-get|dnf|yum|pacman remove|uninstall|purge|autoremove x
redis-cli FLUSHALL|FLUSHDB|flushall|flushdb
crontab -r
rails|rake db:drop|db:reset|db:purge|db:schema:load
artisan migrate:fresh|migrate:reset|db:wipe
php artisan migrate:fresh|migrate:reset|db:wipe
prisma migrate reset
prisma db push --force-reset|--accept-data-loss
supabase db reset
sqlx|diesel database drop|reset
mysqladmin drop x
rsync --delete|--delete-after|--delete-excluded|--remove-source-files a b
zfs|zpool destroy x
cryptsetup luksFormat|erase x
systemctl stop|disable|mask|reboot|poweroff|halt
find x -delete
bd|br delete|purge
bd|br cleanup --force
gt polecat nuke
dd|mkfs|newfs|mkswap|fdisk|sfdisk|sgdisk|parted|wipefs|shred|blkdiscard|dropdb|dropuser x
lvremove|vgremove|pvremove|userdel|groupdel x
shutdown|reboot|halt|poweroff|pkill|killall|truncate x

psql|mysql|mariadb|sqlite3|mongosh|duckdb -c ' drop|truncate table|database|schema x'
psql|sqlite3 -c ' delete from x'
mongosh -c 'x.dropDatabase()'
aws|gcloud|az|gsutil|bq|doctl|hcloud|oci|ibmcloud|linode-cli|scw x delete
az x delete-y|destroy|terminate|purge|remove|rb
/usr/bin/time git push
sudo|doas|env|nohup|nice|time|timeout|xargs|command|exec|builtin|stdbuf|setsid|ionice git push
parallel|watch|caffeinate|npx|pnpx|bunx|uvx|chroot|unshare|strace|valgrind|busybox|flock|runuser|su git push
gtimeout|chronic|noglob|nocorrect|unbuffer git push
docker|podman|nerdctl|kubectl|oc|poetry|uv|pdm|hatch|bundle|npm|pnpm|yarn exec git push
bun|mise|nix|direnv|devbox|pixi|conda|rye|pipenv|docker-compose|dotenv|doppler exec git push
nix run|exec|dlx|x|-c|--command|-- git push
sh|bash|zsh|dash|ksh|ash|mksh|fish|rbash|nu|su|runuser|script|flock -c 'git push'
tee|cp|mv|ln|install|rsync|scp x /etc/x
rm|mv|unlink|rmdir ~/x y
tee /dev/sda|/dev/hda|/dev/vda|/dev/xvda|/dev/nvme0|/dev/mmcblk0|/dev/disk1|/dev/rdisk1|/dev/mapper/x
tee /dev/dm-0|/dev/md0|/dev/loop0|/dev/ada0|/dev/da0
`

// choices expands a line with alternatives.
func choices(line string) []string {
	texts := []string{""}
	for word := range strings.FieldsSeq(line) {
		var longer []string
		for alternative := range strings.SplitSeq(word, "|") {
			for _, text := range texts {
				longer = append(longer, strings.TrimSpace(text+" "+alternative))
			}
		}
		texts = longer
	}
	return texts
}

func TestDestroying(t *testing.T) {
	for line := range strings.Lines(destroying) {
		for _, text := range choices(line) {
			checks := gate.Plan("```verify\n" + text + "\n```")
			if text != "" && !slices.ContainsFunc(checks, func(c gate.Check) bool { return c.Class == gate.Refused }) {
				t.Errorf("%s: %+v", text, checks)
			}
		}
	}
}

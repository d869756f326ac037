package merge

// The merge driver, which git runs in a shell at the top of the work tree. stig writes %A
// atomically, so that a failed stig leaves either a result with conflict markers or our side
// untouched. The latter is merged by lines with git merge-file, which may repeat an id without
// a conflict, so the driver never reports that as merged.
const (
	PlainDriver    = "stig merge %O %A %B" // what setup wrote before there was a fallback
	DriverFallback = " || { grep -q ^======= %A || git merge-file --diff3 -L ours -L base -L theirs %A %O %B; exit 1; }"
	DriverCommand  = PlainDriver + DriverFallback
)

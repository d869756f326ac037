package merge

// The merge driver, which git runs in a shell at the top of the work tree. stig
// writes %A in one step, so that a stig that ends without 0 has left there either a
// result with conflict markers or our side untouched. Of the latter git merge-file
// makes a merge by lines. That one may hold an id twice without a conflict, so the
// driver never calls it merged.
const (
	PlainDriver    = "stig merge %O %A %B" // what setup wrote before there was a fallback
	DriverFallback = " || { grep -q ^======= %A || git merge-file --diff3 -L ours -L base -L theirs %A %O %B; exit 1; }"
	DriverCommand  = PlainDriver + DriverFallback
)

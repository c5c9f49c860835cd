//go:build unix

package load

import "golang.org/x/sys/unix"

// openDescriptors returns how many files this process may have open, 0 when that
// is not known. The runtime has raised the soft limit to the hard one.
//
// Source: getrlimit(2), RLIMIT_NOFILE.
func openDescriptors() int {
	var r unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &r); err != nil || r.Cur > 1<<30 {
		return 0
	}
	return int(r.Cur)
}

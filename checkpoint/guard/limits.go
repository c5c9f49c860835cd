package guard

import (
	"golang.org/x/sys/unix"
)

// fewFiles is how many open files are few for a guard process: it has its journal with a
// lock, two connections, and the run's file with those of SQLite.
const fewFiles = 64

// raiseLimits gives this process what its recorder was denied: how long a file may be,
// and how many may be open, up to the hard limits, or beyond where it may. It reports
// whether it is still so limited that a run file may not be written to.
func raiseLimits() (limited bool) {
	for _, l := range []struct {
		resource int
		enough   uint64
	}{{unix.RLIMIT_FSIZE, unix.RLIM_INFINITY}, {unix.RLIMIT_NOFILE, fewFiles}} {
		var now unix.Rlimit
		if unix.Getrlimit(l.resource, &now) != nil || now.Cur >= l.enough {
			continue
		}
		want := unix.Rlimit{Cur: l.enough, Max: max(now.Max, l.enough)}
		if unix.Setrlimit(l.resource, &want) == nil { // takes CAP_SYS_RESOURCE when the hard limit is lower
			continue
		}
		want = unix.Rlimit{Cur: min(l.enough, now.Max), Max: now.Max}
		_ = unix.Setrlimit(l.resource, &want)
		limited = limited || want.Cur < l.enough
	}
	return limited
}

// keepIfPossible is keep for a process that may not be able to write, and never will be:
// what cannot be kept is given up, so that the journal does not wait for it.
func keepIfPossible(keep Keep, limited bool) Keep {
	if !limited {
		return keep
	}
	return func(l Left) error {
		_ = keep(l) // the settings are back; the run says that its end is missing
		return nil
	}
}

//go:build !unix

package load

import "time"

// cpuTime is not known here, and the warnings that need it stay silent.
func cpuTime() time.Duration { return 0 }

//go:build !unix

package load

import "time"

// CPUTime is not known here, and the warnings that need it stay silent.
func CPUTime() time.Duration { return 0 }

package mysqlflags

import "time"

// Behind returns by how much a server lags the sources of all its channels: the
// lag of the worst one. ok is false when the server does not know it for one of
// them, or has none.
func Behind(all []Replica) (lag time.Duration, ok bool) {
	for _, r := range all {
		one, known := r.Lag()
		if !known {
			return 0, false
		}
		lag = max(lag, one)
	}
	return lag, len(all) > 0
}

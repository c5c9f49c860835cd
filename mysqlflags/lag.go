package mysqlflags

import "time"

// WorstLag returns by how much a server lags the sources of all its channels: the
// lag of the worst one. ok is false when the server does not know it for one of
// them, and when all is empty.
func WorstLag(all []Replica) (lag time.Duration, ok bool) {
	for _, r := range all {
		one, known := r.Lag()
		if !known {
			return 0, false
		}
		lag = max(lag, one)
	}
	return lag, len(all) > 0
}

package split

import "math"

// A station is a host as requests see it: the cores that the service may use there, and the CPU that a
// request needs of them, in seconds.
type station struct{ cores, demand float64 }

// parts returns the demand as a queue with one server and a delay: of c cores, one request at a time
// has one of them, and many have all (A. Seidmann et al., "Computerized closed queueing network models of
// flexible manufacturing systems", 1987). Less than a core is one server that is slower.
func (s station) parts() (queue, delay float64) {
	queue = s.demand / s.cores
	if s.cores <= 1 {
		return queue, 0
	}
	return queue, s.demand - queue
}

// manyClients is from how many on a closed network is as its bounds say: the bottleneck is busy.
const manyClients = 1000

// closed returns the throughput of a closed network: so many clients, each of which sends a request, waits
// for the answer, and then for delay seconds.
func closed(stations []station, delay, clients float64) (perSec float64) {
	queues := make([]float64, len(stations))
	most := 0.0
	for i, s := range stations {
		q, d := s.parts()
		queues[i], delay, most = q, delay+d, max(most, q)
	}
	if most <= 0 {
		return clients / delay
	}
	if clients >= manyClients {
		return min(1/most, clients/delay)
	}
	// Exact for whole clients; between two of them in proportion.
	lengths := make([]float64, len(queues))
	step := func(n float64) float64 {
		time := delay
		for k, q := range queues {
			time += q * (1 + lengths[k])
		}
		x := n / time
		for k, q := range queues {
			lengths[k] = x * q * (1 + lengths[k])
		}
		return x
	}
	whole := math.Floor(clients)
	for n := 1.0; n <= whole; n++ {
		perSec = step(n)
	}
	if part := clients - whole; part > 0 {
		perSec += part * (step(whole+1) - perSec)
	}
	return perSec
}

// open returns the mean time in an open network, of requests that come at random at a rate; false where
// a host cannot keep up with it.
func open(stations []station, delay, perSec float64) (seconds float64, ok bool) {
	for _, s := range stations {
		q, d := s.parts()
		busy := q * perSec
		if busy >= 1 {
			return 0, false
		}
		seconds += d + q/(1-busy)
	}
	return seconds + delay, true
}

// limit returns the rate at which the first host is busy all the time, and which host that is; infinite
// where requests need no CPU.
func limit(stations []station) (perSec float64, at int) {
	perSec, at = math.Inf(1), -1
	for i, s := range stations {
		if most := s.cores / s.demand; s.demand > 0 && most < perSec {
			perSec, at = most, i
		}
	}
	return perSec, at
}

// fullAt is the busy part of a host from which it counts as always busy: what is left is the end of a
// quota's period, or a second in which the load began. How long requests wait elsewhere cannot be concluded
// from it, since a queue that is never empty hides that.
const fullAt = 0.95

// calibrate returns the delay, at least least, with which a closed network has the throughput that was
// measured. It is least where even with that it has no more, or where a host was always busy.
func calibrate(stations []station, least, clients, perSec float64) (delay float64) {
	if clients <= 0 || perSec <= 0 || closed(stations, least, clients) <= perSec/fullAt {
		return least
	}
	low, high := least, max(clients/perSec, least) // with high alone it has no more
	for range 30 {
		if mid := (low + high) / 2; closed(stations, mid, clients) > perSec {
			low = mid
		} else {
			high = mid
		}
	}
	return high
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

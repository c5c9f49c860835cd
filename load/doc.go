// Package load says when each request of a run is due, drives the workers that
// send them, and counts what came back.
//
// The one idea is the open loop: a [Schedule] knows nothing of how long
// requests take, so a slow server cannot slow the load down. Latency is counted
// from the moment at which a request was due, not from the moment at which a
// worker was free to send it; what waits for a worker has its wait counted
// (Gil Tene's "coordinated omission" is the error of leaving it out). How late
// the generator itself was is kept beside it, as the send delay, and
// [Warnings] says when that spoils the figures.
//
// Start at [Plan] (what to send and when), [Engine] (who sends) and [Recorder]
// (who counts). [Stages] and [Spaced] make schedules, [ClosedLoop] is the other
// kind of load, [Order] says whose turn it is, and [Fill] what differs from
// request to request. An engine for a new protocol implements [Client] and lets a
// [Driver] do the pacing, the pool of workers, the cap on requests in flight
// and the stopping.
//
// Times are [time.Duration] since the start of the load, on the monotonic
// clock. Rates are requests per second. The package stores nothing.
package load

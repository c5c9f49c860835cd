// Package epollhttp is the load engine for cleartext HTTP/1.1 on Linux.
//
// The one idea is to do nothing per request but what the request needs: one
// send, one receive, two looks at the clock. Each shard is a locked thread with
// an epoll set and connections of its own; there is no goroutine per connection,
// no lock and no allocation per request. A request goes out from where its
// answer was read or when it falls due, from bytes that were made before the
// load; what comes back is parsed in place and counted, never kept.
//
// In an open loop sleeping is what costs. A shard sleeps once for each request,
// with the precise pacing, or once a millisecond, with the economical one. It does
// not wake up for answers that are small: the kernel notes when they came.
//
// Start at [New]. Targets that come while the load runs, TLS and HTTP/2 belong to
// the engine nethttp; redirects are given to [Options.Follow].
//
// Times are [time.Duration] since the start of the load, on the monotonic clock.
// An answer's end is when its last byte was in the kernel, where the kernel says
// so, and when it was read otherwise; in a closed loop always the latter.
//
// Sources: RFC 9110 and 9112; epoll(7), epoll_pwait2(2), SO_TIMESTAMPNS in
// socket(7), PR_SET_TIMERSLACK in prctl(2).
package epollhttp

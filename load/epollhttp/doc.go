// Package epollhttp is the load engine for cleartext HTTP/1.1 on Linux.
//
// The one idea is to do nothing per request but what the request needs: one
// send, one receive, two looks at the clock. Each shard is a locked thread with
// an epoll set and connections of its own; there is no goroutine per connection,
// no lock and no allocation per request. A request goes out from where its
// answer was read or when it falls due, from bytes that were made before the
// load; what comes back is parsed in place and counted, never kept.
//
// Times are [time.Duration] since the start of the load, on the monotonic clock.
//
// Sources: RFC 9110 and 9112; epoll(7), epoll_pwait2(2), PR_SET_TIMERSLACK in
// prctl(2).
package epollhttp

// Package engine chooses who sends a load: the raw-socket engine epollhttp where
// the targets allow it, net/http where they need more, and says why.
//
// The one idea is that the choice shows in nothing but the cost: both engines take
// the same options, send the same requests, refuse the same addresses and give the
// same results. What only net/http does (TLS, HTTP/2, proxies, Unix sockets,
// targets that come while the load runs, names that are looked up again) makes it
// the engine for the whole plan. Redirects do not: epollhttp hands each answer that
// redirects to net/http, which goes on from there, and whose requests count to the
// same timeout.
//
// Start at [New].
package engine

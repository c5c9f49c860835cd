// Package nethttp is the load engine on top of net/http: HTTP/1.1, HTTP/2 and
// h2c, with TLS, redirects, proxies and Unix sockets.
//
// The one idea is to be an ordinary Go HTTP client, with its costs kept near
// those of the bare [http.Transport]: a worker reuses its timer, its context and
// its buffer, requests are copies of one prepared per target, and redirects go
// through [http.Client] only when there is one to follow.
//
// An answer counts only when its body has been read to the end: a connection
// that breaks in the middle gives code 0 and Go's error. Errors read as
// Vegeta's, which are Go's: "Get \"http://…\": EOF". No body and no header of an
// answer is kept. Bodies are not decompressed: the bytes counted are those that
// the server sent.
//
// Every connection goes where the [load.Resolver] says, to targets, redirects and
// proxies alike, so nothing is dialled that may not be loaded; before the load, the
// targets themselves are looked at, so that a forbidden one stops it. A proxy is
// asked for no host that would not be dialled.
//
// A request is sent again only as net/http does it, on a connection that turned out
// to be closed: one that is idempotent, or of which nothing had been written.
// [kasoku.LoadSummary.Resent] counts both.
//
// Start at [New]. Pacing, workers and stopping are the [load.Driver]'s.
package nethttp

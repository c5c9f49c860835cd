// Package http1 reads the answers of HTTP/1.1 servers for clients that count every
// nanosecond.
//
// The one idea is that bytes are pushed in: [Parser.Feed] takes what a socket gave,
// in whatever pieces, and says when the answer is done. So the parser waits for
// nothing and needs no goroutine, and a header in the usual form costs a hundred
// nanoseconds. What is unusual is given to net/http, whose judgement counts in
// everything: an answer is right, wrong or cut off exactly when it is for net/http.
//
// It reads and writes no socket and keeps no connection; the engine epollhttp and
// the agents of scenarios do.
//
// Sources: RFC 9112; net/http, which it is compared with answer by answer.
package http1

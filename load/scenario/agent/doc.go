// Package agent is the HTTP client of one virtual user of a scored benchmark: it
// keeps cookies, caches answers and revalidates them, accepts compressed answers,
// fetches what a page refers to, and follows no redirect.
//
// The one idea is that a request to a server without TLS is done where it is
// asked for. The goroutine that calls [Agent.Do] writes the request itself and
// reads the answer itself; there is no other goroutine, and hardly any memory
// that is not used again. A benchmark shares the machine with what it measures,
// so what its client costs is missing there. What needs TLS, HTTP/2 or a proxy
// goes to net/http, through the same functions.
//
// Start at [New]. One Agent is one user: many goroutines may use it, as a browser
// loads many things at once, but two users are two Agents. Whether an answer is
// right is for the caller to say; an answer with any status is no error here.
//
// Times are those of [time.Now], which carry the monotonic clock.
//
// Sources: RFC 9110, 9111 and 9112; RFC 6265 by way of net/http/cookiejar. What a
// server that breaks the rules is taken to have said is what net/http takes it
// for.
package agent

// Package loadtest is for the tests of load engines: a hostile server, and a
// suite that lets two engines meet it and compares what they make of it.
//
// The one idea is that net/http is right. What a request to a server that breaks
// the rules counts as, its code, its bytes, the words of its error, is what
// net/http's client says; an engine that is faster must say the same. [Answers]
// is the catalogue of what servers send, [Start] the server that sends it, cut
// off, slowly or in pieces as the URL says, and [Same] the suite.
package loadtest

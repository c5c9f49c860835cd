// Package protocol reads what a service's processes say to each other from the first bytes of their
// system calls: requests of HTTP/1, of FastCGI and of uwsgi's protocol, commands of MySQL.
//
// A call's bytes are known in part: the first of them, and how many there were. Readers go
// over what they do not know where its length says what it is, and begin anew where they
// lost the place. Nothing fails: what is no protocol gives nothing. Nothing keeps the bytes
// it was given, but for the head of a request that is not whole yet.
package protocol

// Bounds of what is kept of a request.
const (
	mostMethod = 16
	mostPath   = 512
	mostHost   = 128
	mostHead   = 16 << 10
)

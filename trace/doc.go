// Package trace is what the kernel shows of a service from outside, without a change to its
// programs: which statements a request runs, what it waits for and where its processor time goes.
//
// The programs that the kernel runs for it are assembled in Go and loaded by kasoku itself:
// no compiler, no object file. They look at processes of the service alone, and
// are gone with the process that loaded them: they belong to file descriptors, nothing is pinned.
package trace

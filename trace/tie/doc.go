// Package tie decides which statement belongs to which request, from the system calls of a
// service's processes in the order in which they were made.
//
// What ties them is who makes the calls. In a Go program that is a goroutine, whose calls are its
// own and those of the goroutines that it starts; elsewhere a thread. A thread that answers
// a request another thread has read owns what it did since it answered the last one. A
// thread that has several requests open at a time is an event loop: only requests that
// were alone are known there.
package tie

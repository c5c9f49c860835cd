// Package profilecmd holds profile, which takes a profile of processes from outside: where
// their CPU time goes and what they wait for.
package profilecmd

// Package kernel loads the programs that watch the system calls of a service's processes and
// reads what they report.
package kernel

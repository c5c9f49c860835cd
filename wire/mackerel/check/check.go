// Package check answers mackerel-agent as a check plugin: one message on stdout and
// an exit status.
//
// The one idea: a check computes a [Result] and returns the status of [Exit], which
// prints it in the form of Mackerel's helper library (mackerelio/checkers 0.2.1):
//
//	check-lastlog WARNING: alice(61 days)
//
// The agent takes exit status 0 as OK, 1 as WARNING, 2 as CRITICAL and everything
// else as UNKNOWN; all of stdout is the message.
package check

import (
	"fmt"
	"io"
	"strings"
	"unicode"
)

// A Status is how a check went; it is the exit status of the program.
type Status int

// The statuses of a check.
const (
	OK Status = iota
	Warning
	Critical
	Unknown
)

// String returns the word that stands in the message.
func (s Status) String() string {
	switch s {
	case OK:
		return "OK"
	case Warning:
		return "WARNING"
	case Critical:
		return "CRITICAL"
	}
	return "UNKNOWN"
}

// Code is the exit status: 0 to 3.
func (s Status) Code() int {
	if s < OK || s > Unknown {
		return int(Unknown)
	}
	return int(s)
}

// A Result is the answer of a check.
type Result struct {
	Name    string // of the check: "check-lastlog"
	Status  Status
	Message string
}

// New returns a result with a formatted message.
func New(name string, status Status, format string, args ...any) Result {
	return Result{Name: name, Status: status, Message: fmt.Sprintf(format, args...)}
}

// String returns the message as it is printed, without its newline. Control
// characters, which may come from a server or a log, are printed as spaces;
// newlines and tabs stay.
func (r Result) String() string {
	clean := strings.Map(func(c rune) rune {
		if unicode.IsControl(c) && c != '\n' && c != '\t' {
			return ' '
		}
		return c
	}, strings.TrimRight(r.Message, "\n"))
	return fmt.Sprintf("%s %s: %s", r.Name, r.Status, strings.ToValidUTF8(clean, "\uFFFD"))
}

// Exit prints the result and returns the status to exit with. An answer that
// cannot be written is UNKNOWN: it has not arrived.
func Exit(w io.Writer, r Result) int {
	if _, err := fmt.Fprintln(w, r); err != nil {
		return Unknown.Code()
	}
	return r.Status.Code()
}

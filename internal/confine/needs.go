// Package confine gives up the rights that a recording does not need.
//
// The one idea is a table: which part of a recording needs which capability, for what,
// and what is lost without it. `kasoku doctor` prints the table; `kasoku record` as root
// keeps what the table says and gives up the rest by [Drop], for itself and for what it
// starts later.
//
// A process that keeps CAP_SYS_PTRACE or CAP_DAC_READ_SEARCH still reads all of its
// host. What is gone is the way from there to changing it: loading modules, mounting,
// tracing, changing users, starting programs.
//
// The package is for Linux. Sources: capabilities(7), prctl(2), seccomp(2),
// ptrace(2) "Ptrace access mode checking", Documentation/userspace-api/no_new_privs.rst.
package confine

import (
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// A Part is a part of a recording that needs rights.
type Part string

// The parts of a recording.
const (
	Processes Part = "process" // samples of processes of other users
	Logs      Part = "logs"
	Config    Part = "capture" // the configuration in force, read again
	Handover  Part = "owner"   // files are handed to who called sudo, or lie in another user's directory
	Command   Part = "command"
	Indexes   Part = "index check" // a private database server, as a user of its own
)

// A Need is what a part of a recording needs a capability for.
type Need struct {
	Part       Part
	Capability int // a number of capabilities(7), such as unix.CAP_SYS_PTRACE
	For        string
	Lost       string // what a recording lacks without it
}

const unchecked = "whether proposed indexes would be used"

// Needs returns the table.
func Needs() []Need {
	return []Need{
		{Processes, unix.CAP_SYS_PTRACE, "/proc/PID/io, cwd, exe and fd of other users",
			"disk use, open files and working directory of processes of other users"},
		{Processes, unix.CAP_DAC_READ_SEARCH, "the list /proc/PID/fd of other users",
			"open files of processes of other users"},
		{Logs, unix.CAP_DAC_READ_SEARCH, "logs that only their owner may read, also after a rotation",
			"requests, statements and messages of such logs"},
		{Config, unix.CAP_DAC_READ_SEARCH, "directories that only their owner may enter",
			"option files and configurations in them"},
		{Config, unix.CAP_SETUID, "reading a process's files with the rights of its user",
			"configuration of servers of other users"},
		{Config, unix.CAP_SETGID, "the same with its groups", "configuration that a group may read"},
		{Handover, unix.CAP_CHOWN, "run files that belong to who called sudo", "run files that he can read"},
		{Handover, unix.CAP_FOWNER, "their modes", "run files that he can read"},
		{Handover, unix.CAP_DAC_OVERRIDE, "writing into his directories", "run files there"},
		{Indexes, unix.CAP_SETUID, "a private server that is not root's", unchecked},
		{Indexes, unix.CAP_SETGID, "the same with its group", unchecked},
		{Indexes, unix.CAP_CHOWN, "directories of its own", unchecked},
		{Indexes, unix.CAP_DAC_OVERRIDE, "their removal", unchecked},
		{Indexes, unix.CAP_KILL, "its end", unchecked},
		{Command, unix.CAP_KILL, "ending a command that changed its user", "the end of such a command at Ctrl-C"},
	}
}

// A Set is a set of capabilities, a bit each.
type Set uint64

// SetOf returns a set.
func SetOf(capabilities ...int) Set {
	var s Set
	for _, c := range capabilities {
		s |= 1 << c
	}
	return s
}

// Has reports whether a capability is in the set.
func (s Set) Has(capability int) bool { return s&(1<<capability) != 0 }

// String returns the names, as setcap(8) takes them: cap_kill,cap_sys_ptrace.
func (s Set) String() string {
	var out []string
	for c := range 64 {
		if s.Has(c) {
			out = append(out, Name(c))
		}
	}
	return strings.Join(out, ",")
}

// names are those of the capabilities of the table.
var names = map[int]string{
	unix.CAP_CHOWN: "cap_chown", unix.CAP_DAC_OVERRIDE: "cap_dac_override",
	unix.CAP_DAC_READ_SEARCH: "cap_dac_read_search",
	unix.CAP_FOWNER:          "cap_fowner", unix.CAP_KILL: "cap_kill", unix.CAP_SETGID: "cap_setgid",
	unix.CAP_SETUID:     "cap_setuid",
	unix.CAP_SYS_PTRACE: "cap_sys_ptrace",
}

// Name returns the name of a capability of the table, as setcap(8) takes it.
func Name(capability int) string { return names[capability] }

// Needed returns what parts of a recording need.
func Needed(parts ...Part) Set {
	var s Set
	for _, n := range Needs() {
		if slices.Contains(parts, n.Part) {
			s |= SetOf(n.Capability)
		}
	}
	return s
}

package guard

import (
	"os"
	"strings"
	"time"

	"github.com/kasoku/kasoku/internal/command"
	"github.com/kasoku/kasoku/mysqlflags"
)

// A Holder is a recording that holds on to changes of a server. Process id,
// start and boot distinguish its process from a later one of the same number; the
// run distinguishes the recordings of one process.
type Holder struct {
	PID   int    `json:"pid"`
	Start uint64 `json:"start"` // clock ticks from boot to the start of the process
	Boot  string `json:"boot"`  // the kernel's id of this boot
	Run   string `json:"run"`   // absolute path of the run file; empty without one

	Since    time.Time `json:"since"`             // when it took hold
	Session  uint64    `json:"session,omitempty"` // its connection's id on the server
	Needs    []string  `json:"needs,omitempty"`   // names of the values that it rests on
	Gone     bool      `json:"gone,omitempty"`    // it let go, but not all could be put back
	DSN      string    `json:"dsn"`               // without the password
	Defaults string    `json:"defaults_file,omitempty"`
}

// ThisProcess returns the holder that a recording of this process is.
func ThisProcess(run string) Holder {
	start, _ := command.StartOf(os.Getpid())
	return Holder{PID: os.Getpid(), Start: start, Boot: bootID(), Run: run}
}

// same reports whether both are one recording.
func (h *Holder) same(other *Holder) bool {
	return h.PID == other.PID && h.Start == other.Start && h.Boot == other.Boot && h.Run == other.Run
}

// Alive reports whether the recording goes on: its process runs, and is no zombie.
func (h *Holder) Alive() bool {
	start, ok := command.StartOf(h.PID)
	return ok && !h.Gone && start == h.Start && h.Boot == bootID()
}

// HadPassword reports whether the holder's DSN had a password, which is not kept.
func (h *Holder) HadPassword() bool { return strings.Contains(h.DSN, ":"+redacted+"@") }

// redacted stands in a DSN where the password was.
const redacted = "xxxx"

// withoutPassword returns a DSN as it may be kept.
func withoutPassword(dsn string) string {
	if dsn == "" {
		return ""
	}
	return mysqlflags.Redact(dsn)
}

// bootID returns the kernel's random id of this boot, empty when it is unknown.
//
// Kernel: Documentation/admin-guide/sysctl/kernel.rst, random/boot_id.
func bootID() string {
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

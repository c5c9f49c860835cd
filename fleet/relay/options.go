// Package relay is how kasoku and its second program, kasoku-hub, speak.
//
// NATS fills memory when a program starts, used or not, so only kasoku-hub links it: it is
// the hub, the agent of a host, and, as a child with pipes, what takes the questions of who
// coordinates to the hub and back. kasoku becomes it (execve(2)) for the first two.
package relay

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// Program is the name of the second program, which lies beside kasoku; First that of the first.
const (
	Program = "kasoku-hub"
	First   = "kasoku"
)

// Env names the variable with [Options], as JSON. A variable is read by its user alone
// (/proc/PID/environ), and the command line by everybody.
const Env = "KASOKU_HUB_OPTIONS"

// version is that of Options and of the relay: the two programs are of one release.
const version = 1

// Options say what the second program is to be: one of them is not nil.
type Options struct {
	Version int
	Kasoku  string // the version of who starts it
	Serve   *Serve `json:",omitempty"`
	Agent   *Agent `json:",omitempty"`
	Ask     *Ask   `json:",omitempty"`
}

// Serve is the hub.
type Serve struct {
	Dir     string
	Listen  string        // HOST:PORT
	Address string        // HOST:PORT by which hosts reach it; empty: where it listens
	Invite  time.Duration // life of the join lines that it prints
	Lines   int           // so many of them; 0: none
	While   string        // file; the hub ends when it is gone; empty: none
}

// Agent is the agent of a host.
type Agent struct {
	Dir    string // of its key and of what it knows of its hub
	Join   string // the line; empty: it is a member
	Name   string // of the host; empty: its own
	Allow  []string
	PerSec float64 // most requests per second; 0: no limit
	Lease  time.Duration

	Via      string // Unix socket of this host that leads to the hub; empty: its address
	While    string // file; the agent ends when it is gone; empty: none
	JoinOnly bool   // it ends once the hub knows its key
	End      bool   // instead, take While away and wait until the agent of Dir has ended
}

// Ask takes questions of who coordinates to the hub.
type Ask struct{ Dir string }

// String returns the options as the variable holds them.
func (o Options) String() string {
	o.Version = version
	b, err := json.Marshal(o)
	if err != nil {
		panic(fmt.Sprint("options: ", err)) // strings and numbers always encode
	}
	return string(b)
}

// ParseOptions reads what String returns.
func ParseOptions(text string) (o Options, err error) {
	if text == "" {
		return o, errors.New("this is the second program of kasoku, which starts it: kasoku hub, kasoku agent")
	}
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		return o, fmt.Errorf("read %s: %w", Env, err)
	}
	if o.Version != version {
		return o, fmt.Errorf("kasoku and %s are of different releases", Program)
	}
	return o, nil
}

// A MissingError reports that the other program is not there, or not to be run.
type MissingError struct{ Path, Why string }

// Error names the program.
func (e *MissingError) Error() string { return e.Path + ": " + e.Why }

// Hint returns where it comes from.
func (e *MissingError) Hint() string {
	return Program + " and kasoku lie beside one another: make install, the archive of a release and the packages " +
		"have it; " +
		"go install github.com/kasoku/kasoku/cmd/" + Program + "@latest"
}

// Find returns the path of the second program: beside this one, and of an owner and a mode by
// which no one may change it who may not change this one.
func Find() (string, error) { return find(Program) }

// FindFirst is [Find] of the first program, for the second one.
func FindFirst() (string, error) { return find(First) }

func find(name string) (string, error) {
	own, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("look for %s: %w", name, err)
	}
	if real, err := filepath.EvalSymlinks(own); err == nil {
		own = real
	}
	return beside(own, name)
}

func beside(own, name string) (string, error) {
	path := filepath.Join(filepath.Dir(own), name)
	mine, err := os.Stat(own)
	if err != nil {
		return "", fmt.Errorf("look for %s: %w", name, err)
	}
	st, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", &MissingError{path, "it is not there"}
	case err != nil:
		return "", &MissingError{path, err.Error()}
	case !st.Mode().IsRegular() || st.Mode()&0o111 == 0:
		return "", &MissingError{path, "it is no program"}
	}
	ours, theirs := uidOf(mine), uidOf(st)
	if theirs != 0 && theirs != ours || st.Mode()&0o022 != 0 {
		return "", &MissingError{path, fmt.Sprintf("others may change it: its owner is uid %d, its mode %#o",
			theirs, st.Mode().Perm())}
	}
	return path, nil
}

func uidOf(info fs.FileInfo) int {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(st.Uid)
	}
	return -1
}

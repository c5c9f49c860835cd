package main

import (
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/kasoku/kasoku/internal/confine"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/observe/process"
)

// rights are what the rest of a recording needs, once all is open.
func (f *recordFlags) rights(e *env) confine.Options {
	o := &f.loop
	parts := []confine.Part{confine.Processes, confine.Logs}
	if f.again && o.Capture != nil {
		parts = append(parts, confine.Config)
	}
	if len(o.Command) > 0 {
		parts = append(parts, confine.Command)
	}
	dirs := []string{filepath.Dir(o.Path), os.TempDir()}
	if o.Guard != nil {
		dirs = append(dirs, o.Guard.Dir)
	}
	if e.getenv("SUDO_UID") != "" || slices.ContainsFunc(dirs, ofAnother) {
		parts = append(parts, confine.Handover)
	}
	// A guard process, and git for the next run, are started later.
	return confine.Options{Keep: confine.Needed(parts...), Programs: f.again || o.MySQL != "" || len(o.Command) > 0}
}

// ofAnother reports whether a directory belongs to another user. One that is yet to be
// made counts as the nearest that is there.
func ofAnother(dir string) bool {
	dir, err := filepath.Abs(dir)
	for ; err == nil; dir = filepath.Dir(dir) {
		var st syscall.Stat_t
		if syscall.Stat(dir, &st) == nil {
			return int(st.Uid) != os.Geteuid()
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	return false
}

const areaRights = "rights"

// wanted are the parts of a recording here that need rights.
func (d *doctor) wanted() []confine.Part {
	var parts []confine.Part
	if !slices.Contains(d.c.Sources.Off, process.Name) {
		parts = append(parts, confine.Processes)
	}
	l := &d.c.Logs
	if !d.configured() || len(l.Access)+len(l.App)+len(l.Error) > 0 || d.c.MySQL.SlowLog == nil || *d.c.MySQL.SlowLog {
		parts = append(parts, confine.Logs)
	}
	if !d.c.Capture.Off {
		parts = append(parts, confine.Config)
	}
	return parts
}

// checkRights asks which capabilities the wanted sources need, and which are held.
func (d *doctor) checkRights(held confine.Set) {
	parts := d.wanted()
	needed := confine.Needed(parts...)
	program, err := os.Executable()
	if err != nil {
		program = d.e.name
	}
	// A program that may take any user is as good as root for who may run it.
	user := confine.SetOf(unix.CAP_SETUID, unix.CAP_SETGID)
	file := "setcap " + (needed &^ user).String() + "+ep " + unit.ShellQuote(program)
	for _, n := range confine.Needs() {
		name := confine.Name(n.Capability)
		switch {
		case !slices.Contains(parts, n.Part):
		case held.Has(n.Capability):
			d.ok(areaRights, string(n.Part), "%s is held: %s", name, n.For)
		case user.Has(n.Capability):
			d.add(check{Area: areaRights, Name: string(n.Part), State: checkWarn,
				Seen: name + " is not held: " + n.For, Lost: n.Lost,
				Grants: []grant{{inShell, "sudo " + d.e.name + " record"}}})
		default:
			d.add(check{Area: areaRights, Name: string(n.Part), State: checkWarn,
				Seen: name + " is not held: " + n.For, Lost: n.Lost,
				Cost: "who may run that file reads what root reads, so keep it to a group", Grants: rootGrants([]string{file})})
		}
	}
	if held&^needed != 0 {
		d.ok(areaRights, "given up", "a recording gives up the others once all is open")
	}
}

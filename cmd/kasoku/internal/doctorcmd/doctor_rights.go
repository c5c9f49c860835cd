package doctorcmd

import (
	"errors"
	"os"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/kasoku/kasoku/internal/confine"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/observe/process"
	"github.com/kasoku/kasoku/trace/window"
)

const areaRights = "rights"

// wanted are the parts of a recording here that need rights.
func (x rightsExam) wanted() []confine.Part {
	var parts []confine.Part
	if !slices.Contains(x.c.Sources.Off, process.Name) {
		parts = append(parts, confine.Processes)
	}
	l := &x.c.Logs
	if !x.configured() || len(l.Access)+len(l.App)+len(l.Error) > 0 || x.c.MySQL.SlowLog == nil || *x.c.MySQL.SlowLog {
		parts = append(parts, confine.Logs)
	}
	if !x.c.Capture.Off {
		parts = append(parts, confine.Config)
	}
	if x.c.MySQL.CheckIndexes {
		parts = append(parts, confine.Indexes)
	}
	return parts
}

// trace asks whether the system calls of the service can be watched.
func (x rightsExam) trace() {
	if x.c.Trace.Off() {
		return
	}
	if err := window.Possible(x.c.Trace.Asked()); err != nil {
		c := check{Area: areaRights, Name: "trace", State: checkWarn, Seen: "system calls cannot be watched: " + err.Error(),
			Lost: "which endpoint runs which statement, counted exactly: it is estimated from times"}
		if r := (*window.Refusal)(nil); errors.As(err, &r) && r.Grant != "" {
			c.Seen = "system calls cannot be watched: " + r.Cause.Error()
			c.Cost, c.Grants = "who may run that file reads what root reads, so keep it to a group", rootGrants([]string{r.Grant})
		}
		x.add(c)
		return
	}
	x.ok(areaRights, "trace", "system calls of the service can be watched for some seconds of a run")
}

// A rightsExam is of capabilities.
type rightsExam struct{ exam }

// check asks which capabilities the wanted sources need, and which are held.
func (x rightsExam) check(held confine.Set) {
	parts := x.wanted()
	needed := confine.Needed(parts...)
	program, err := os.Executable()
	if err != nil {
		program = x.e.Name
	}
	// A program that may take any user is as good as root for who may run it.
	user := confine.SetOf(unix.CAP_SETUID, unix.CAP_SETGID)
	file := "setcap " + (needed &^ user).String() + "+ep " + unit.ShellQuote(program)
	for _, n := range confine.Needs() {
		name := confine.Name(n.Capability)
		switch {
		case !slices.Contains(parts, n.Part):
		case held.Has(n.Capability):
			x.ok(areaRights, string(n.Part), "%s is held: %s", name, n.For)
		case user.Has(n.Capability):
			x.add(check{Area: areaRights, Name: string(n.Part), State: checkWarn,
				Seen: name + " is not held: " + n.For, Lost: n.Lost,
				Grants: []grant{{inShell, "sudo " + x.e.Name + " record"}}})
		default:
			x.add(check{Area: areaRights, Name: string(n.Part), State: checkWarn,
				Seen: name + " is not held: " + n.For, Lost: n.Lost,
				Cost: "who may run that file reads what root reads, so keep it to a group", Grants: rootGrants([]string{file})})
		}
	}
	x.trace()
	if held&^needed != 0 {
		x.ok(areaRights, "given up", "a recording gives up the others once all is open")
	}
}

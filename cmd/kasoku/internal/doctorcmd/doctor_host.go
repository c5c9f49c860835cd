package doctorcmd

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/kasoku/kasoku/cmd/kasoku/internal/initcmd"
	"github.com/kasoku/kasoku/internal/command"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/topology"
)

const areaWatch = "processes"

// A processExam is of the processes that are watched.
type processExam struct{ exam }

// check asks whether the processes that matter can be seen.
func (x processExam) check() {
	for _, pid := range x.c.Watch.PIDs {
		if _, err := os.Stat("/proc/" + strconv.Itoa(pid)); err != nil {
			x.add(check{Area: areaWatch, Name: "pid " + strconv.Itoa(pid), State: checkWarn, Seen: "does not run now", Lost: "its CPU, memory and I/O"})
		}
	}
	for _, name := range x.c.Watch.Processes {
		if !slices.ContainsFunc(x.found.Services, func(s topology.Service) bool { return s.Name == name }) {
			x.add(check{Area: areaWatch, Name: name, State: checkWarn, Seen: "no service of that name listens now", Lost: "its CPU, memory and I/O, until it runs"})
		}
	}
	for _, name := range x.c.Watch.Units {
		x.checkUnit(areaWatch, name, "the CPU, memory and I/O of its processes")
	}
	x.checkIO()
	x.checkProfiles()
}

// checkUnit asks systemd for a unit.
func (x exam) checkUnit(area, name, lost string) {
	c := check{Area: area, Name: "unit " + name, State: checkMissing, Asked: true, Lost: lost}
	if !x.host.Systemd {
		c.Seen = "systemd does not run this host"
		x.add(c)
		return
	}
	out, err := command.Output(x.ctx, command.Spec{Path: "systemctl",
		Args: []string{"show", "-p", "LoadState,ActiveState", "--value", "--", name}, Trusted: true}, 4096)
	state := strings.Fields(string(out))
	switch {
	case err != nil || len(state) != 2:
		c.Seen = fmt.Sprintf("systemctl does not report: %v", err)
	case state[0] != "loaded":
		c.Seen = "there is no such unit: " + state[0]
	case state[1] != "active":
		c.State, c.Seen = checkWarn, "is "+state[1]
	default:
		x.ok(area, c.Name, "active")
		return
	}
	x.add(c)
}

// checkIO asks whether the I/O of other users' processes is open.
//
// Source: proc_pid_io(5): it takes PTRACE_MODE_READ_FSCREDS.
func (x processExam) checkIO() {
	var closed []string
	for _, s := range x.found.Services {
		if s.Kind == topology.Other {
			continue
		}
		if f, err := os.ReadFile("/proc/" + strconv.Itoa(s.PID) + "/io"); err != nil && os.IsPermission(err) || err == nil && len(f) == 0 {
			closed = append(closed, s.Name)
		}
	}
	slices.Sort(closed)
	closed = slices.Compact(closed)
	if len(closed) == 0 {
		x.ok(areaWatch, "I/O", "that of what runs here can be read")
		return
	}
	exe, err := os.Executable()
	if err != nil {
		exe = "kasoku"
	}
	x.add(check{Area: areaWatch, Name: "I/O", State: checkWarn, Seen: "that of " + strings.Join(closed, ", ") + " may be read by root alone",
		Lost: "bytes read and written, and open files, " +
			"by process", Cost: "whoever runs this kasoku may look into all processes",
		Grants: rootGrants([]string{"setcap cap_sys_ptrace,cap_dac_read_search+ep " + unit.ShellQuote(exe)})})
}

// checkProfiles asks whether Go programs serve profiles.
func (x processExam) checkProfiles() {
	for _, s := range initcmd.LikelyApps(x.found) {
		switch {
		case s.Go == nil:
		case s.Go.Pprof != "":
			x.ok(areaWatch, "profiles of "+s.Name, "%s", s.Go.Pprof)
		default:
			x.add(check{Area: areaWatch, Name: "profiles of " + s.Name, State: checkWarn, Seen: "the Go program serves " +
				"none on a loopback port; ports that are open to others are not asked",
				Lost: "which functions use the CPU", Cost: "nothing until a profile is taken, a few percent of CPU then",
				Grants: []grant{
					{"in the application's main.go", `import _ "net/http/pprof"`},
					{"in the application's main.go", `go func() { log.Println(http.ListenAndServe("127.0.0.1:6060", nil)) }()`},
				}})
		}
	}
}

const areaCapture = "configuration in force"

// A captureExam is of the configuration that is kept with a run.
type captureExam struct{ exam }

// check asks whether what is to be kept with a run can be read.
func (x captureExam) check() {
	c := &x.c.Capture
	if c.Off {
		x.ok(areaCapture, "capture", "off: nothing is kept")
		return
	}
	for _, glob := range append(slices.Clone(c.Files), c.VCL...) {
		x.checkGlob(glob)
	}
	for _, s := range x.found.Of(topology.Nginx) {
		if len(s.Config) > 0 {
			x.ok(areaCapture, "nginx", "%s", s.How)
		} else {
			x.add(check{Area: areaCapture, Name: "nginx", State: checkWarn, Seen: "its configuration cannot be read", Lost: "how the web server was set up in a run, and what changed",
				Grants: []grant{{inRootShell, "kasoku doctor"}}})
		}
	}
	if c.Repository != "" {
		if _, err := os.Lstat(filepath.Join(c.Repository, ".git")); err == nil { // a file, in a linked worktree
			x.ok(areaCapture, "git", "%s", c.Repository)
		} else {
			x.add(check{Area: areaCapture, Name: "git", State: checkMissing, Asked: true, Seen: c.Repository + " is no git checkout", Lost: "revision and changes of the code in a run",
				Grants: []grant{{inShell, "git -C " + unit.ShellQuote(c.Repository) + " init"}}})
		}
	}
	for _, name := range c.Units {
		x.checkUnit(areaCapture, name, "the unit's text in a run")
	}
}

// checkGlob asks whether files of a pattern can be read, and written back.
func (x captureExam) checkGlob(glob string) {
	files, err := filepath.Glob(glob)
	if err != nil || len(files) == 0 {
		r := topology.CheckFile(glob, x.who)
		if r.Missing || r.Read {
			r.Why = "no file matches"
		}
		x.add(check{Area: areaCapture, Name: "files", State: checkMissing, Asked: true, Seen: glob + ": " + r.Why, Lost: "them in a run, and their way back", Grants: rootGrants(r.Grant)})
		return
	}
	writable := 0
	for _, path := range files {
		if r := topology.CheckFile(path, x.who); !r.Read {
			x.add(check{Area: areaCapture, Name: "files", State: checkMissing, Asked: true, Seen: path + " cannot be read: " + r.Why, Lost: "it in a run, and its way back",
				Cost: r.Cost, Grants: rootGrants(r.Grant)})
			return
		}
		if unix.Faccessat(unix.AT_FDCWD, path, unix.W_OK, unix.AT_EACCESS) == nil {
			writable++
		}
	}
	note := "revert can write them back"
	if writable < len(files) {
		note = "to write them back, run `sudo " + x.e.Name + " revert RUN --apply`"
	}
	x.ok(areaCapture, "files", "%s: %d can be read; %s", glob, len(files), note)
}

const areaFinalize = "finalize"

// checkFinalize asks whether units can be restarted and looked at.
func (x exam) checkFinalize() {
	for _, u := range x.c.Finalize.Units {
		own := u.Start != "" && u.Stop != "" && u.Check != ""
		if own {
			x.ok(areaFinalize, "unit "+u.Name, "is restarted by its own commands")
			continue
		}
		x.checkUnit(areaFinalize, u.Name, "the restart test")
		if x.host.Systemd && x.who.UID != 0 {
			x.add(check{Area: areaFinalize, Name: "unit " + u.Name, State: checkWarn, Seen: "systemctl restart takes root", Lost: "the restart test",
				Grants: []grant{{inShell, "sudo " + x.e.Name + " finalize"}}})
		}
	}
}

const areaHost = "host"

// checkHost checks the host by what its kernel reports.
func (x exam) checkHost() {
	h := x.host
	if h.Synced {
		x.ok(areaHost, "clock", "kept by a time service, right to %s", unit.Duration(h.ClockError.Round(time.Microsecond)))
	} else {
		x.ok(areaHost, "clock", "no time service keeps it, by which recordings of several hosts would lose the order "+
			"of what happened; one host loses nothing (`timedatectl set-ntp true`)")
	}
	switch h.Cgroup {
	case 2:
		x.ok(areaHost, "cgroups", "version 2")
	default:
		x.add(check{Area: areaHost, Name: "cgroups", State: checkWarn, Seen: fmt.Sprintf("version %d", h.Cgroup), Lost: "limits of units and containers that were hit: CPU quota, tasks, memory",
			Cost: "a reboot", Grants: []grant{{"on the kernel's command line", "systemd.unified_cgroup_hierarchy=1"}}})
	}
	if h.Pressure {
		x.ok(areaHost, "pressure", "/proc/pressure can be read")
	} else {
		x.add(check{Area: areaHost, Name: "pressure", State: checkWarn, Seen: "the kernel does not have /proc/pressure", Lost: "how long tasks waited for CPU, memory and I/O",
			Cost: "a reboot", Grants: []grant{{"on the kernel's command line", "psi=1"}}})
	}
	if h.HidesPIDs {
		x.add(check{Area: areaHost, Name: "/proc", State: checkWarn, Seen: "hides the processes of other users", Lost: "who uses the machine",
			Cost: "all users see which programs run", Grants: rootGrants([]string{"mount -o remount,hidepid=0 /proc"})})
	}
	if h.Perf > 1 && x.who.UID != 0 {
		x.ok(areaHost, "perf", "kernel.perf_event_paranoid is %d, so that perf(1) asks for root; kasoku needs none",
			h.Perf)
	}
	if h.Systemd {
		x.ok(areaHost, "systemd", "runs this host")
	}
	for _, n := range x.found.Notes {
		c := check{Area: areaHost, Name: n.What, State: checkWarn, Seen: n.Why}
		if n.Hint != "" {
			c.Seen += "; " + n.Hint
		}
		x.add(c)
	}
}

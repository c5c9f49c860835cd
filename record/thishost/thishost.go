// Package thishost describes the machine that records, and the checkout that it records in.
//
// The one idea: what cannot be read stays empty, so that a run of a bare container is no
// error. It runs git in the working directory, as the owner of the checkout.
package thishost

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/command"
	"github.com/kasoku/kasoku/internal/unit"
)

// Info describes this machine.
//
// Sources: /proc/meminfo, os-release(5), /proc/sys/kernel (proc_sys_kernel(5)).
func Info() kasoku.Host {
	name, _ := os.Hostname() // an empty name is shown as such
	clockError, clockNote := clockState()
	return kasoku.Host{
		Name: name, Cores: onlineCores(readFile("/sys/devices/system/cpu/online")), Arch: runtime.GOARCH,
		MemoryBytes: parseMemTotal(readFile("/proc/meminfo")),
		OS:          parsePrettyName(readFile("/etc/os-release")),
		Kernel:      strings.TrimSpace(string(readFile("/proc/sys/kernel/osrelease"))),
		BootID:      strings.TrimSpace(string(readFile("/proc/sys/kernel/random/boot_id"))),
		ClockError:  clockError, ClockNote: clockNote,
	}
}

// onlineCores returns how many cores the host has, also where kasoku itself may run on fewer.
//
// Source: the kernel's Documentation/admin-guide/cputopology.rst.
func onlineCores(list []byte) int {
	return cmp.Or(len(unit.ParseCores(string(list))), runtime.NumCPU())
}

// clockState asks the kernel how far the wall clock may be from UTC; 0 when no
// time service keeps it.
//
// Source: adjtimex(2), STA_UNSYNC and maxerror.
func clockState() (most time.Duration, note string) {
	var t unix.Timex
	if _, err := unix.Adjtimex(&t); err != nil {
		return 0, "the kernel does not report how right its clock is"
	}
	if t.Status&unix.STA_UNSYNC != 0 {
		return 0, "no time service keeps the clock"
	}
	return time.Duration(t.Maxerror) * time.Microsecond, "kept by a time service"
}

func readFile(path string) []byte {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	return b
}

// parseMemTotal returns the bytes of the line "MemTotal:  24523456 kB".
func parseMemTotal(meminfo []byte) uint64 {
	for line := range bytes.Lines(meminfo) {
		if f := bytes.Fields(line); len(f) >= 2 && string(f[0]) == "MemTotal:" {
			kib, err := strconv.ParseUint(string(f[1]), 10, 54)
			if err != nil {
				return 0
			}
			return kib * 1024
		}
	}
	return 0
}

// parsePrettyName returns the value of PRETTY_NAME.
func parsePrettyName(osRelease []byte) string {
	sc := bufio.NewScanner(bytes.NewReader(osRelease))
	for sc.Scan() {
		if v, ok := strings.CutPrefix(sc.Text(), "PRETTY_NAME="); ok {
			return strings.Trim(v, `"'`)
		}
	}
	return ""
}

// Revision returns the git revision of the working directory, such as
// main@4f2c91e, and whether its tree has changes; empty outside a checkout.
func Revision(ctx context.Context) (rev string, dirty bool) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	spec, err := command.Git(".")
	if err != nil {
		return "", false
	}
	git := func(args ...string) (string, bool) {
		call := spec
		call.Args = append(slices.Clone(spec.Args), args...)
		out, err := command.Output(ctx, call, 1<<16)
		return strings.TrimSpace(string(out)), err == nil
	}
	hash, ok := git("rev-parse", "--short", "HEAD")
	if !ok {
		return "", false
	}
	branch, _ := git("rev-parse", "--abbrev-ref", "HEAD")
	changed, _ := git("status", "--porcelain", "--untracked-files=no")
	return branch + "@" + hash, changed != ""
}

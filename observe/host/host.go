// Package host is the source "host": what the whole machine does, read from
// /proc.
//
// The one idea: raw counters since boot, as the kernel keeps them, turned into
// base units and nothing else. Rates, shares and sums are computed when a run
// is read. Every file is opened once and read with one or two system calls a
// tick; reading and parsing are separate functions.
//
// A file that this kernel does not have (pressure before 4.20, or switched off)
// is left out, and its series are absent rather than zero. A file that cannot
// be read or parsed costs its own series and a warning; only /proc/stat and
// /proc/meminfo are needed.
//
// # Units and clock
//
// CPU and disk times are seconds, sizes are bytes. Times in /proc/stat are in
// hundredths of a second: USER_HZ is 100 on every architecture that Go runs on.
// All values are as of the moment of the read; the sampler gives the frame its
// time.
//
// Sources: the kernel's Documentation/filesystems/proc.rst,
// admin-guide/iostats.rst and accounting/psi.rst; proc(5).
package host

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"golang.org/x/sys/unix"

	kasoku "github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/observe/procfile"
)

// Name is the name of the source.
const Name = "host"

// Options configure where to read. The zero value reads this machine.
type Options struct {
	Proc string // mount point of procfs, default /proc
	Sys  string // mount point of sysfs, default /sys; distinguishes disks from partitions
}

func (o Options) withDefaults() Options {
	if o.Proc == "" {
		o.Proc = "/proc"
	}
	if o.Sys == "" {
		o.Sys = "/sys"
	}
	return o
}

// A Source reads the machine. It is not safe for concurrent use.
type Source struct {
	parts    []part
	buf      []byte // of the file being read
	cpus     []cpu  // as parsed last
	floors   map[string]*cpuFloor
	disks    map[string]*disk
	nics     map[string]*nic
	sysBlock string // /sys/block, empty when there is none
	swap     swap
	tick     uint64
	warnings []kasoku.Warning
}

// slowTicks is how often limits are read; they rarely change.
const slowTicks = 10

// A part is one file and what is made of it.
type part struct {
	path     string
	required bool
	every    uint64 // ticks; 0 means each
	collect  func(*Source, []byte, *kasoku.Frame) error
	file     *procfile.File
	warned   bool
}

// New opens the files. It fails when a required one cannot be opened.
func New(o Options) (*Source, error) {
	o = o.withDefaults()
	s := &Source{
		parts:  allParts(),
		floors: map[string]*cpuFloor{},
		disks:  map[string]*disk{},
		nics:   map[string]*nic{},
	}
	s.sysBlock = filepath.Join(o.Sys, "block")
	if unix.Access(s.sysBlock, unix.R_OK) != nil {
		s.sysBlock = ""
	}
	kept := s.parts[:0]
	for _, p := range s.parts {
		f, err := procfile.Open(filepath.Join(o.Proc, p.path))
		switch {
		case err == nil:
			p.file = f
			kept = append(kept, p)
		case p.required:
			s.parts = kept
			return nil, errors.Join(err, s.Close())
		case !errors.Is(err, fs.ErrNotExist):
			s.warn(err)
		}
	}
	s.parts = kept
	return s, nil
}

func allParts() []part {
	return []part{
		{path: "stat", required: true, collect: (*Source).collectStat},
		{path: "meminfo", required: true, collect: (*Source).collectMemory},
		{path: "loadavg", collect: (*Source).collectLoad},
		{path: "vmstat", collect: (*Source).collectVM},
		{path: "diskstats", collect: (*Source).collectDisks},
		{path: "net/dev", collect: (*Source).collectNet},
		{path: "net/softnet_stat", collect: (*Source).collectSoftnet},
		{path: "net/snmp", collect: (*Source).collectSNMP},
		{path: "net/netstat", collect: (*Source).collectTCPExt},
		{path: "net/sockstat", collect: (*Source).collectSockets},
		{path: "pressure/cpu", collect: pressure(PressureCPUSome, "")},
		{path: "pressure/io", collect: pressure(PressureIOSome, PressureIOFull)},
		{path: "pressure/memory", collect: pressure(PressureMemorySome, PressureMemoryFull)},
		{path: "pressure/irq", collect: pressure("", PressureIRQFull)},
		{path: "sys/fs/file-nr", collect: (*Source).collectFiles},
		{path: "sys/net/netfilter/nf_conntrack_count", collect: single(ConntrackCount)},
		{path: "sys/net/netfilter/nf_conntrack_max", collect: single(ConntrackMax), every: slowTicks},
		{path: "net/stat/nf_conntrack", collect: (*Source).collectConntrack},
		{path: "sys/kernel/threads-max", collect: single(TasksMax), every: slowTicks},
		{path: "sys/kernel/pid_max", collect: single(PIDsMax), every: slowTicks},
	}
}

// Name returns "host".
func (s *Source) Name() string { return Name }

// Collect reads every file once. It fails when a required file cannot be read
// or parsed; another file that fails leaves its series out and a warning.
func (s *Source) Collect(_ context.Context, f *kasoku.Frame) error {
	s.tick++
	for i := range s.parts {
		p := &s.parts[i]
		if p.every > 0 && (s.tick-1)%p.every != 0 {
			continue
		}
		if err := s.collect(p, f); err != nil {
			if p.required {
				return err
			}
			if !p.warned {
				p.warned = true
				s.warn(err)
			}
		}
	}
	return nil
}

func (s *Source) collect(p *part, f *kasoku.Frame) error {
	text, err := p.file.Append(s.buf[:0])
	if errors.Is(err, unix.EOPNOTSUPP) {
		return nil // pressure is compiled in and switched off: psi=0
	}
	if err != nil {
		return err
	}
	s.buf = text[:0]
	before := len(f.Samples)
	if err := p.collect(s, text, f); err != nil {
		f.Samples = f.Samples[:before]
		return fmt.Errorf("parse %s: %w", p.file.Path(), err)
	}
	return nil
}

// Warnings returns what could not be read, once each. It must not be called
// while Collect runs.
func (s *Source) Warnings() []kasoku.Warning { return s.warnings }

func (s *Source) warn(err error) {
	s.warnings = append(s.warnings, kasoku.Warning{
		Code: "host-partial",
		Text: "some series of the host are missing: " + err.Error(),
		Hint: "the file is read at each tick and belongs to the kernel; see proc(5)",
	})
}

// Close closes the files.
func (s *Source) Close() error {
	var errs []error
	for i := range s.parts {
		errs = append(errs, s.parts[i].file.Close())
	}
	return errors.Join(errs...)
}

package symbols

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/kasoku/kasoku/internal/foreign"
)

// The bounds of what is read of a process, and of what is asked.
const (
	mostMaps      = 16 << 20 // bytes of /proc/PID/maps
	mostFile      = 4 << 30  // bytes of a program or library
	mostPerfMap   = 256 << 20
	mostAddresses = 400_000 // in all
	mostFiles     = 4096
)

// KernelFile stands for the file of a function of the kernel.
const KernelFile = "[kernel]"

// JIT stands for the file of code that has none: a compiler made it at run time.
const JIT = "[jit]"

// A Frame is a function.
type Frame struct {
	Name string
	File string // its source, where it is known; else the program or library that it is in
	Line int    // where it begins; 0 when it is not known
}

// A Module is a program or a library.
type Module struct {
	Path    string // in the file system of its process
	BuildID string // by which its linker named the contents; empty when unknown
}

// A Table gives addresses their names: [Table.See] the processes and [Table.Want] the
// addresses, then [Table.Resolve], then ask for [Table.Frames]. Not safe for concurrent use.
type Table struct {
	processes map[int]*process
	files     map[fileKey]*file
	kernel    map[uint64]string
	wanted    int
	lost      int // addresses that were beyond the bounds
	hidden    bool
	failed    []string
}

// A fileKey identifies a file by what the kernel says of it.
type fileKey struct {
	device string
	inode  uint64
}

// A file is one that processes have mapped.
type file struct {
	Module
	holder *process // that it is opened through
	part   mapping
	places map[uint64][]Frame // by offset in the file
	bare   map[uint64]bool    // those in functions of Go that have no frame there
}

// A process is one whose addresses are wanted.
type process struct {
	held     *foreign.Process
	mappings []mapping // sorted
	made     map[uint64]string
}

// NewTable returns an empty table. The caller must Close it.
func NewTable() *Table {
	return &Table{processes: map[int]*process{}, files: map[fileKey]*file{}, kernel: map[uint64]string{}}
}

// Close lets go of the processes.
func (t *Table) Close() error {
	var errs []error
	for _, p := range t.processes {
		errs = append(errs, p.held.Close())
	}
	return errors.Join(errs...)
}

// See reads where a process has its code. What it maps later is read by seeing it again.
func (t *Table) See(pid int) error {
	p := t.processes[pid]
	if p == nil {
		held, err := foreign.Hold(pid)
		if err != nil {
			return err
		}
		p = &process{held: held, made: map[uint64]string{}}
		t.processes[pid] = p
	}
	f, err := os.Open("/proc/" + strconv.Itoa(pid) + "/maps")
	if err != nil {
		return fmt.Errorf("mappings of pid %d: %w", pid, err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, mostMaps))
	if err != nil {
		return fmt.Errorf("mappings of pid %d: %w", pid, err)
	}
	if all := parseMaps(text); len(all) > 0 { // none: it has ended
		p.mappings = all
	}
	return nil
}

// at returns the mapping that an address lies in.
func (p *process) at(addr uint64) (mapping, bool) {
	i, found := slices.BinarySearchFunc(p.mappings, addr, func(m mapping, a uint64) int {
		switch {
		case a >= m.end:
			return -1
		case a < m.start:
			return 1
		}
		return 0
	})
	if !found {
		return mapping{}, false
	}
	return p.mappings[i], true
}

// Want asks for an address of a process, and reports whether there is code.
func (t *Table) Want(pid int, addr uint64) bool {
	p := t.processes[pid]
	if p == nil {
		return false
	}
	m, ok := p.at(addr)
	if !ok {
		return false
	}
	if t.wanted >= mostAddresses {
		t.lost++
		return true
	}
	if m.inode == 0 {
		if _, ok := p.made[addr]; !ok {
			p.made[addr] = ""
			t.wanted++
		}
		return true
	}
	key := fileKey{m.device, m.inode}
	f := t.files[key]
	if f == nil {
		if len(t.files) >= mostFiles {
			t.lost++
			return true
		}
		f = &file{Module: Module{Path: strings.TrimSuffix(m.path, " (deleted)")}, holder: p, part: m, places: map[uint64][]Frame{}}
		t.files[key] = f
	}
	if offset := addr - m.start + m.offset; f.places[offset] == nil {
		f.places[offset] = []Frame{}
		t.wanted++
	}
	return true
}

// WantKernel asks for an address of the kernel.
func (t *Table) WantKernel(addr uint64) {
	if len(t.kernel) < mostAddresses {
		t.kernel[addr] = ""
	}
}

// Resolve finds the names of all addresses. It ends early with ctx; what has no name then
// has that of its file.
func (t *Table) Resolve(ctx context.Context) {
	for _, f := range t.files {
		if err := f.resolve(ctx); err != nil {
			t.failed = append(t.failed, fmt.Sprintf("%s: %v", path.Base(clean(f.Path)), err))
		}
	}
	for _, p := range t.processes {
		if len(p.made) > 0 {
			p.resolve(ctx)
		}
	}
	t.resolveKernel()
}

// resolve reads the names of a file. All addresses are looked for in one go.
func (f *file) resolve(ctx context.Context) error {
	m := foreign.Mapping{Start: f.part.start, End: f.part.end, Inode: f.part.inode, Path: f.Path}
	type result struct {
		places map[uint64][]Frame
		bare   map[uint64]bool
		id     string
	}
	offsets := sortedKeys(f.places)
	got, err := foreign.ReadMapped(ctx, f.holder.held, m, mostFile, func(r io.ReaderAt, size int64) (result, error) {
		places, bare, id, err := readNames(r, size, offsets)
		return result{places, bare, id}, err
	})
	if err != nil {
		return err
	}
	f.BuildID, f.bare = got.id, got.bare
	for offset, frames := range got.places {
		for i := range frames {
			if frames[i].File == "" {
				frames[i].File = clean(f.Path)
			}
		}
		f.places[offset] = frames
	}
	return nil
}

// readNames returns the functions at offsets of an ELF file, sorted ones, which of them have no
// frame there, and the file's build id.
func readNames(r io.ReaderAt, size int64, offsets []uint64) (_ map[uint64][]Frame, bare map[uint64]bool, id string, _ error) {
	m, err := readImage(r, size)
	if err != nil {
		return nil, nil, "", err
	}
	all, from := make([]wanted, 0, len(offsets)), map[uint64]uint64{}
	for _, offset := range offsets {
		if addr, ok := m.addrOf(offset); ok {
			all = append(all, wanted{addr: addr})
			from[addr] = offset
		}
	}
	slices.SortFunc(all, func(a, b wanted) int {
		switch {
		case a.addr < b.addr:
			return -1
		case a.addr > b.addr:
			return 1
		}
		return 0
	})
	bare = map[uint64]bool{}
	if table, err := m.readGo(); err == nil {
		for i := range all {
			a := all[i].addr
			if all[i].frames = table.frames(a); table.isBare(a) {
				bare[from[a]] = true
			}
		}
	}
	if slices.ContainsFunc(all, func(w wanted) bool { return len(w.frames) == 0 }) {
		m.findSymbols(all)
	}
	out := map[uint64][]Frame{}
	for _, w := range all {
		if len(w.frames) > 0 {
			out[from[w.addr]] = w.frames
		}
	}
	return out, bare, m.buildID(), nil
}

// resolve reads the perf map of a process, if it has written one.
func (p *process) resolve(ctx context.Context) {
	status, err := os.ReadFile("/proc/" + strconv.Itoa(p.held.PID) + "/status")
	if err != nil {
		return
	}
	name := "/tmp/perf-" + innermostPID(string(status)) + ".map"
	addrs := sortedKeys(p.made)
	found, err := foreign.ReadOwn(ctx, p.held, name, mostPerfMap, func(r io.ReaderAt, size int64) (map[uint64]string, error) {
		return readPerfMap(io.NewSectionReader(r, 0, size), addrs), nil
	})
	if err == nil { // most processes have none
		for a, name := range found {
			p.made[a] = name
		}
	}
}

// innermostPID returns the number that a process has in its own namespace, of
// /proc/PID/status.
func innermostPID(status string) string {
	for line := range strings.Lines(status) {
		if rest, ok := strings.CutPrefix(line, "NSpid:"); ok {
			if f := strings.Fields(rest); len(f) > 0 {
				if _, err := strconv.Atoi(f[len(f)-1]); err == nil {
					return f[len(f)-1]
				}
			}
		}
	}
	return "0"
}

func (t *Table) resolveKernel() {
	if len(t.kernel) == 0 {
		return
	}
	f, err := os.Open("/proc/kallsyms")
	if err != nil {
		t.hidden = true
		return
	}
	defer f.Close()
	names, hidden := readKernel(f, sortedKeys(t.kernel))
	t.hidden = hidden
	for a, name := range names {
		t.kernel[a] = name
	}
}

// Frames returns the functions of an address of a process, inlined ones first, and what they
// are in; none where there is no code.
func (t *Table) Frames(pid int, addr uint64) ([]Frame, Module) {
	p := t.processes[pid]
	if p == nil {
		return nil, Module{}
	}
	m, ok := p.at(addr)
	if !ok {
		return nil, Module{}
	}
	if m.inode == 0 {
		name := p.made[addr]
		switch {
		case name != "":
			return []Frame{{Name: name, File: JIT}}, Module{Path: JIT}
		case strings.HasPrefix(m.path, "[v"): // [vdso], [vsyscall]
			return []Frame{{Name: clean(m.path), File: clean(m.path)}}, Module{Path: clean(m.path)}
		}
		return []Frame{{Name: "[code without a file]", File: JIT}}, Module{Path: JIT}
	}
	f := t.files[fileKey{m.device, m.inode}]
	if f == nil {
		return nil, Module{}
	}
	if frames := f.places[addr-m.start+m.offset]; len(frames) > 0 {
		return frames, f.Module
	}
	file := clean(f.Path)
	return []Frame{{Name: "[" + path.Base(file) + "]", File: file}}, f.Module
}

// Bare reports whether an address is in a function of Go that has no frame of its own there:
// its return address is at the stack pointer.
func (t *Table) Bare(pid int, addr uint64) bool {
	p := t.processes[pid]
	if p == nil {
		return false
	}
	m, ok := p.at(addr)
	if !ok {
		return false
	}
	f := t.files[fileKey{m.device, m.inode}]
	return f != nil && f.bare[addr-m.start+m.offset]
}

// Kernel returns the function of an address of the kernel, "[kernel]" without a name.
func (t *Table) Kernel(addr uint64) Frame {
	name := t.kernel[addr]
	if name == "" {
		name = KernelFile
	}
	return Frame{Name: name, File: KernelFile}
}

// Failures returns which files could not be read, and why.
func (t *Table) Failures() []string { return t.failed }

// Lost returns how many addresses were more than are looked for.
func (t *Table) Lost() int { return t.lost }

// Hidden reports that the kernel hides the addresses of its functions.
func (t *Table) Hidden() bool { return t.hidden }

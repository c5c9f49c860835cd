package profile

import (
	"cmp"
	"path"
	"slices"
	"strconv"
	"strings"

	pprof "github.com/google/pprof/profile"

	"github.com/kasoku/kasoku"
)

// mostFunctions of a profile are kept: half of them by their own share, the others
// by what they are on the way to.
const mostFunctions = 300

// values are the sample types that identify the kinds, as Go's runtime names them.
var values = map[kasoku.ProfileKind]string{
	kasoku.ProfileCPU: "cpu", kasoku.ProfileAllocs: "alloc_space", kasoku.ProfileHeap: "inuse_space",
	kasoku.ProfileMutex: "delay", kasoku.ProfileBlock: "delay", kasoku.ProfileGoroutine: "goroutine",
	kasoku.ProfileWaiting: "delay",
}

// valueOf returns the place of the sample type of a kind; the last one when none has
// its name, as the tools do.
func valueOf(p *pprof.Profile, kind kasoku.ProfileKind) int {
	i := slices.IndexFunc(p.SampleType, func(t *pprof.ValueType) bool { return t.Type == values[kind] })
	if i < 0 {
		i = len(p.SampleType) - 1
	}
	return i
}

// A frame is one function in a stack; inlined ones are frames too.
type frame struct {
	name, file string
	line       int
}

// stack gives the frames of a sample to each, the innermost first.
func stack(s *pprof.Sample, each func(frame)) {
	n := 0
	for _, l := range s.Location {
		if len(l.Line) == 0 {
			each(frame{name: "0x" + strconv.FormatUint(l.Address, 16)})
			n++
		}
		for _, at := range l.Line {
			if n++; n > deepest {
				return
			}
			f := frame{name: "?"}
			if at.Function != nil {
				f = frame{cmp.Or(at.Function.Name, "?"), at.Function.Filename, int(at.Function.StartLine)}
			}
			each(f)
		}
	}
}

// waits are the kinds whose innermost functions are always the same few: those that
// put a goroutine to sleep. What waited is the first one above them.
var waits = []kasoku.ProfileKind{kasoku.ProfileMutex, kasoku.ProfileBlock, kasoku.ProfileGoroutine,
	kasoku.ProfileWaiting}

// sleeps reports whether a function is one of them.
func sleeps(f frame) bool {
	switch Package(f.name) {
	case "sync", "internal/sync", "internal/poll":
		return true
	}
	c := ClassOf(f.name, f.file)
	return c == Runtime || c == Kernel || c == Library && systemLibrary(f.file)
}

// own reports whether a stack is of the profiling itself.
func own(s *pprof.Sample) bool {
	found := false
	stack(s, func(f frame) {
		found = found || strings.HasPrefix(f.name, "net/http/pprof.") || strings.HasPrefix(f.name, "runtime/pprof.")
	})
	return found
}

// withoutOwn drops what the profiling itself used.
func withoutOwn(p *pprof.Profile) *pprof.Profile {
	p.Sample = slices.DeleteFunc(p.Sample, own)
	return p.Compact()
}

// functions adds up a value by function. Of waits, the function that waited has it,
// not the one that put it to sleep.
func functions(p *pprof.Profile, kind kasoku.ProfileKind, value int) (all []kasoku.ProfileFunction, total int64) {
	waiting := slices.Contains(waits, kind)
	at := map[string]int{}
	var counted []int // by function, the sample that it was last counted for
	for i, s := range p.Sample {
		v := s.Value[value]
		if v == 0 {
			continue
		}
		total += v
		leaf, last := true, -1
		stack(s, func(f frame) {
			k, ok := at[f.name]
			if !ok {
				k = len(all)
				at[f.name] = k
				all, counted = append(all, kasoku.ProfileFunction{Name: f.name, File: f.file, Line: f.line}),
					append(counted, -1)
			}
			if leaf && !(waiting && sleeps(f)) {
				all[k].Flat += v
				leaf = false
			}
			last = k
			if counted[k] != i { // recursion counts once
				counted[k] = i
				all[k].Cum += v
			}
		})
		if leaf && last >= 0 { // nothing but such functions
			all[last].Flat += v
		}
	}
	return all, total
}

// foremost sorts functions by their own share and keeps those that matter most.
func foremost(all []kasoku.ProfileFunction) []kasoku.ProfileFunction {
	byFlat := func(a, b kasoku.ProfileFunction) int {
		return cmp.Or(cmp.Compare(b.Flat, a.Flat), cmp.Compare(b.Cum, a.Cum), strings.Compare(a.Name, b.Name))
	}
	slices.SortFunc(all, byFlat)
	if len(all) <= mostFunctions {
		return all
	}
	out := slices.Clone(all[:mostFunctions/2])
	rest := all[mostFunctions/2:]
	slices.SortFunc(rest, func(a, b kasoku.ProfileFunction) int {
		return cmp.Or(cmp.Compare(b.Cum, a.Cum), byFlat(a, b))
	})
	out = append(out, rest[:mostFunctions-len(out)]...)
	slices.SortFunc(out, byFlat)
	return out
}

// program returns the name of the executable, empty when the profile does not say.
func program(p *pprof.Profile) string {
	if len(p.Mapping) == 0 || p.Mapping[0].File == "" || strings.HasPrefix(p.Mapping[0].File, "[") {
		return ""
	}
	return path.Base(strings.TrimSuffix(p.Mapping[0].File, " (deleted)"))
}

// A Class defines whose code a function is.
type Class string

// The classes.
const (
	Own      Class = "own"      // the program's
	Database Class = "database" // database/sql and drivers
	Library  Class = "library"  // Go's standard library and modules
	Runtime  Class = "runtime"  // of Go: scheduler, memory, maps
	Kernel   Class = "kernel"   // and reasons of waits
)

// standard are the first parts of the import paths of Go's library.
var standard = strings.Fields(`archive arena bufio bytes cmp compress container context crypto database debug embed encoding
	errors expvar flag fmt go hash html image index internal io iter log maps math mime net os path plugin reflect regexp
	slices sort strconv strings structs sync syscall testing text time unicode unique unsafe vendor weak type`)

// drivers are parts of import paths by which drivers of databases are known.
var drivers = []string{"database/sql", "go-sql-driver/mysql", "jackc/pg", "lib/pq", "jmoiron/sqlx", "sqlite",
	"gorm.io", "redis"}

// ClassOf says whose code a function is, by its name and file.
func ClassOf(name, file string) Class {
	if c, ok := classByFile(file); ok && !strings.HasPrefix(name, "runtime.") {
		return c
	}
	pkg := Package(name)
	first, _, _ := strings.Cut(pkg, "/")
	switch {
	case first == "runtime" || strings.HasPrefix(name, "runtime.") || pkg == "" ||
		strings.HasPrefix(pkg, "internal/runtime") || strings.HasPrefix(name, "0x"):
		return Runtime
	case slices.ContainsFunc(drivers, func(d string) bool { return strings.Contains(pkg, d) }):
		return Database
	case first == "main":
		return Own
	case slices.Contains(standard, first) || strings.Contains(file, "/pkg/mod/") || strings.Contains(file, "@v") ||
		strings.Contains(file, "/vendor/") ||
		strings.HasPrefix(first, "golang.org"):
		return Library
	}
	return Own
}

// Package returns the import path in a function's name: net/http of
// net/http.(*conn).serve.
func Package(name string) string {
	name, _, _ = strings.Cut(name, "[") // type parameters hold import paths
	slash := strings.LastIndexByte(name, '/')
	dot := strings.IndexByte(name[slash+1:], '.')
	if dot < 0 {
		return ""
	}
	return name[:slash+1+dot]
}

// Short returns a function's name without the directories of its import path.
func Short(name string) string {
	head, params, generic := strings.Cut(name, "[")
	head = head[strings.LastIndexByte(head, '/')+1:]
	if generic {
		return head + "[" + params
	}
	return head
}

package main

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"

	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/internal/private"
)

// globals are Vegeta's flags that stand before the command.
type globals struct {
	cpus     int // 0: as the runtime chooses
	profiles []string
	version  bool
}

// profileNames are the values of -profile; each is a file, such as cpu.pprof.
var profileNames = []string{"cpu", "heap"}

// parseGlobals takes Vegeta's global flags off the front of the arguments. Other
// flags there, which are kasoku's own, stay.
func parseGlobals(args []string) (g globals, rest []string, err error) {
	for len(args) > 0 && strings.HasPrefix(args[0], "-") && args[0] != "--" {
		name, value, has := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(args[0], "-"), "-"), "=")
		switch name {
		case "cpus", "profile":
			used := 1
			if !has {
				if len(args) < 2 {
					return g, nil, cli.Usagef("", "flag needs an argument: -%s", name)
				}
				value, used = args[1], 2
			}
			if err := g.set(name, value); err != nil {
				return g, nil, err
			}
			args = args[used:]
		case "version":
			g.version = !has || value == "true"
			args = args[1:]
		default:
			rest = append(rest, args[0])
			args = args[1:]
		}
	}
	return g, append(rest, args...), nil
}

func (g *globals) set(name, value string) error {
	if name == "cpus" {
		n, err := strconv.Atoi(value)
		if err != nil || n < 1 {
			return cli.Usagef("", "-cpus %q: want a number of cores from 1 on", value)
		}
		g.cpus = n
		return nil
	}
	g.profiles = strings.Split(value, ",")
	for _, p := range g.profiles {
		if !slices.Contains(profileNames, p) {
			return cli.Usagef("", "-profile %q: want %s, or both with a comma", p, strings.Join(profileNames, " or "))
		}
	}
	return nil
}

// start puts the flags into force. The function that it returns writes the
// profiles when the command has ended.
func (g *globals) start() (stop func() error, err error) {
	if g.cpus > 0 {
		runtime.GOMAXPROCS(g.cpus)
	}
	if !slices.Contains(g.profiles, "cpu") {
		return g.writeHeap, nil
	}
	f, err := private.Output.Create("cpu.pprof")
	if err != nil {
		return nil, fmt.Errorf("profile: %w", err)
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		return nil, errors.Join(fmt.Errorf("profile: %w", err), f.Close())
	}
	return func() error {
		pprof.StopCPUProfile()
		return errors.Join(f.Close(), g.writeHeap())
	}, nil
}

func (g *globals) writeHeap() error {
	if !slices.Contains(g.profiles, "heap") {
		return nil
	}
	f, err := private.Output.Create("heap.pprof")
	if err != nil {
		return fmt.Errorf("profile: %w", err)
	}
	return errors.Join(pprof.Lookup("heap").WriteTo(f, 0), f.Close())
}

// versionLines are what vegeta -version prints, of kasoku.
func versionLines() string {
	commit, date := "", ""
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				commit = s.Value
			case "vcs.time":
				date = s.Value
			}
		}
	}
	return fmt.Sprintf("Version: %s\nCommit: %s\nRuntime: %s %s/%s\nDate: %s\n",
		cli.VersionString(), commit, runtime.Version(), runtime.GOOS, runtime.GOARCH, date)
}

package showcmd

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/observe/profile"
	"github.com/kasoku/kasoku/report/terminal"
)

// profileFlags ask for one profile of a run, as other tools read it.
type profileFlags struct {
	kind    string
	program string
	folded  bool
}

func (f *profileFlags) register(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&f.kind, "profile", "", "write the profile of `KIND` to stdout, for `go tool pprof`: cpu, waiting, "+
		"allocs, heap, mutex, block or goroutine")
	fl.StringVar(&f.program, "program", "", "with --profile: of `NAME`, a program or its address, where there are several")
	fl.BoolVar(&f.folded, "folded", false, "with --profile: as folded stacks, for flame graph tools")
	var kinds []string
	for _, k := range kasoku.ProfileKinds() {
		kinds = append(kinds, string(k))
	}
	// It fails only for a flag that is not there.
	_ = cmd.RegisterFlagCompletionFunc("profile", cobra.FixedCompletions(kinds, cobra.ShellCompDirectiveNoFileComp))
}

func (f *profileFlags) asked() bool { return f.kind != "" }

func (f *profileFlags) check() error {
	if f.kind == "" && (f.program != "" || f.folded) {
		return cli.Usagef("kasoku show RUN --profile cpu", "--program and --folded go with --profile")
	}
	if f.kind != "" && !slices.Contains(kasoku.ProfileKinds(), kasoku.ProfileKind(f.kind)) {
		return cli.Usagef("", "--profile %q: want cpu, waiting, allocs, heap, mutex, block or goroutine", f.kind)
	}
	return nil
}

// write writes the profile. Bytes for another tool are kept off a terminal.
func (f *profileFlags) write(e *cli.Env, rec *kasoku.Recording) error {
	p, err := f.find(rec.Profiles)
	if err != nil {
		return err
	}
	if len(p.Data) == 0 {
		return errors.New("its stacks were not kept: " + cmp.Or(p.Note, "the run file has none"))
	}
	if f.folded {
		return profile.WriteFolded(e.Stdout, p)
	}
	if e.StdoutTTY {
		return cli.Usagef("write it into a file: > "+f.kind+".pb.gz; then `go tool pprof -http=: "+f.kind+".pb.gz`", "a profile is not for a terminal")
	}
	_, err = terminal.Raw(e.Stdout).Write(p.Data) // gzip
	return err
}

func (f *profileFlags) find(profiles []kasoku.Profile) (*kasoku.Profile, error) {
	var found []*kasoku.Profile
	var there, programs []string
	for i := range profiles {
		p := &profiles[i]
		if !slices.Contains(there, string(p.Kind)) {
			there = append(there, string(p.Kind))
		}
		if string(p.Kind) == f.kind && (f.program == "" || p.Program == f.program || strings.Contains(p.Address, f.program)) {
			found = append(found, p)
			programs = append(programs, strings.TrimSpace(p.Program+" "+p.Address))
		}
	}
	switch {
	case len(profiles) == 0:
		return nil, cli.Usagef("[watch] pprof in kasoku.toml says where profiles are taken", "the run has no profiles")
	case len(found) == 0 && f.program != "":
		return nil, cli.Usagef("", "no %s profile of %q", f.kind, f.program)
	case len(found) == 0:
		return nil, cli.Usagef("", "the run has no %s profile, but %s", f.kind, strings.Join(there, ", "))
	case len(found) > 1:
		return nil, cli.Usagef("--program names one: "+strings.Join(programs, "; "), "the run has %d %s profiles", len(found), f.kind)
	}
	return found[0], nil
}

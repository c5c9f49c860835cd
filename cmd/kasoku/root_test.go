package main

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli/clitest"
)

func TestVegetaFlags(t *testing.T) {
	e, _, _ := clitest.New()
	root := newRoot(e)
	f := func(args, want string) {
		t.Helper()
		in := strings.Fields(args)
		before := slices.Clone(in)
		if got := strings.Join(vegetaFlags(root, in), " "); got != want {
			t.Errorf("%q: %q, want %q", args, got, want)
		}
		if !slices.Equal(in, before) {
			t.Errorf("%q: the arguments were changed", args)
		}
	}
	f("", "")
	f("attack -rate 100 -duration=5s", "attack --rate 100 --duration=5s")
	f("attack --rate 100 --pause 1s", "attack --rate 100 --pause 1s")
	f("attack -h", "attack -h")
	f("attack -output - -targets x", "attack --output - --targets x")
	f("attack -frob 1", "attack --frob 1") // no flag of that name
	f("attack -ojson -help -max-body -1 -duration -1s", "attack -ojson --help --max-body -1 --duration -1s")
	f("attack -rate 1 -- -rate 2", "attack --rate 1 -- -rate 2")
	f("attack -", "attack -")
	f("report -type=hist[0,1ms] r.gob", "report --type=hist[0,1ms] r.gob")
	f("record -o x -for 1s", "record -o x -for 1s") // not of Vegeta's
	f("nothing -rate 1", "nothing -rate 1")
	f("-rate 1", "-rate 1")
}

// TestFlagValues: every value that looks like a flag of Vegeta's but is the
// value of another stays what it is.
func TestFlagValues(t *testing.T) {
	e, out, _ := clitest.New()
	e.Args = []string{"attack", "-name", "-rate", "-rate", "nope"}
	if code := run(e); code != cli.ExitUsage {
		t.Errorf("exit %d, %s", code, out)
	}
}

// TestExamples: every command that a user sees has one line about itself and an
// example, and every flag says what it is.
func TestExamples(t *testing.T) {
	e, _, _ := clitest.New()
	says := regexp.MustCompile(`--\S+.*\S\s{2,}\S`)
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		if c.Hidden {
			return
		}
		if c.Short == "" || !strings.Contains(c.Example, c.CommandPath()) {
			t.Errorf("%s: short %q, example %q", c.CommandPath(), c.Short, c.Example)
		}
		for line := range strings.Lines(c.LocalFlags().FlagUsages()) {
			if !says.MatchString(line) {
				t.Errorf("%s: a flag says nothing: %s", c.CommandPath(), line)
			}
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(newRoot(e))
}

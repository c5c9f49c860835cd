package main

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
)

// flagMeanings returns what each flag that help shows means, by name and by shorthand: the
// type of its value and the word for it, with the commands that have it so.
func flagMeanings(root *cobra.Command) map[string]map[string][]string {
	all := map[string]map[string][]string{}
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if f.Hidden || c.Hidden || ofLabs(c) {
				return
			}
			word, _ := pflag.UnquoteUsage(f)
			names := []string{"--" + f.Name}
			if f.Shorthand != "" {
				names = append(names, "-"+f.Shorthand)
				word = "--" + f.Name + " " + word
			}
			for i, name := range names {
				meaning := word
				if i == 0 {
					meaning = strings.TrimPrefix(word, "--"+f.Name+" ")
				}
				if all[name] == nil {
					all[name] = map[string][]string{}
				}
				all[name][meaning] = append(all[name][meaning], c.CommandPath())
			}
		})
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(root)
	return all
}

// ofLabs reports whether a command is about the sample services.
func ofLabs(c *cobra.Command) bool {
	return slices.Contains([]string{"lab", "demo", "autopilot"}, c.Name()) || c.HasParent() && ofLabs(c.Parent())
}

// sameFlag has flags whose meaning is one although the words for their values differ, and those
// that other programs have given their meaning.
var sameFlag = map[string]string{
	"--accesslog": "access logs: one, or several", "--as": "in place of that program", "--allow": "consent to what is refused else",
	"--by": "what makes a row", "--for": "how long", "--from": "where something comes from: a run, the hosts that send", "--header": "a request header", "--match": "a pattern to match",
	"--only": "less than all", "--out": "where to write", "--price": "of the machines, an hour", "--project": "its name",
	"--sort": "the order of rows", "-n": "how many",
	"--format": "Vegeta's, of targets; kataribe's and alp's word for that of a log",
	"--output": "Vegeta's, a file", "--to": "Vegeta's, an encoding; export's, a form",
	"--workers": "Vegeta's; threads that read", "--keep": "leave what is made: run files, a change",
}

// TestOneMeaningPerFlag holds the flags of all commands to one meaning. Labs are apart: their
// flags are of the sample services.
func TestOneMeaningPerFlag(t *testing.T) {
	all := flagMeanings(newRoot(&cli.Env{}))
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if len(all[name]) > 1 && sameFlag[name] == "" {
			t.Errorf("%s means %q", name, all[name])
		}
	}
	for name := range sameFlag {
		if len(all[name]) == 0 {
			t.Errorf("no command has %s", name)
		}
	}
}

// TestOldFlags holds each flag by a name that it once had to the flag that it is now, and to
// being hidden.
func TestOldFlags(t *testing.T) {
	got := map[string]string{}
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if now := f.Annotations["kasoku_now"]; len(now) > 0 {
				is := c.Flags().Lookup(now[0])
				if is == nil || is.Value != f.Value || !f.Hidden {
					t.Errorf("%s: --%s is not --%s, or not hidden", c.CommandPath(), f.Name, now[0])
				}
				got[f.Annotations["kasoku_old"][0]] += " " + c.Name()
			}
		})
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(newRoot(&cli.Env{}))
	for old, want := range map[string]string{"-o": " checkpoint export scrub watch", "-f": " init", "--base": " probe",
		"--config": " show", "--db": " slowlog diff", "--keep": " watch", "--limit": " explain try", "--log": " accesslog diff",
		"--since": " digest", "--format": " merge record"} {
		words := strings.Fields(got[old])
		slices.Sort(words)
		wanted := strings.Fields(want)
		slices.Sort(wanted)
		if !slices.Equal(words, wanted) {
			t.Errorf("%s was a flag of %v, want %v", old, words, wanted)
		}
	}
}

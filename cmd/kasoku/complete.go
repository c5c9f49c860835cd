package main

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/diagnose/rules"
	"github.com/kasoku/kasoku/load/engine"
	"github.com/kasoku/kasoku/load/vegeta"
	"github.com/kasoku/kasoku/record"
	"github.com/kasoku/kasoku/store"
)

// ofRuns are the commands whose arguments name runs.
var ofRuns = []string{"show", "diagnose", "compare", "label", "note", "score", "rm", "scrub", "merge", "export", "explain",
	"advise", "try", "watch", "revert"}

// completions are what shells complete of flags, by name, in whichever command has them.
var completions = map[string]cobra.CompletionFunc{
	"why-not":  completeRules,
	"baseline": completeRuns, "base": completeRuns, "from": completeRuns,
	"label":    completeLabels,
	"engine":   fixed(engine.Auto, engine.EpollHTTP, engine.NetHTTP),
	"encoding": fixed(string(vegeta.Gob), string(vegeta.JSON), string(vegeta.CSV)),
	"join":     fixed(record.JoinAuto, record.JoinTail, record.JoinTable, record.JoinOff),
	"color":    fixed("auto", "always", "never"),
}

func fixed(values ...string) cobra.CompletionFunc {
	return cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)
}

// setCompletions lets shells complete what is known: runs, labels, rules, and values of flags.
func setCompletions(c *cobra.Command) {
	for name, complete := range completions {
		if c.LocalFlags().Lookup(name) != nil {
			_ = c.RegisterFlagCompletionFunc(name, complete) // it fails where the command has its own
		}
	}
	switch {
	case c.ValidArgsFunction != nil:
	case slices.Contains(ofRuns, c.Name()):
		c.ValidArgsFunction = completeRuns
	case c.Name() == "rules":
		c.ValidArgsFunction = completeRules
	}
	for _, sub := range c.Commands() {
		setCompletions(sub)
	}
}

// completeRules returns the ids of rules, with what they find.
func completeRules(_ *cobra.Command, _ []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var out []cobra.Completion
	for _, r := range rules.All() {
		if strings.HasPrefix(r.ID(), strings.ToUpper(begun)) {
			out = append(out, cobra.CompletionWithDesc(r.ID(), r.Doc().Line()))
		}
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}

// completeRuns returns labels and ids of runs, the newest first; files are completed too.
func completeRuns(cmd *cobra.Command, _ []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	out, _ := completeLabels(cmd, nil, begun)
	for _, r := range listedRuns(cmd) {
		if strings.HasPrefix(r.ID, begun) {
			out = append(out, cobra.CompletionWithDesc(r.ID, r.Note))
		}
	}
	if strings.HasPrefix(store.Latest, begun) {
		out = append(out, cobra.CompletionWithDesc(store.Latest, "the newest that is finished"))
	}
	return out, cobra.ShellCompDirectiveDefault
}

// completeLabels returns labels of runs, the newest first.
func completeLabels(cmd *cobra.Command, _ []string, begun string) (out []cobra.Completion, d cobra.ShellCompDirective) {
	seen := map[string]bool{"": true}
	for _, r := range listedRuns(cmd) {
		if !seen[r.Label] && strings.HasPrefix(r.Label, begun) {
			out = append(out, cobra.CompletionWithDesc(r.Label, r.Note))
		}
		seen[r.Label] = true
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}

// listedRuns are the runs where the command would look for them. What cannot be read is left
// out: a shell has no use for the reason.
func listedRuns(cmd *cobra.Command) []store.Info {
	dir := ""
	if f := cmd.Flags().Lookup("dir"); f != nil {
		dir = f.Value.String()
	}
	var all []store.Info
	for _, d := range cli.RunDirs(dir) {
		runs, err := store.List(filepath.Clean(d))
		if err != nil {
			continue
		}
		for _, r := range runs {
			if r.Err == nil {
				all = append(all, r)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b store.Info) int { return b.Started.Compare(a.Started) })
	return all
}

package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/store"
)

// flagsElsewhere are flags of other programs that people type here, by command, with what
// says it in kasoku. A command of no row has those of "".
//
// Sources: wrk(1), ab(1), hey and oha --help, k6 run --help, curl(1), alp --help,
// pt-query-digest(1), mysql(1).
var flagsElsewhere = map[string]map[string]string{
	"attack": {
		"c": closedLoop, "concurrency": closedLoop, "vus": closedLoop, "u": closedLoop, "users": closedLoop,
		"threads": closedLoop, "t": closedLoop,
		"n": byDuration, "requests": byDuration, "iterations": byDuration,
		"z": "-duration 10s", "time": "-duration 10s", "q": "-rate 100", "qps": "-rate 100", "R": "-rate 100",
		"url": "the URL is an argument: kasoku attack URL", "m": "-X METHOD, as in curl",
		"method": "-X METHOD, as in curl", "k": "-insecure", "L": "redirects are followed; -redirects says how many",
		"T": "-H 'Content-Type: …'", "A": "-H 'Authorization: Basic …'", "b": "-H 'Cookie: …'",
		"s":       "kasoku runs no scripts; targets may hold {{uuid}}, {{int 1 100}} and {{csv.COLUMN}}",
		"latency": "the report always has percentiles",
	},
	"record": {
		"time": "--for 60s", "name": "--label NAME",
		"url": "record makes no load: kasoku record -- kasoku attack URL; `kasoku init --url URL` for kasoku run",
	},
	"run": {
		"mysql": inConfig, "dsn": inConfig, "accesslog": inConfig,
		"duration": "load.each in kasoku.toml", "rate": "load.steps in kasoku.toml", "name": "--label NAME",
		"url": "load.targets in kasoku.toml; `kasoku init --url URL` writes it",
		"out": "runs has the run files; runs = 'DIRECTORY' in kasoku.toml moves them",
	},
	"accesslog": {
		"file": "the log is an argument: kasoku accesslog access.log", "sum": "--sort total", "q": "--keep-query KEYS",
		"query-string": "--keep-query KEYS", "filters": "--where EXPR", "matching-groups": "-m PATTERN",
		"avg": "--sort mean", "config": "--format SPEC, or --as alp for alp's own flags",
	},
	"slowlog": {
		"file": "the log is an argument: kasoku slowlog slow.log", "order-by": "--sort COLUMN", "type": "--kind KIND",
		"filter": "--match RE", "group-by": "--by KEY", "limits": "--limit N", "t": "--limit N", "s": "--sort COLUMN",
	},
	"doctor": {"mysql": inConfig, "dsn": inConfig, "url": inConfig, "port": inConfig},
	"list":   {"last": "-n N", "l": "-n N"},
	"diagnose": {
		"rule": "--why-not ID, which says why a rule is silent; `kasoku rules ID` says what it looks for",
		"id":   "--why-not ID",
	},
	"show": {"format": "-o FORMAT", "pdf": "--html FILE, which a browser prints"},
}

// What kasoku has in place of others' flags.
const (
	closedLoop = "-rate 0 -max-workers 10: ten users, each of whom waits for its answer"
	byDuration = "-rate and -duration: 100 requests are -rate 10 -duration 10s"
	inConfig   = "a line of kasoku.toml, which `kasoku init` writes"
	dsnFlags   = "--mysql 'USER:PASSWORD@tcp(127.0.0.1:3306)/DATABASE', or --defaults-file ~/.my.cnf"
)

// clientFlags are those of mysql(1), which commands that ask a server do not have.
var clientFlags = []string{"u", "p", "P", "S", "user", "password", "host", "port", "socket", "database", "D"}

// flagHint returns what helps with a command line whose flags are wrong.
func flagHint(cmd *cobra.Command, err error) string {
	list := "`" + cmd.CommandPath() + " --help` lists the flags"
	var missing *pflag.NotExistError
	var invalid *pflag.InvalidValueError
	var bare *pflag.ValueRequiredError
	switch {
	case errors.As(err, &bare):
		if word, _ := pflag.UnquoteUsage(bare.GetFlag()); word != "" {
			return "it is followed by its value: --" + bare.GetFlag().Name + " " + word + "; " + list
		}
	case errors.As(err, &missing):
		if better := flagMeant(cmd, missing); better != "" {
			return better + "; " + list
		}
	case errors.As(err, &invalid):
		if better := valueMeant(invalid); better != "" {
			return better + "; " + list
		}
	}
	return list
}

// flagMeant returns what was meant by a flag that is not there, empty when that is not known.
func flagMeant(cmd *cobra.Command, missing *pflag.NotExistError) string {
	name := missing.GetSpecifiedName()
	if row := missing.GetSpecifiedShortnames(); row != "" { // -for is read as a row of short flags
		if long, _, _ := strings.Cut(row, "="); cmd.Flags().Lookup(long) != nil {
			return "did you mean --" + long + "?"
		}
	}
	if name == "duration" && cmd.Flags().Lookup("for") != nil {
		return "here that is --for 60s"
	}
	if cmd.Flags().Lookup("mysql") != nil && slices.Contains(clientFlags, name) {
		return "write " + dsnFlags
	}
	if known := flagsElsewhere[cmd.Name()]; known != nil {
		short := name[:1]
		if text := cmp.Or(known[name], shortMeant(known, short, name)); text != "" {
			return "here that is " + text
		}
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	if near, ok := unit.Nearest(name, names); ok {
		return "did you mean --" + near + "?"
	}
	return ""
}

// shortMeant returns what a short flag with its value, such as -c10, was to say.
func shortMeant(known map[string]string, short, name string) string {
	if strings.Trim(name[1:], "0123456789smh") != "" {
		return ""
	}
	return known[short]
}

// valueMeant returns how a value is written.
func valueMeant(invalid *pflag.InvalidValueError) string {
	value, name := invalid.GetValue(), invalid.GetFlag().Name
	if name == "header" {
		return "-H 'Accept: text/html', as in curl"
	}
	switch invalid.GetFlag().Value.Type() {
	case "duration":
		if value != "" && strings.Trim(value, "0123456789.") == "" {
			return fmt.Sprintf("a time has a unit: --%s %ss", name, value)
		}
		return "a time is written 500ms, 10s, 2m or 1h30m"
	case "int", "uint", "uint64", "float64":
		return "a number is wanted"
	case "bool":
		return fmt.Sprintf("--%s, or --%s=false", name, name)
	}
	return ""
}

// commandsElsewhere are words for what kasoku has under another name.
var commandsElsewhere = map[string]string{
	"load": "attack URL", "bench": "attack URL", "benchmark": "attack URL", "hit": "attack URL", "vegeta": "attack",
	"wrk": "attack URL", "ab": "attack URL", "hey": "attack URL", "k6": "attack URL",
	"top": "watch", "monitor": "watch", "dashboard": "watch", "analyze": "diagnose", "analyse": "diagnose",
	"diff": "compare", "ls": "list", "history": "list", "runs": "list", "delete": "rm", "remove": "rm",
	"setup": "init", "new": "init", "start": "run", "html": "show --html report.html", "check": "doctor",
	"alp": "accesslog --as alp", "kataribe": "accesslog --as kataribe", "nginx": "accesslog",
	"pt-query-digest": "slowlog --as pt-query-digest", "mysqldumpslow": "slowlog", "mysqltuner": "advise",
	"tune": "advise", "undo": "revert", "rollback": "revert",
}

// wordMeant returns the command that was meant by a first word that is none, empty when that
// is not known.
func wordMeant(word string) string {
	switch {
	case isURL(word):
		return "attack " + word
	case strings.HasSuffix(word, store.Extension):
		return "show " + word
	}
	if st, err := os.Stat(word); err == nil && st.Mode().IsRegular() {
		if strings.Contains(strings.ToLower(word), "slow") {
			return "slowlog " + word
		}
		return "accesslog " + word
	}
	return commandsElsewhere[word]
}

func isURL(word string) bool {
	return strings.HasPrefix(word, "http://") || strings.HasPrefix(word, "https://")
}

// argsHint describes how a command is called, or which of its own was meant.
func argsHint(cmd *cobra.Command, args []string) string {
	if len(args) > 0 && isURL(args[0]) && cmd.Flags().Lookup("url") != nil {
		return "the URL is a flag here: `" + cmd.CommandPath() + " --url " + args[0] + "`"
	}
	if !cmd.HasAvailableSubCommands() {
		return "`" + cmd.UseLine() + "`; --help has examples"
	}
	list := "`" + cmd.CommandPath() + " --help` lists the commands"
	if !cmd.HasParent() {
		if meant := wordMeant(args[0]); meant != "" {
			return "did you mean `" + cmd.Name() + " " + meant + "`? " + list
		}
	}
	cmd.SuggestionsMinimumDistance = 2 // cobra's own default, which it sets elsewhere
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		if at := slices.IndexFunc(near, func(name string) bool { return strings.HasPrefix(name, args[0]) }); at > 0 {
			near[0] = near[at] // whoever types slow means slowlog, though plot is as near
		}
		return fmt.Sprintf("did you mean %q? %s", near[0], list)
	}
	return list
}

// setFlagHints lets commands say what helps with flags that are wrong.
func setFlagHints(root *cobra.Command) {
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return cli.Usage(err, flagHint(cmd, err))
	})
}

// newHelp returns the command help, for which a command that is none is a mistake, as
// anywhere else.
func newHelp() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Help about any command",
		Args:  cobra.ArbitraryArgs,
		ValidArgsFunction: func(cmd *cobra.Command, _ []string, begun string) (out []cobra.Completion, d cobra.ShellCompDirective) {
			for _, c := range cmd.Root().Commands() {
				if c.IsAvailableCommand() && strings.HasPrefix(c.Name(), begun) {
					out = append(out, cobra.CompletionWithDesc(c.Name(), c.Short))
				}
			}
			return out, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			c, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return cli.Usagef(argsHint(cmd.Root(), args), "unknown command %q for %q", strings.Join(args, " "), cmd.Root().Name())
			}
			c.InitDefaultHelpFlag()
			return c.Help()
		},
	}
}

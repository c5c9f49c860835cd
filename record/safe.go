package record

import (
	"slices"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/logs"
)

// What a run keeps of text that it did not make itself is without secrets: command
// lines, what commands and servers answered. Logs are masked where they are read.

func safeText(s string) string { return string(logs.AppendWithoutSecrets(nil, []byte(s))) }

// safeRun masks what describes a run. The command given stays as it is.
func safeRun(r kasoku.Run) kasoku.Run {
	r.Load, r.StopReason = logs.SafeCommandLine(r.Load), safeText(r.StopReason)
	if r.Command != nil {
		c := *r.Command
		c.Args, c.Output = logs.SafeArgs(c.Args), safeText(c.Output)
		r.Command = &c
	}
	return r
}

func safeWarnings(w []kasoku.Warning) []kasoku.Warning {
	out := slices.Clone(w)
	for i := range out {
		out[i].Text, out[i].Hint = safeText(out[i].Text), safeText(out[i].Hint)
	}
	return out
}

// safeSettings masks values by the names of their settings, such as db.password, and
// passwords in them.
func safeSettings(in []kasoku.Setting) []kasoku.Setting {
	out := slices.Clone(in)
	for i, s := range out {
		out[i].Value = logs.SafeSetting(s.Name, s.Value)
	}
	return out
}

// safeSeconds masks the messages of errors. Seconds whose messages hold no secret
// stay as they are.
func safeSeconds(in []kasoku.LoadSecond) []kasoku.LoadSecond {
	out := slices.Clone(in)
	for i, s := range out {
		errs := make(map[string]uint64, len(s.Errors))
		for message, n := range s.Errors {
			errs[safeText(message)] += n
		}
		if s.Errors != nil {
			out[i].Errors = errs
		}
	}
	return out
}

// Package mask masks secrets in what a run keeps of text that it did not make itself:
// command lines, what commands and servers answered. Logs are masked where they are read. It also
// takes the names of neighbours' programs out of what is sampled.
package mask

import (
	"slices"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/secret"
)

// Text returns a text without secrets.
func Text(s string) string { return string(secret.Append(nil, []byte(s))) }

// Run returns a copy of r in which secrets are masked. It does not modify the command of
// r.
func Run(r kasoku.Run) kasoku.Run {
	r.Load, r.StopReason = secret.MaskCommandLine(r.Load), Text(r.StopReason)
	if r.Command != nil {
		c := *r.Command
		c.Args, c.Output = secret.MaskArgs(c.Args), Text(c.Output)
		r.Command = &c
	}
	return r
}

// Warnings returns a copy in which secrets in texts and hints are masked.
func Warnings(w []kasoku.Warning) []kasoku.Warning {
	out := slices.Clone(w)
	for i := range out {
		out[i].Text, out[i].Hint = Text(out[i].Text), Text(out[i].Hint)
	}
	return out
}

// Settings masks values by the names of their settings, such as db.password, and
// passwords in them.
func Settings(in []kasoku.Setting) []kasoku.Setting {
	out := slices.Clone(in)
	for i, s := range out {
		out[i].Value = secret.MaskSetting(s.Name, s.Value)
	}
	return out
}

// Seconds masks the messages of errors. Seconds whose messages hold no secret
// stay as they are.
func Seconds(in []kasoku.LoadSecond) []kasoku.LoadSecond {
	out := slices.Clone(in)
	for i, s := range out {
		errs := make(map[string]uint64, len(s.Errors))
		for message, n := range s.Errors {
			errs[Text(message)] += n
		}
		if s.Errors != nil {
			out[i].Errors = errs
		}
	}
	return out
}

// Trace masks what a trace has in words, and paths and hosts that the service's clients and
// programs chose.
func Trace(t *kasoku.Trace) {
	t.Refused = Text(t.Refused)
	for i := range t.Notes {
		t.Notes[i] = Text(t.Notes[i])
	}
	for i := range t.Externals {
		t.Externals[i].To = Text(t.Externals[i].To)
	}
	for i := range t.Endpoints {
		for k := range t.Endpoints[i].Programs {
			p := &t.Endpoints[i].Programs[k]
			p.Name = Text(p.Name)
		}
	}
}

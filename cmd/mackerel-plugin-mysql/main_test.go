package main

import (
	"io"
	"testing"

	"github.com/kasoku/kasoku/wire/mackerel/program"
)

// TestPassword: it is taken as it is, quotes included.
func TestPassword(t *testing.T) {
	for _, want := range []string{"", `"quoted"`, `"half`, `a"b\n`} {
		var o options
		f := program.Flags{Name: name, Stdout: io.Discard, Stderr: io.Discard}
		if _, _, done := f.Parse(&o, program.SingleDash(&o, []string{"-password", want})); done || o.Password == nil || *o.Password != want {
			t.Errorf("got %v, want %q", o.Password, want)
		}
	}
}

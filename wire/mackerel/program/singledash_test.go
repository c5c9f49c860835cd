package program

import (
	"slices"
	"strings"
	"testing"
)

func TestSingleDash(t *testing.T) {
	type inner struct {
		Password string `long:"password"`
	}
	type options struct {
		inner
		Host string `short:"H" long:"host"`
		TLS  bool   `long:"tls"`
	}
	for in, want := range map[string]string{
		"":                          "",
		"-host db1 -tls":            "--host=db1 --tls",
		"--host db1 --tls":          "--host=db1 --tls",
		"-host=db1 -tls=true":       "--host=db1 --tls",
		"-tls=false -host=":         "--host=",
		"-tls=F -host=db1":          "--host=db1", // as Go's package flag reads it
		"-tls=true -tls=False":      "",           // the last one counts
		"-tls=0 -tls=T":             "--tls",
		"-tls=nonsense":             "--tls=nonsense", // to be refused
		"-password -secret -tls":    "--password=-secret --tls",
		"-H db1":                    "-H db1",
		"-unknown -tls":             "-unknown --tls",
		"-host":                     "--host",
		"-help":                     "--help",
		"-tls -- -host x":           "--tls -- -host x",
		"-tls word -host x":         "--tls word -host x",
		"---host x":                 "---host x",
		"-version -metric-x=1 -tls": "--version -metric-x=1 --tls",
	} {
		got := SingleDash(&options{}, strings.Fields(in))
		if !slices.Equal(got, strings.Fields(want)) {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

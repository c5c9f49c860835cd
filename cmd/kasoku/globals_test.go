package main

import (
	"slices"
	"strings"
	"testing"
)

func TestParseGlobals(t *testing.T) {
	f := func(line string, want globals, rest string) {
		t.Helper()
		got, args, err := parseGlobals(strings.Fields(line))
		if err != nil || got.cpus != want.cpus || got.version != want.version || !slices.Equal(got.profiles, want.profiles) || strings.Join(args, " ") != rest {
			t.Errorf("%q: %+v, rest %q, error %v", line, got, args, err)
		}
	}
	f("", globals{}, "")
	f("attack -cpus 2", globals{}, "attack -cpus 2")
	f("-cpus 2 attack -rate 5", globals{cpus: 2}, "attack -rate 5")
	f("-cpus=2 --profile=cpu,heap attack", globals{cpus: 2, profiles: []string{"cpu", "heap"}}, "attack")
	f("--ascii -profile heap report", globals{profiles: []string{"heap"}}, "--ascii report")
	f("-version", globals{version: true}, "")
	f("--version attack", globals{version: true}, "attack")
	f("-version=false attack", globals{}, "attack")
	f("-- -cpus 2", globals{}, "-- -cpus 2")

	bad := func(line, want string) {
		t.Helper()
		if _, _, err := parseGlobals(strings.Fields(line)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", line, err, want)
		}
	}
	bad("-cpus", "flag needs an argument: -cpus")
	bad("-cpus two attack", `-cpus "two"`)
	bad("-cpus 0 attack", `-cpus "0"`)
	bad("-profile cpu,x attack", `-profile "x": want cpu or heap`)
}

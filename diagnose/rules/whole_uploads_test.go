package rules

import (
	"slices"
	"strings"
	"testing"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/rules/application"
	"github.com/kasoku/kasoku/observe/process"
)

// TestWholeUploads: a recorded run in which papers of 3 MiB are read whole, and what is none of that: what
// else is read whole, uploads that are small or few, a program that allocates for other things.
func TestWholeUploads(t *testing.T) {
	papers := func(rec *kasoku.Recording) *kasoku.Endpoint {
		i := slices.IndexFunc(rec.Endpoints, func(e kasoku.Endpoint) bool { return e.Route == "/v1/papers" })
		return &rec.Endpoints[i]
	}
	allocs := func(rec *kasoku.Recording) *kasoku.Profile {
		isAllocs := func(p kasoku.Profile) bool { return p.Kind == kasoku.ProfileAllocs }
		return &rec.Profiles[slices.IndexFunc(rec.Profiles, isAllocs)]
	}
	reader := func(rec *kasoku.Recording) *kasoku.ProfileFunction {
		fs := allocs(rec).Functions
		return &fs[slices.IndexFunc(fs, func(f kasoku.ProfileFunction) bool { return f.Name == "io.ReadAll" })]
	}
	grows := func(by float64) func(rec *kasoku.Recording) {
		return func(rec *kasoku.Recording) {
			allocs(rec).Program = "shop"
			rec.Service = nil
			rec.Series = append(rec.Series, kasoku.Series{Key: kasoku.Key{Source: diagnose.Process, Name: process.RSS,
				Instance: "7 shop"}, Points: []kasoku.Point{{Value: 20 << 20}, {At: 2e9, Value: 20<<20 + by}, {At: 4e9}}})
		}
	}
	for _, x := range []struct {
		name   string
		change func(rec *kasoku.Recording)
		want   string // of the severity and the cause, or the reason of a silence after "silent: "
	}{
		{"as recorded", func(*kasoku.Recording) {}, "io.ReadAll of rules.test allocated"},
		{"the process grew by 200 MiB", grows(200 << 20), "finding While"},
		{"the process grew by 20 MiB", grows(20 << 20), "info While"},
		{"by a buffer", func(rec *kasoku.Recording) { reader(rec).Name = "bytes.(*Buffer).ReadFrom" }, "ReadFrom of rules.test"},
		{"as they come", func(rec *kasoku.Recording) { reader(rec).Name = "io.Copy" }, "silent: POST /v1/papers has requests"},
		{"a tenth of it", func(rec *kasoku.Recording) { allocs(rec).Total *= 10 }, "silent: POST /v1/papers has requests"},
		{"less than was uploaded", func(rec *kasoku.Recording) {
			for i := range allocs(rec).Functions {
				allocs(rec).Functions[i].Cum /= 10
			}
			allocs(rec).Total /= 10
		}, "silent: POST /v1/papers has requests"},
		{"none while the profile was taken", func(rec *kasoku.Recording) {
			papers(rec).Seconds = map[int]kasoku.EndpointSecond{0: {Count: papers(rec).Count}}
		}, "silent: POST /v1/papers has requests"},
		{"small ones", func(rec *kasoku.Recording) { papers(rec).MaxRequestBytes = 1 << 19 }, "silent: the longest request"},
		{"answers, not uploads", func(rec *kasoku.Recording) { papers(rec).Method = "GET" }, "silent: the access log has no length"},
		{"nothing is allocated", func(rec *kasoku.Recording) { allocs(rec).Total = 0 }, "is nothing of what the program"},
		{"no lengths", func(rec *kasoku.Recording) { papers(rec).MaxRequestBytes = 0 }, "silent: the access log has no length"},
		{"a profile of CPU time", func(rec *kasoku.Recording) { allocs(rec).Kind = kasoku.ProfileCPU }, "silent: no profile"},
		{"no access log", func(rec *kasoku.Recording) { rec.Endpoints = nil }, "silent: "},
	} {
		for _, server := range []string{"mariadb", "mysql"} {
			rec := recordedCase(t, "testdata/APP-10/fires/"+server+"-papers-hold.txtar")
			x.change(rec)
			found, silent := (application.WholeUploads{}).Check(diagnose.NewCase(rec, nil))
			got := ""
			for _, f := range found {
				got += string(f.Severity) + " " + f.Cause
			}
			for _, s := range silent {
				got += "silent: " + s.Reason
			}
			if !strings.Contains(got, x.want) {
				t.Errorf("%s, %s: %s", server, x.name, got)
			}
		}
	}
}

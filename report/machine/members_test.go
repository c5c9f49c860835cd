package machine

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/report/recorded"
)

// countedRun is a recording with counters that grow by so much a second, and gauges.
func countedRun(counters, gauges map[string]float64) *kasoku.Recording {
	const length = 10
	rec := &kasoku.Recording{Run: kasoku.Run{Length: length * time.Second, Hosts: []kasoku.Host{{Name: "h", Cores: 2}}}}
	put := func(name string, kind kasoku.Kind, at func(second int) float64) {
		word := strings.SplitN(name, "|", 3)
		s := kasoku.Series{Key: kasoku.Key{Source: word[0], Name: word[1], Instance: word[2]}, Kind: kind}
		for second := range length + 1 {
			s.Points = append(s.Points, kasoku.Point{At: time.Duration(second) * time.Second, Value: at(second)})
		}
		rec.Series = append(rec.Series, s)
	}
	for name, perSec := range counters {
		put(name, kasoku.Counter, func(second int) float64 { return perSec * float64(second) })
	}
	for name, v := range gauges {
		put(name, kasoku.Gauge, func(int) float64 { return v })
	}
	return rec
}

// TestMembers: where the members are known the tables have these, the load and all
// neighbours as one; no program, thread or limit of a neighbour is named.
func TestMembers(t *testing.T) {
	rec := countedRun(map[string]float64{"host|cpu.user|": 1.7, "host|cpu.system|": 0.2,
		"process|exe.cpu|cc1plus": 1, "process|exe.cpu|ruby": 0.5, "process|unit.cpu|cron.service": 1,
		"process|cpu.user|20 ruby": 0.1, "process|tree.cpu|20 ruby": 0.5, "process|cpu.user|21 ruby": 0.3,
		"process|cpu.user|91 cc1plus": 1, "process|cpu.user|92 ruby": 0.2, "process|cpu.user|30 kasoku": 0.1,
		"process|thread.cpu|91/91 cc1plus": 1, "process|thread.cpu|20/22 ruby": 0.9, "process|cpu.unattributed|": 0.1,
	}, map[string]float64{"process|fds|91 cc1plus": 90, "process|fds_limit|91 cc1plus": 100, "process|fds|20 ruby": 10, "process|fds_limit|20 ruby": 100})
	names := func() string {
		var out []string
		for _, m := range Machines(rec) {
			for _, u := range append(m.Groups, m.Threads...) {
				out = append(out, fmt.Sprintf("%s %s %.1f", u.Kind, u.Name, u.CPU))
			}
		}
		for _, l := range Limits(recorded.View{Recording: rec}) {
			out = append(out, l.Name)
		}
		return strings.Join(out, "; ")
	}
	for _, want := range []string{"program cc1plus 10.0", "unit cron.service", "thread 91/91 cc1plus", "open files, cc1plus"} {
		if got := names(); !strings.Contains(got, want) {
			t.Errorf("of no known service: no %q in %s", want, got)
		}
	}
	rec.Service = &kasoku.Service{Members: []kasoku.Member{{ID: "application puma :3000", Role: kasoku.RoleApplication, Sure: kasoku.High,
		Processes: []kasoku.MemberProcess{{PID: 20, Leader: true}, {PID: 21}}}}}
	const want = "member application puma :3000 5.0; load kasoku 1.0; " +
		"neighbours all programs outside of the service, and the kernel 13.0; thread 20/22 ruby 9.0; CPU; open files, ruby"
	if got := names(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	var page strings.Builder
	for _, b := range Section(recorded.View{Recording: rec}).Blocks {
		fmt.Fprintf(&page, "%+v", b)
	}
	if text := page.String(); strings.Contains(text, "cc1plus") || strings.Contains(text, "cron") || strings.Contains(text, "92") {
		t.Errorf("a neighbour is named: %s", text)
	}
}

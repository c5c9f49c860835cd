package compare

import (
	"testing"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/nginxconf"
)

// withNginx gives a run an nginx with a log of errors and its configuration, and in each second of the load
// bodies in files.
func withNginx(r *kasoku.Recording, conf string, perSecond uint64) *kasoku.Recording {
	r.Logs = []kasoku.LogWindow{{Kind: "errorlog", Path: "/log/error.log", Files: 1}}
	r.Configs = []kasoku.Config{{Kind: "nginx", Name: "/etc/nginx.conf", Text: conf}}
	m := kasoku.Message{Path: "/log/error.log", Kind: kasoku.MessageNginx, Level: "warn", Seconds: map[int]uint64{},
		Sample: nginxconf.RequestSpooled + " /body/0000000001, request: POST /api/isu"}
	for _, s := range r.Seconds {
		m.Seconds[s.Second], m.Count = perSecond, m.Count+perSecond
	}
	if perSecond > 0 {
		r.Messages = append(r.Messages, m)
	}
	return r
}

// TestSpooled: bodies in files of nginx are counted by its log of errors, where that can have them.
func TestSpooled(t *testing.T) {
	const warns, errors = "error_log /log/error.log warn;", "error_log /log/error.log;"
	load := shape{100, 20, 1, 1e6, 0.1}
	member := func(path string) *kasoku.Service {
		return &kasoku.Service{Members: []kasoku.Member{{Role: kasoku.RoleWeb, Sure: kasoku.High, Logs: []string{path}}}}
	}
	for name, tt := range map[string]struct {
		after  func(r *kasoku.Recording)
		before float64
		now    float64
		known  bool
	}{
		"none any more":     {func(r *kasoku.Recording) { withNginx(r, warns, 0) }, 0.05, 0, true},
		"more":              {func(r *kasoku.Recording) { withNginx(r, warns, 10) }, 0.05, 0.1, true},
		"a level above":     {func(r *kasoku.Recording) { withNginx(r, errors, 0) }, 0.05, 0, false},
		"no log was read":   {func(r *kasoku.Recording) { withNginx(r, warns, 5).Logs = nil }, 0.05, 0, false},
		"no configuration":  {func(r *kasoku.Recording) { withNginx(r, warns, 5).Configs = nil }, 0.05, 0, false},
		"its own log":       {func(r *kasoku.Recording) { withNginx(r, warns, 5).Service = member("/log/error.log") }, 0.05, 0.05, true},
		"answers":           {func(r *kasoku.Recording) { withNginx(r, warns, 5).Messages[0].Sample = nginxconf.ResponseSpooled }, 0.05, 0.05, true},
		"another line":      {func(r *kasoku.Recording) { withNginx(r, warns, 5).Messages[0].Sample = "upstream timed out" }, 0.05, 0, true},
		"an application's":  {func(r *kasoku.Recording) { withNginx(r, warns, 5).Messages[0].Kind = kasoku.MessageApp }, 0.05, 0, true},
		"another nginx's":   {neighbour(member("/log/error.log")), 0.05, 0.05, true},
		"a neighbour's own": {func(r *kasoku.Recording) { withNginx(r, warns, 5).Service = otherConfig() }, 0.05, 0, false},
	} {
		before, after := withNginx(build("before", 1, load), warns, 5), build("after", 2, load)
		tt.after(after)
		c, err := Compare(one(before), one(after), Options{})
		if err != nil {
			t.Fatal(err)
		}
		r := c.Row("spooled_per_success")
		if r == nil {
			t.Fatalf("%s: no such row", name)
		}
		if r.After.OK != tt.known || !near(r.Before.Value, tt.before) || !near(r.After.Value, tt.now) {
			t.Errorf("%s: %+v, %+v; want %v, %v (%t)", name, r.Before, r.After, tt.before, tt.now, tt.known)
		}
	}
}

func near(a, b float64) bool { return a-b < 0.006 && b-a < 0.006 }

// neighbour is a run with another nginx beside the service's, whose log was read too.
func neighbour(own *kasoku.Service) func(*kasoku.Recording) {
	return func(r *kasoku.Recording) {
		withNginx(r, "error_log /log/error.log warn;", 5).Service = own
		other := r.Messages[0]
		other.Path = "/other/error.log"
		r.Messages = append(r.Messages, other)
		r.Logs = append(r.Logs, kasoku.LogWindow{Kind: "errorlog", Path: other.Path, Files: 1})
	}
}

// otherConfig is a service whose web server reads another configuration than was captured.
func otherConfig() *kasoku.Service {
	return &kasoku.Service{Members: []kasoku.Member{{Role: kasoku.RoleWeb, Sure: kasoku.High, Configs: []string{"/own/nginx.conf"}}}}
}

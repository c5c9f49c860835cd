package export

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/grafana/grafana-foundation-sdk/go/cog/plugins"
	"github.com/grafana/grafana-foundation-sdk/go/cog/variants"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/prometheus"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
	"github.com/kasoku/kasoku/store"
	"github.com/kasoku/kasoku/wire/graphite"
)

// portalRun is a recorded run with nginx, MariaDB, a load and a score, as of some minutes ago.
func portalRun(t *testing.T) *kasoku.Recording {
	t.Helper()
	f, err := os.Open("../labs/truth/testdata/isuportal-all.kasoku.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "run.kasoku")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	rec, err := store.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	rec.Run.Started = time.Now().Add(-5 * time.Minute)
	return rec
}

// A panelQuery is a query of a panel, as Grafana would send it.
type panelQuery struct{ panel, text string }

// queriesOf reads a dashboard as Grafana's own types have it, and returns what its panels ask, with their variables
// replaced. A field that is none, two panels with one number, or that overlap, are mistakes.
func queriesOf(t *testing.T, path string, values *strings.Replacer) (out []panelQuery) {
	t.Helper()
	plugins.RegisterDefaultPlugins()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	//lint:ignore SA1019 the form that all versions of Grafana import
	var d dashboard.Dashboard //nolint:staticcheck // for golangci-lint, which does not read the line above
	if err := json.Unmarshal(content, &d); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	again, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	var was, is any
	if err := errors.Join(json.Unmarshal(content, &was), json.Unmarshal(again, &is)); err != nil {
		t.Fatal(err)
	}
	for _, field := range lacking("", was, is) {
		t.Errorf("%s: Grafana has no field %s", path, field)
	}
	if err := d.Validate(); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	numbers, taken := map[uint32]bool{}, map[[2]uint32]string{}
	for _, p := range d.Panels {
		switch {
		case p.RowPanel != nil:
			numbers[p.RowPanel.Id] = true
			continue
		case p.Panel == nil || p.Panel.Id == nil || p.Panel.Title == nil || p.Panel.GridPos == nil:
			t.Fatalf("%s: a panel without id, title or place", path)
		case numbers[*p.Panel.Id]:
			t.Errorf("%s: two panels have the number %d", path, *p.Panel.Id)
		}
		numbers[*p.Panel.Id] = true
		g := p.Panel.GridPos
		for x := g.X; x < g.X+g.W; x++ {
			for y := g.Y; y < g.Y+g.H; y++ {
				if other := taken[[2]uint32{x, y}]; other != "" || x >= 24 {
					t.Fatalf("%s: %q lies over %q", path, *p.Panel.Title, other)
				}
				taken[[2]uint32{x, y}] = *p.Panel.Title
			}
		}
		for _, q := range p.Panel.Targets {
			text := ""
			switch q := q.(type) {
			case *prometheus.Dataquery:
				text = q.Expr
			case prometheus.Dataquery:
				text = q.Expr
			case variants.UnknownDataquery: // it does not know Graphite's
				text, _ = q["target"].(string)
			default:
				t.Fatalf("%s: %q asks %T", path, *p.Panel.Title, q)
			}
			out = append(out, panelQuery{*p.Panel.Title, values.Replace(text)})
		}
	}
	if len(out) < 15 {
		t.Fatalf("%s: %d queries", path, len(out))
	}
	return out
}

// lacking names the fields of was that is has not.
func lacking(path string, was, is any) (out []string) {
	switch was := was.(type) {
	case map[string]any:
		is, _ := is.(map[string]any)
		for name, x := range was {
			if _, ok := is[name]; !ok {
				out = append(out, path+"."+name)
				continue
			}
			out = append(out, lacking(path+"."+name, x, is[name])...)
		}
	case []any:
		is, _ := is.([]any)
		for i, x := range was {
			if i >= len(is) {
				return append(out, fmt.Sprintf("%s[%d]", path, i))
			}
			out = append(out, lacking(fmt.Sprintf("%s[%d]", path, i), x, is[i])...)
		}
	}
	return out
}

// TestDashboard_Prometheus: what the dashboard asks is answered by a real Prometheus that was sent a run.
func TestDashboard_Prometheus(t *testing.T) {
	turn.Wait(t)
	if testing.Short() {
		t.Skip("runs prometheus")
	}
	rec := portalRun(t)
	address := prometheusServer(t)
	w, err := NewRemoteWrite(address + "/api/v1/write")
	if err != nil {
		t.Fatal(err)
	}
	if sent, err := w.Run(t.Context(), rec, nil); err != nil || sent == 0 {
		t.Fatalf("%d values sent, %v", sent, err)
	}
	for _, every := range []*strings.Replacer{
		strings.NewReplacer("$project", rec.Run.Project, "$run", rec.Run.ID, "$host", rec.Run.Hosts[0].Name, "$window", "5s"),
		strings.NewReplacer("$project", ".*", "$run", ".*", "$host", ".*", "$window", "15s"),
	} {
		for _, q := range queriesOf(t, "../docs/grafana/prometheus.json", every) {
			var answer struct {
				Status string
				Error  string
				Data   struct{ Result []json.RawMessage }
			}
			getJSON(t, address+"/api/v1/query_range?"+url.Values{"query": {q.text}, "step": {"1"},
				"start": {fmt.Sprint(rec.Run.Started.Unix())}, "end": {fmt.Sprint(rec.Run.Started.Add(rec.Run.Length + 5*time.Second).Unix())}}.Encode(), &answer)
			if answer.Status != "success" || len(answer.Data.Result) == 0 {
				t.Errorf("%s: %s: %d series, %s", q.panel, q.text, len(answer.Data.Result), answer.Error)
			}
		}
	}
}

// TestDashboard_Graphite: what the dashboard asks is answered by a real graphite-web whose Carbon was sent a run.
func TestDashboard_Graphite(t *testing.T) {
	turn.Wait(t)
	if testing.Short() {
		t.Skip("starts carbon-cache and graphite-web")
	}
	c := sandboxtest.Carbon(t, sandbox.CarbonOptions{})
	web := sandboxtest.GraphiteWeb(t, c)
	rec := portalRun(t)
	out, err := NewCarbon(CarbonOptions{Options: graphite.Options{Address: c.PickleAddr(), Protocol: graphite.Pickle}, Prefix: "kasoku", Start: rec.Run.Started})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(Recording(t.Context(), rec, Rates, nil, out), out.Close(t.Context())); err != nil {
		t.Fatal(err)
	}
	for _, q := range queriesOf(t, "../docs/grafana/graphite.json", strings.NewReplacer("$prefix", "kasoku", "$host", "*")) {
		sandboxtest.Until(t, q.panel+": "+q.text, func() bool {
			var series []struct{ Datapoints [][2]*float64 }
			getJSON(t, web.URL()+"/render/?"+url.Values{"target": {q.text}, "format": {"json"}, "from": {fmt.Sprint(rec.Run.Started.Unix() - 1)},
				"until": {fmt.Sprint(rec.Run.Started.Add(rec.Run.Length + 5*time.Second).Unix())}}.Encode(), &series)
			for _, s := range series {
				for _, p := range s.Datapoints {
					if p[0] != nil {
						return true
					}
				}
			}
			return false
		})
	}
}

// getJSON reads what an address answers.
func getJSON(t *testing.T, address string, into any) {
	t.Helper()
	res, err := http.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(body, into); err != nil {
		t.Fatalf("%s: %v: %.300s", address, err, body)
	}
}

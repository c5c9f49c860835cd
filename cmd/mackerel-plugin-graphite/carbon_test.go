package main

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku/internal/command"
	"github.com/kasoku/kasoku/internal/test/agenttest"
	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
	"github.com/kasoku/kasoku/wire/whisper"
)

// daemon runs carbon-relay or carbon-aggregator in front of a cache, until the end
// of the test, and returns the port that takes lines.
func daemon(t *testing.T, kind string, cache *sandbox.CarbonServer) int {
	t.Helper()
	program, err := command.LookPath("carbon-" + kind)
	if err != nil {
		t.Fatalf("%v; install graphite-carbon", err)
	}
	dir := t.TempDir()
	ports := make([]int, 2)
	for i := range ports {
		if ports[i], err = sandbox.FreePort(); err != nil {
			t.Fatal(err)
		}
	}
	conf := fmt.Sprintf("[%s]\nSTORAGE_DIR=%[2]s\nCONF_DIR=%[2]s\nLOG_DIR=%[2]s\nPID_DIR=%[2]s\nLOCAL_DATA_DIR=%[2]s\nWHITELISTS_DIR=%[2]s\n"+
		"LINE_RECEIVER_INTERFACE=127.0.0.1\nLINE_RECEIVER_PORT=%d\nPICKLE_RECEIVER_INTERFACE=127.0.0.1\nPICKLE_RECEIVER_PORT=%d\n"+
		"RELAY_METHOD=consistent-hashing\nDESTINATIONS=127.0.0.1:%d:a\nCARBON_METRIC_INTERVAL=1\n",
		kind, dir, ports[0], ports[1], cache.PicklePort)
	for name, text := range map[string]string{"carbon.conf": conf, "aggregation-rules.conf": "", "rewrite-rules.conf": "", "storage-schemas.conf": "[all]\npattern = .*\nretentions = 1s:1h\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	console := command.NewTail(1 << 16)
	p, err := command.Start(t.Context(), command.Spec{
		Path: program, Args: []string{"--config=" + filepath.Join(dir, "carbon.conf"), "--pidfile=" + filepath.Join(dir, "pid"), "--nodaemon", "start"},
		Env: []string{"GRAPHITE_ROOT=" + dir, "GRAPHITE_CONF_DIR=" + dir}, Stdout: console, Stderr: console, Grace: time.Second, DieWithParent: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_, _ = p.Stop() // how it ends does not matter
		if t.Failed() {
			t.Logf("carbon-%s:\n%s", kind, console)
		}
	})
	return ports[0]
}

// send sends lines to carbon once it listens.
func send(t *testing.T, port int) {
	t.Helper()
	sandboxtest.Until(t, "carbon to listen", func() bool {
		c, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			return false
		}
		defer c.Close()
		_, err = fmt.Fprintf(c, "a.b 1 %[1]d\na.c 2 %[1]d\na.d 3 %[1]d\n", time.Now().Unix())
		return err == nil
	})
}

// TestCarbon asks a real graphite-web for the metrics of a real cache, relay and
// aggregator.
func TestCarbon(t *testing.T) {
	turn.Wait(t)
	if testing.Short() {
		t.Skip("needs carbon; not in short mode")
	}
	bin := agenttest.Build(t)
	cache := sandboxtest.Carbon(t, sandbox.CarbonOptions{MetricInterval: time.Second})
	port := strconv.Itoa(sandboxtest.GraphiteWeb(t, cache).Port)
	send(t, cache.LinePort)
	for _, kind := range []string{"relay", "aggregator"} {
		send(t, daemon(t, kind, cache))
	}
	for _, tt := range []struct {
		kind string
		want []string
	}{
		{"cache", []string{"metricsReceived.a", "cache_size.a", "cache_bulk_queries.a", "committedPoints.a", "droppedCreates.a", "cpuUsage.a", "memUsage.a", "pointsPerUpdate.a"}},
		{"relay", []string{"metricsReceived.metricsReceived", "memUsage.memUsage", "destinations_sent.DEST", "destinations_batchesSent.DEST", "destinations_attemptedRelays.DEST", "destinations_relayMaxQueueLength.DEST"}},
		{"aggregator", []string{"metricsReceived.metricsReceived", "allocatedBuffers.allocatedBuffers", "aggregateDatapointsSent.aggregateDatapointsSent"}},
	} {
		t.Run(tt.kind, func(t *testing.T) {
			agent := agenttest.New(t)
			args := []string{bin, "-webhost", "127.0.0.1", "-webport", port, "-type", tt.kind}
			if tt.kind != "cache" {
				args = append(args, "-instance=a")
			}
			var r agenttest.Run
			var points []agenttest.Point
			var missing []string
			received := 0.0
			destination := fmt.Sprintf("127_0_0_1-%d-a", cache.PicklePort)
			sandboxtest.Until(t, "all metrics of the "+tt.kind, func() bool {
				points, r = agent.Values(t, args...)
				missing, received = nil, 0
				for _, w := range tt.want {
					key := "graphite-carbon." + tt.kind + "." + strings.Replace(w, "DEST", destination, 1)
					if _, ok := agenttest.Find(points, key); !ok {
						missing = append(missing, key)
					}
				}
				for _, p := range points {
					if strings.HasPrefix(p.Name, "graphite-carbon."+tt.kind+".metricsReceived.") {
						received += p.Value
					}
				}
				return len(missing) == 0 && received >= 3
			})
			defs, _ := agent.Definitions(t, args...)
			if none := defs.Missing(points); len(none) > 0 {
				t.Errorf("no graph for %q", none)
			}
			agenttest.Show(t, r, "mackerel-plugin-graphite -webhost 127.0.0.1 -webport "+port+" -type "+tt.kind)
		})
	}
}

// TestGoCarbon asks a real go-carbon, whose carbonserver answers by itself.
func TestGoCarbon(t *testing.T) {
	turn.Wait(t)
	server := sandboxtest.GoCarbon(t, sandbox.CarbonOptions{MetricInterval: time.Second})
	send(t, server.LinePort)
	bin, agent := agenttest.Build(t), agenttest.New(t)
	args := []string{bin, "-webhost", "127.0.0.1", "-webport", strconv.Itoa(server.RenderPort), "-type", "go-carbon"}
	k, _ := kindOf("go-carbon")
	var want []string
	for _, m := range k.metrics() {
		if !strings.HasPrefix(m.key, "http_") && !strings.HasPrefix(m.key, "kafka_") && m.key != "persister_throttledCreates" {
			want = append(want, "graphite-carbon.go-carbon."+m.key+"."+server.Host)
		}
	}
	sandboxtest.Until(t, "own metrics that are found", func() bool {
		now := time.Now().Unix()
		res, err := http.Get(fmt.Sprintf("%s?format=json&target=carbon.agents.*.tcp.metricsReceived&from=%d&until=%d", server.RenderURL(), now-60, now))
		if err != nil {
			return false
		}
		defer res.Body.Close()
		return res.StatusCode == http.StatusOK
	})
	var r agenttest.Run
	var points []agenttest.Point
	sandboxtest.Until(t, "all metrics", func() bool {
		points, r = agent.Values(t, args...)
		return !slices.ContainsFunc(want, func(name string) bool { _, ok := agenttest.Find(points, name); return !ok })
	})
	received := 0.0
	written, err := server.Points("carbon.agents." + server.Host + ".tcp.metricsReceived")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range points {
		if p.Name != "graphite-carbon.go-carbon.tcp_metricsReceived."+server.Host {
			continue
		}
		received += p.Value
		if !slices.Contains(written, whisper.Point{Time: p.Time, Value: p.Value}) {
			t.Errorf("%+v is not in the file: %v", p, written)
		}
	}
	if received != 3 {
		t.Errorf("%v lines received, want 3", received)
	}
	defs, _ := agent.Definitions(t, args...)
	if none := defs.Missing(points); len(none) > 0 {
		t.Errorf("no graph for %q", none)
	}
	agenttest.Show(t, r, "mackerel-plugin-graphite -webhost 127.0.0.1 -webport 8080 -type go-carbon")
}

// goCarbon is what graphite-web gives of a go-carbon.
const goCarbon = `[
 {"target": "carbon.agents.web1.cache.size", "datapoints": [[12, 1795238940], [null, 1795239000]]},
 {"target": "carbon.agents.web1.cache.queueWriteoutTime", "datapoints": [[0.25, 1795238940]]},
 {"target": "carbon.agents.web1.persister.committedPoints", "datapoints": [[600.9, 1795238940]]},
 {"target": "carbon.agents.web1.tcp.metricsReceived", "datapoints": [[600, 1795238940], [601, 1795239000]]},
 {"target": "carbon.agents.web1.unheardOf", "datapoints": [[1, 1795238940]]},
 {"target": "other.series", "datapoints": [[1, 1795238940]]}
]`

func TestGoCarbon_Lines(t *testing.T) {
	k, _ := kindOf("go-carbon")
	all, err := k.parse([]byte(goCarbon), "web1")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, v := range values(k, all) {
		got = append(got, fmt.Sprintf("%s %v %d %v", v.Name, v.Value, v.Time.Unix(), v.Float))
	}
	want := []string{
		"go-carbon.cache_size.web1 12 1795238940 false",
		"go-carbon.cache_queueWriteoutTime.web1 0.25 1795238940 true",
		"go-carbon.persister_committedPoints.web1 600 1795238940 false",
		"go-carbon.tcp_metricsReceived.web1 600 1795238940 false",
		"go-carbon.tcp_metricsReceived.web1 601 1795239000 false",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for _, g := range graphs(k, all, "Carbon") {
		if len(g.Metrics) != 1 || g.Metrics[0].Name != "web1" {
			t.Errorf("%+v", g)
		}
	}
}

func TestPlace(t *testing.T) {
	for _, tt := range []struct{ kind, target, want string }{
		{"cache", "carbon.agents.db_1-a.cpuUsage", "a cpuUsage "},
		{"cache", "carbon.agents.db_1-a.cache.size", "a cache_size "},
		{"cache", "carbon.agents.db_1-2-b.cache.size", "2-b cache_size "},
		{"cache", "carbon.agents.db_10-a.cpuUsage", "none"},
		{"cache", "carbon.agents.db_1-.cpuUsage", "none"},
		{"cache", "carbon.agents.db_1-a", "none"},
		{"relay", "carbon.relays.db_1-a.metricsReceived", "a metricsReceived "},
		{"relay", "carbon.relays.db_1-a.destinations.127_0_0_1:2004:a.fullQueueDrops", "a destinations_fullQueueDrops 127_0_0_1:2004:a"},
		{"relay", "carbon.relays.db_1-a.destinations.x", "none"},
		{"relay", "carbon.agents.db_1-a.cpuUsage", "none"},
		{"aggregator", "carbon.aggregator.db_1-a.allocatedBuffers", "a allocatedBuffers "},
		{"go-carbon", "carbon.agents.web1.cache.size", "web1 cache_size "},
	} {
		k, _ := kindOf(tt.kind)
		s, ok := k.place(tt.target, "db_1")
		got := fmt.Sprintf("%s %s %s", s.node, s.metric, s.destination)
		if !ok {
			got = "none"
		}
		if got != tt.want {
			t.Errorf("%s: %q, want %q", tt.target, got, tt.want)
		}
	}
}

func TestMistakes(t *testing.T) {
	for _, tt := range []struct{ args, answer, want string }{
		{"-type nonsense", "", "no such type"},
		{"-type relay", "", "needs the name of one instance"},
		{"-type aggregator -instance *", "", "needs the name of one instance"},
		{"", "", "required flag"},
		{"-type cache", "", "502 Bad Gateway"},
		{"-type cache", "<html>", "not JSON"},
		{"-type cache", "[]", "knows no metrics"},
		{"-type cache -host h", `[{"target":"carbon.agents.h-a.x","datapoints":[[1]]}]`, "no pair"},
		{"-type cache -webhost 127.0.0.1 -webport 1", "[]", "connection refused"},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if tt.answer == "" {
				w.WriteHeader(http.StatusBadGateway)
			}
			fmt.Fprint(w, tt.answer)
		}))
		var out, errs bytes.Buffer
		args := append([]string{"-webhost", server.URL}, strings.Fields(tt.args)...)
		code := run(args, &out, &errs, func(string) string { return "" })
		server.Close()
		if code != 1 || out.Len() > 0 || !strings.Contains(errs.String(), tt.want) {
			t.Errorf("%q: exit %d, %q %q, want %q", tt.args, code, &out, &errs, tt.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(goCarbon), "web1", "go-carbon")
	f.Add([]byte(`[{"target":"carbon.relays.h-a.destinations.x:1:a.sent","datapoints":[[1,2],[null,3]]}]`), "h", "relay")
	f.Add([]byte(`[{"target":"carbon.agents.h-a.x","datapoints":[[1e400,2]]}]`), "h", "cache")
	f.Fuzz(func(t *testing.T, body []byte, host, name string) {
		k, ok := kindOf(name)
		if !ok {
			return
		}
		all, err := k.parse(body, host)
		if err != nil && all != nil {
			t.Error("an error and a result")
		}
		for _, v := range values(k, all) {
			if strings.ContainsAny(v.Name, " \t\n:") {
				t.Errorf("name %q", v.Name)
			}
		}
		graphs(k, all, "Carbon")
	})
}

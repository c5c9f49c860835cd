package kasoku_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"strings"
	"testing"
	"testing/fstest"
)

// bare are the goroutines that run outside package contain, as "FILE FUNCTION", each
// with why a panic in it cannot be, or cannot be ours to keep.
var bare = map[string]string{
	"cmd/mackerel-plugin-maxcpu/server.go listen":                "a plugin's daemon without state: the next call of the plugin starts it again",
	"cmd/mackerel-plugin-maxcpu/server.go serve":                 "as above",
	"cmd/kasoku/internal/logscmd/accesslog_follow.go readChunks": "calls Read of standard input alone",
	"cmd/kasoku/internal/watchcmd/export.go runToCarbon":         "ends a context",
	"cmd/kasoku/internal/initcmd/wake.go findAwake":              "sends GETs by net/http, and reads the answers into nothing",
	"cmd/kasoku/internal/cli/env.go Interruptible":               "waits for channels and closes contexts",
	"cmd/kasoku/internal/cli/env.go EndSoon":                     "waits for channels, prints one line and exits",
	"internal/command/process.go Forward":                        "waits for channels and sends signals",
	"logs/slowlog/collect.go together":                           "lines.Split contains the reading, contained the cutting",
	"internal/command/process.go start":                          "own starts and waits for the child; without it the caller would wait for ever",
	"internal/foreign/thread.go onOwnThread":                     "calls what within contains",
	"wire/graphite/link.go send":                                 "sets a deadline",
	"load/alarm_linux.go newFDAlarm":                             "sets a deadline",
	"observe/graphite/conn.go within":                            "sets a deadline",
	"observe/memcached/memcached.go ask":                         "sets a deadline",
	"observe/redis/conn.go Do":                                   "sets a deadline",
	"load/scenario/agent/conn.go arm":                            "sets a deadline",
	"load/driver.go Run":                                         "ends contexts",
	"load/carbon/run.go Run":                                     "ends contexts, and the writes that wait",
	"load/nethttp/client.go arm":                                 "ends a context",
	"load/nethttp/dial.go dial":                                  "ends a context",
	"load/nethttp/follow.go Follow":                              "ends a context",
	"record/record.go Record":                                    "ends a context",
	"load/scenario/step.go within":                               "ends a context",
	"record/profiles.go take":                                    "closes a channel",
	"watch/run.go Run":                                           "sends a message",
	"wire/graphite/link.go connect":                              "calls Read of a connection alone",
	"load/driver.go handOver":                                    "work contains each request, and what takes it",
	"load/driver.go drain":                                       "waits for workers and closes a channel",
	"load/meter.go StartMeter":                                   "reads the process's CPU time and subtracts",
	"load/nethttp/dial.go race":                                  "try contains what it dials",
	"load/stream.go readAhead":                                   "run contains the reading of targets",
	"load/vegeta/exporter_server.go ServeExporter":               "net/http recovers each handler",
	"load/vegeta/writer.go NewWriter":                            "run contains the writing of each chunk",
	"mysqlflags/defaults.go openFile":                            "calls Open and Close of a file alone",
	"observe/profile/take.go Take":                               "waits for channels and ends a context",
	"store/list.go DescribeAll":                                  "describeContained contains what it opens",
	"load/scenario/agent/conn.go startWriting":                   "calls WriteTo of net.Buffers alone",
	"export/serve.go Serve":                                      "net/http recovers each handler",
}

// TestGoroutinesAreContained: a panic in a goroutine ends the process, whatever its
// caller recovers. So each goroutine of what users run goes through package contain, or
// stands in the list above with a reason.
func TestGoroutinesAreContained(t *testing.T) {
	found := map[string]bool{}
	n := 0
	for _, f := range theTree(t).files {
		if f.test || forTests(f.dir) || notKasoku.MatchString(f.path) || strings.HasPrefix(f.path, "internal/contain/") {
			continue
		}
		all, open, err := goroutinesIn(os.DirFS("."), f.path)
		if err != nil {
			t.Fatal(err)
		}
		n += all
		for _, place := range open {
			found[place] = true
		}
	}
	if n == 0 {
		t.Fatal("no goroutine was found: nothing was checked")
	}
	for place := range found {
		if bare[place] == "" {
			t.Errorf("%s starts a goroutine that a panic would end the process from: use contain.Func, or contain.Do where somebody waits for its answer", place)
		}
	}
	for place := range bare {
		if !found[place] {
			t.Errorf("%s is listed and starts no bare goroutine", place)
		}
	}
}

// goroutinesIn counts the goroutines that a file starts, by go, by the method Go or TryGo
// of a WaitGroup or an errgroup, or by AfterFunc of packages context and time, and returns "FILE FUNCTION" of
// those without package contain.
func goroutinesIn(fsys fs.FS, name string) (n int, open []string, err error) {
	src, err := fs.ReadFile(fsys, name)
	if err != nil {
		return 0, nil, err
	}
	file, err := parser.ParseFile(token.NewFileSet(), name, src, parser.SkipObjectResolution)
	if err != nil {
		return 0, nil, err
	}
	for _, decl := range file.Decls {
		where := "package level"
		if fn, ok := decl.(*ast.FuncDecl); ok {
			where = fn.Name.Name
		}
		ast.Inspect(decl, func(node ast.Node) bool {
			if f := goroutineOf(node); f != nil {
				n++
				if !mentionsContain(f) {
					open = append(open, fmt.Sprintf("%s %s", name, where))
				}
			}
			return true
		})
	}
	return n, open, nil
}

// goroutineOf returns what a statement lets run by itself, nil for nothing.
func goroutineOf(n ast.Node) ast.Node {
	switch n := n.(type) {
	case *ast.GoStmt:
		return n.Call
	case *ast.CallExpr:
		sel, ok := n.Fun.(*ast.SelectorExpr)
		if ok && sel.Sel.Name == "AfterFunc" && len(n.Args) == 2 {
			return n.Args[1]
		}
		if !ok || sel.Sel.Name != "Go" && sel.Sel.Name != "TryGo" || len(n.Args) != 1 {
			return nil
		}
		if call, ok := n.Args[0].(*ast.CallExpr); ok && !mentionsContain(call) {
			return nil // a value, such as of Model.Go
		}
		if _, ok := n.Args[0].(*ast.BinaryExpr); ok {
			return nil
		}
		return n.Args[0]
	}
	return nil
}

func mentionsContain(n ast.Node) (yes bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok {
			x, ok := sel.X.(*ast.Ident)
			yes = yes || ok && x.Name == "contain" && path.Base(sel.Sel.Name) != "Part"
		}
		return !yes
	})
	return yes
}

func TestGoroutinesIn(t *testing.T) {
	fsys := fstest.MapFS{"a.go": {Data: []byte(`package a

func f() {
	go g()
	wg.Go(g)
	wg.Go(func() { g() })
	go contain.Func(p, g)()
	wg.Go(func() { _ = contain.Run(p, g) })
	m.Go(m.last())
	m.Go(m.at + 1)
	context.AfterFunc(ctx, g)
	time.AfterFunc(d, func() { g() })
	context.AfterFunc(ctx, contain.Func(p, g))
	group.TryGo(g)
}
`)}}
	n, open, err := goroutinesIn(fsys, "a.go")
	if err != nil || n != 9 || len(open) != 6 {
		t.Errorf("%d goroutines, %v, %v", n, open, err)
	}
}

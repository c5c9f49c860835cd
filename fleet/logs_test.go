package fleet

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestFindLogs: what is asked for is looked for among the names of what is allowed, and nowhere else.
func TestFindLogs(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"b/access.log", "a/access.log", "a/error.log", "a/x[1].log", "secret", "a.log"} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(name), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	f := func(want, allowed string, asked ...string) {
		t.Helper()
		for i := range asked {
			asked[i] = filepath.Join(dir, asked[i])
		}
		found, err := FindLogs([]string{filepath.Join(dir, allowed)}, asked)
		var names []string
		for i := range found {
			names = append(names, strings.TrimPrefix(found[i].Path, dir+"/"))
			file, err := found[i].Open()
			if err != nil {
				t.Errorf("%s: %v", found[i].Path, err)
				continue
			}
			_ = file.Close()
		}
		refused := new(RefusedError)
		if got := strings.Join(names, " "); got != want || (want == "") != errors.As(err, &refused) || want == "" && refused.Fix == "" {
			t.Errorf("%v of %s: %q, %v; want %q", asked, allowed, got, err, want)
		}
	}
	f("a/access.log b/access.log", "*/access.log", "*/access.log")
	f("b/access.log a/access.log", "*/access.log", "b/access.log", "a/access.log")
	f("a/access.log a/access.log", "*/access.log", "a/access.log", "a/*")
	f("a/access.log a/error.log a/x[1].log", "a/*", "a/*.log")
	f("a/x[1].log", "a/*", "a/x[1].log") // the file of that very name comes before the pattern
	f("", "*/access.log", "a/error.log")
	f("", "*/access.log", "secret")
	f("", "*/access.log", "*")
	f("", "*/access.log", "none.log")
	f("a/access.log", "a/access.log", "*/*")
}

// TestLogsQuestion: a host reads only where that is allowed, and what names logs of its own.
func TestLogsQuestion(t *testing.T) {
	l, err := ParseLimit([]string{"logs=/var/log/nginx/*.log", "logs=/srv/log/access.log"})
	if err != nil || len(l.Logs) != 2 || len(l.Allowed()) != 2 {
		t.Fatalf("%+v, %v", l, err)
	}
	for _, bad := range []string{"logs", "logs=", "logs=log/*", "logs=/var/log/../*", "logs=/a/[", "logs=/a\n/b", "logs=/", "logs=//a"} {
		if _, err := ParseLimit([]string{bad}); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
	good := func() LogsQuestion {
		return LogsQuestion{Run: "0123456789abcdef", Kind: AccessLog, Paths: []string{"/var/log/nginx/*.log"}}
	}
	q := good()
	if err := q.Check(&l); err != nil {
		t.Error(err)
	}
	if err := q.Check(&Limit{Record: true}); err == nil || !strings.Contains(err.(*RefusedError).Fix, "--allow logs=") {
		t.Errorf("not allowed: %v", err)
	}
	for name, spoil := range map[string]func(*LogsQuestion){
		"a run that is a path": func(q *LogsQuestion) { q.Run = "../../../../a/b" },
		"another kind":         func(q *LogsQuestion) { q.Kind = "passwd" },
		"no paths":             func(q *LogsQuestion) { q.Paths = nil },
		"many paths":           func(q *LogsQuestion) { q.Paths = make([]string, maxLogPaths+1) },
		"a relative path":      func(q *LogsQuestion) { q.Paths = []string{"access.log"} },
		"dots":                 func(q *LogsQuestion) { q.Paths = []string{"/var/log/nginx/../../../etc/passwd"} },
		"long options":         func(q *LogsQuestion) { q.Options = make([]byte, maxLogOptions+1) },
	} {
		q := good()
		spoil(&q)
		if err := q.Check(&l); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
}

package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku/internal/test/agenttest"
)

const passwd = `root:x:0:0:root:/root:/bin/bash
# comment:x:1000:1:::/bin/sh
+::::::
-old:x:1000:1000:::/bin/sh
alice:x:1000:1000::/home/alice:/usr/bin/zsh
bob:x:1001:1001::/home/bob:/bin/bash
carol:x:1002:1002::/home/carol:
dave:x:1003:1003::/home/dave:/bin/sh
eve:x:1004:1004::/home/eve:/bin/sh
backup:x:1005:1005::/:/usr/sbin/nologin
low:x:500:500:::/bin/sh
high:x:60000:60000:::/bin/sh
nobody:x:65534:65534:nobody:/nonexistent:/bin/sh
short:x:1:1
`

// records is a file of last logins, days ago by user id, with times of 4 or 8 bytes.
func records(timeBytes int64, now time.Time, days map[int64]int64) []byte {
	size := timeBytes + 32 + 256
	out := make([]byte, 1006*size)
	for uid, ago := range days {
		at := uint64(now.Unix() - ago*86400)
		if timeBytes == 4 {
			binary.NativeEndian.PutUint32(out[uid*size:], uint32(at))
		} else {
			binary.NativeEndian.PutUint64(out[uid*size:], at)
		}
		copy(out[uid*size+timeBytes:], "pts/0")
	}
	return out
}

func write(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestCheck(t *testing.T) {
	users := write(t, "passwd", passwd)
	days := map[int64]int64{500: 1, 1000: 129, 1001: 59, 1002: 61, 1003: 84}
	for _, tt := range []struct {
		args string
		code int
		want string
	}{
		{"", 2, "CRITICAL: Found users who have not logged in recently: alice(129 days), eve(*Never logged in*), high(*Never logged in*), carol(61 days), dave(84 days)"},
		{"--white-user-names alice,eve,high", 1, "WARNING: Found users who have not logged in recently: carol(61 days), dave(84 days)"},
		{"--white-user-names=alice,eve --max-uid 1004 -w 90 -c 100", 0, "OK: No users were found who have not logged in recently"},
		{"--before 30 --max-uid 1001", 2, "CRITICAL: Found users who have not logged in recently: alice(129 days), bob(59 days)"},
		{"--min-uid 501 --max-uid 1000", 2, "CRITICAL: Found users who have not logged in recently: alice(129 days)"},
		{"--passwd-file /nonexistent", 3, "UNKNOWN: read users: open /nonexistent: no such file or directory"},
	} {
		for _, timeBytes := range []int64{4, 8} {
			log := write(t, "lastlog", string(records(timeBytes, time.Now(), days)))
			var out, errs bytes.Buffer
			args := append([]string{"--passwd-file", users, "--lastlog-file", log}, strings.Fields(tt.args)...)
			code := run(args, &out, &errs, os.Getenv)
			if got := out.String(); code != tt.code || got != "check-lastlog "+tt.want+"\n" {
				t.Errorf("%q, %d bytes: exit %d, %q %q\nwant exit %d, %q", tt.args, timeBytes, code, got, &errs, tt.code, tt.want)
			}
		}
	}
}

// TestAgent runs the built check as the agent does.
func TestAgent(t *testing.T) {
	users := write(t, "passwd", passwd)
	log := write(t, "lastlog", string(records(4, time.Now(), map[int64]int64{1000: 129, 1001: 59, 1002: 61, 1003: 84})))
	status, message, r := agenttest.New(t).Check(t, agenttest.Build(t), "--passwd-file", users, "--lastlog-file", log, "--max-uid", "1003")
	if status != agenttest.Critical || !strings.HasPrefix(message, "check-lastlog ") {
		t.Errorf("%s %q", status, message)
	}
	agenttest.Show(t, r, "check-lastlog --max-uid 1003")
}

func TestVerbose(t *testing.T) {
	users := write(t, "passwd", "alice:x:1000:1000::/home/alice:/usr/bin/zsh\n")
	log := write(t, "lastlog", string(records(4, time.Now(), map[int64]int64{1000: 3})))
	var out, errs bytes.Buffer
	run([]string{"-V", "--passwd-file", users, "--lastlog-file", log}, &out, &errs, os.Getenv)
	if got := errs.String(); got != "alice(3 days) uid=1000 shell=/usr/bin/zsh OK\n" {
		t.Errorf("%q", got)
	}
}

func TestRecordSize(t *testing.T) {
	for _, tt := range []struct {
		arch   string
		length int64
		want   int64
	}{
		{"amd64", 0, 292}, {"arm64", 0, 296}, {"386", 292, 292}, {"riscv64", 296 * 7, 296},
		{"s390x", 296, 296}, {"ppc64le", 292, 292},
		{"amd64", 296 * 7, 296}, {"arm64", 292 * 7, 292}, // from another machine
		{"amd64", 292 * 296, 292}, {"arm64", 292 * 296, 296},
		{"amd64", 100, 0}, {"arm64", 293, 0},
	} {
		got, err := recordSize(tt.arch, tt.length)
		if got != tt.want || (err == nil) != (tt.want != 0) {
			t.Errorf("%s, %d bytes: %d, %v", tt.arch, tt.length, got, err)
		}
	}
}

func TestChooseSource(t *testing.T) {
	dir := t.TempDir()
	there, missing := filepath.Join(dir, "there"), filepath.Join(dir, "missing")
	program := filepath.Join(dir, "lastlog2")
	for _, f := range []string{there, program} {
		if err := os.WriteFile(f, nil, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		name string
		file string
		p    paths
		want string
	}{
		{"asked for", there, paths{there, there, program}, "main.recordFile"},
		{"old system", "", paths{there, missing, missing}, "main.recordFile"},
		{"old file beside the command", "", paths{there, missing, program}, "main.recordFile"},
		{"new system", "", paths{there, there, program}, "main.database"},
		{"nobody logged in yet", "", paths{missing, missing, program}, "main.database"},
		{"nothing", "", paths{missing, missing, missing}, "main.recordFile"},
		{"no command", "", paths{there, there, missing}, "<nil>"},
	} {
		src, err := chooseSource(tt.file, tt.p)
		if got := fmt.Sprintf("%T", src); got != tt.want || (err != nil) != (tt.want == "<nil>") {
			t.Errorf("%s: %s, %v, want %s", tt.name, got, err, tt.want)
		}
		if err != nil && !strings.Contains(err.Error(), "apt install lastlog2") {
			t.Errorf("%s: no hint: %v", tt.name, err)
		}
	}
}

const lastlog2Output = `Username         Port     From                                       Latest
alice            pts/0    2001:db8::1                                Tue Nov  3 07:12:01 +0000 2026
bob              tty1                                                Sun Dec 31 23:59:59 +0900 2023
verylongusername_of_thirty-2chars pts/1    host name                                  Fri Nov 20 07:12:01 +0000 2026
eve                                                                  **Never logged in**
odd              tty1                                                (unknown)
`

// TestDatabase asks a program that prints as util-linux's lastlog2 does.
func TestDatabase(t *testing.T) {
	program := write(t, "lastlog2", "#!/bin/sh\n[ \"$1 $2 $TZ\" = '--database /db UTC' ] && cat <<'E'\n"+lastlog2Output+"E\n")
	if err := os.Chmod(program, 0o700); err != nil {
		t.Fatal(err)
	}
	got, err := database{program: program, file: "/db"}.lastLogins(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]int64{
		"alice":                             time.Date(2026, 11, 3, 7, 12, 1, 0, time.UTC).Unix(),
		"bob":                               time.Date(2023, 12, 31, 14, 59, 59, 0, time.UTC).Unix(),
		"verylongusername_of_thirty-2chars": time.Date(2026, 11, 20, 7, 12, 1, 0, time.UTC).Unix(),
		"eve":                               0,
		"odd":                               0,
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %v, want %v", got, want)
	}
	for name, wantErr := range map[string]bool{"alice": false, "odd": true} {
		if _, err := (database{program: program, file: "/db"}).lastLogins(t.Context(), []user{{name: name}}); (err != nil) != wantErr {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := (database{program: program, file: "/other"}).lastLogins(t.Context(), nil); err == nil {
		t.Error("a command that fails is no error")
	}
}

// TestOutput reads what lastlog2 of util-linux 2.41.5 printed of a database with
// entries that it never has and some that it should not have.
func TestOutput(t *testing.T) {
	out, err := os.ReadFile("testdata/lastlog2-2.41.5.txt")
	if err != nil {
		t.Fatal(err)
	}
	logins, odd := parseLastlog2(out)
	for name, want := range map[string]int64{
		"alice": 1784103400, "averyveryverylongusername32charsx": 1790151400, "dot.name$": 1700000000, "hostlong": 1795249000,
		"neg": -5, "never": 0, "null": 1700000000, "old": 1, "y2038": 3000000000, "日本": 1700000000, "root": 1795249000,
	} {
		if at, ok := logins[name]; !ok || at != want || odd[name] != "" {
			t.Errorf("%s: %d, %t, odd %q; want %d", name, at, ok, odd[name], want)
		}
	}
	for name, want := range map[string]string{"evil": "ssh      x", "far": "3170843", "toofar": "(unknown)", "badtime": "'abc'"} {
		if !strings.HasSuffix(odd[name], want) {
			t.Errorf("%s: odd %q, want %q", name, odd[name], want)
		}
	}
	if _, odd := parseLastlog2([]byte("mallory tty1 x\nmallory pts/0 - Thu Nov 21 00:00:00 +0000 2030\n")); odd["mallory"] == "" {
		t.Error("a host with a newline makes a login")
	}
}

// TestLastlog2 asks the real command, which Debian has from 13 on.
func TestLastlog2(t *testing.T) {
	program, err := exec.LookPath("lastlog2")
	if err != nil {
		t.Skip(err)
	}
	file := filepath.Join(t.TempDir(), "lastlog2.db")
	at := time.Now().Add(-61 * 24 * time.Hour)
	size := int64(record32)
	if runtime.GOARCH == "arm64" {
		size = record64
	}
	log := write(t, "lastlog", string(records(size-32-256, time.Now(), map[int64]int64{0: 61})))
	if out, err := exec.CommandContext(t.Context(), program, "--database", file, "--import", log).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	got, err := database{program: program, file: file}.lastLogins(t.Context(), []user{{name: "root"}})
	if err != nil || len(got) != 1 || max(got["root"]-at.Unix(), at.Unix()-got["root"]) > 60 {
		t.Errorf("%v, %v, want root at %d", got, err, at.Unix())
	}
}

func FuzzParseLastlog2(f *testing.F) {
	f.Add([]byte(lastlog2Output))
	f.Add([]byte("\n\nroot **Never logged in**"))
	f.Add([]byte("x Mon Feb 31 25:00:00 +0000 2026\n"))
	f.Add([]byte("Error: \nUsername Latest\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		logins, odd := parseLastlog2(data)
		if len(logins) > bytes.Count(data, []byte("\n"))+1 {
			t.Error("more users than lines")
		}
		for name := range odd {
			if _, ok := logins[name]; !ok {
				t.Errorf("an odd line of nobody: %q", name)
			}
		}
	})
}

func FuzzParsePasswd(f *testing.F) {
	f.Add([]byte(passwd))
	f.Add([]byte("a:x:-1:0:::\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		users, err := parsePasswd(data)
		if err != nil && users != nil {
			t.Error("an error and a result")
		}
		for _, u := range users {
			if u.name == "" || strings.Contains(u.name, ":") {
				t.Errorf("%q", u.name)
			}
		}
	})
}

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/internal/contain"
	"github.com/kasoku/kasoku/store"
)

// hostileText acts on a terminal in each way that it can: CSI, OSC, DCS, C1, CR,
// backspace, bidi.
const hostileText = "h\x1b[2Jo\x1b]0;s\x07t\x1b]8;;http://x\x1b\\i\rle\b\u009b2J\u202e\u2066\u200f\u2028\x7f\x00\x1bc\x1bP+q\x1b\\"

// ownSequences are those that kasoku writes itself.
var ownSequences = regexp.MustCompile(`\x1b\[[0-9;]*m`)

// TestHostileRun: whatever command prints a run, nothing of the run's texts acts on
// the terminal.
func TestHostileRun(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "bad.kasoku")
	rec := &kasoku.Recording{Run: kasoku.Run{
		ID: "bad", Project: hostileText, Label: hostileText, Note: hostileText,
		State: kasoku.Finished, StopReason: hostileText,
		Started: time.Unix(1e9, 0), Length: 10 * time.Second, Load: hostileText, Version: hostileText,
		Hosts:   []kasoku.Host{{Name: hostileText, Cores: 2, OS: hostileText, Kernel: hostileText}},
		Command: &kasoku.Command{Args: []string{hostileText}, Output: hostileText},
	}}
	rec.Warnings = []kasoku.Warning{{Code: hostileText, Text: hostileText, Hint: hostileText}}
	rec.Events = []kasoku.Event{{Host: hostileText, Kind: hostileText, Text: hostileText}}
	rec.Settings = []kasoku.Setting{{Scope: hostileText, Name: hostileText, Value: hostileText}}
	rec.Endpoints = []kasoku.Endpoint{{Host: hostileText, Method: "GET", Route: hostileText, Count: 10}}
	rec.Queries = []kasoku.Query{{Host: hostileText, ID: "1", Fingerprint: hostileText, Calls: 10, Total: time.Second,
		Sample: hostileText, Raw: hostileText}}
	rec.Messages = []kasoku.Message{{Host: hostileText, Path: hostileText, Pattern: hostileText, Sample: hostileText,
		Count: 3}}
	rec.Configs = []kasoku.Config{{Host: hostileText, Kind: "file", Name: "/etc/" + hostileText, Text: hostileText}}
	rec.Plans = []kasoku.Plan{{QueryID: "1", Note: hostileText, Text: hostileText}}
	rec.Diagnosis = &kasoku.Diagnosis{Verdict: hostileText,
		Findings: []kasoku.Finding{{ID: "MES-01", Title: hostileText, Cause: hostileText,
			Evidence: []kasoku.Evidence{{Source: hostileText, Value: hostileText, Text: hostileText, Note: hostileText}}}}}
	if err := store.Write(path, rec); err != nil {
		t.Fatal(err)
	}
	if err := store.Copy(path, filepath.Join(dir, "worse.kasoku")); err != nil {
		t.Fatal(err)
	}
	for _, args := range []string{
		"show bad.kasoku", "show bad.kasoku --all", "show bad.kasoku --tsv", "show bad.kasoku --json", "show bad.kasoku --md",
		"show bad.kasoku --configs", "list", "list --json", "diagnose bad.kasoku", "compare bad.kasoku worse.kasoku", "compare bad.kasoku worse.kasoku --configs",
		"advise bad.kasoku", "digest bad.kasoku", "explain bad.kasoku", "revert bad.kasoku", "watch bad.kasoku --lines", "label bad.kasoku " + hostileText,
		"note worse.kasoku " + hostileText, "score bad.kasoku", "show " + hostileText, "rm worse.kasoku", "scrub bad.kasoku",
	} {
		var out, errs bytes.Buffer
		words := append(strings.Fields(args), "--color=always")
		if name := words[0]; name != "rm" && name != "explain" {
			words = append(words, "--dir="+dir)
		}
		for i, w := range words[1:] {
			if strings.HasSuffix(w, ".kasoku") {
				words[i+1] = filepath.Join(dir, w)
			}
		}
		e := &cli.Env{Name: "kasoku", Args: words, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs,
			Getenv: func(string) string { return "" }, Now: func() time.Time { return time.Unix(1e9, 0) }, Width: 120}
		run(e)
		for what, b := range map[string][]byte{"stdout": out.Bytes(), "stderr": errs.Bytes()} {
			b = ownSequences.ReplaceAll(b, nil)
			if i := bytes.IndexFunc(b, func(r rune) bool {
				return r < 0x20 && r != '\n' && r != '\t' || r >= 0x7f && r <= 0x9f ||
					strings.ContainsRune("\u202e\u2066\u200f\u2028", r)
			}); i >= 0 {
				t.Errorf("%.40q: %s: %q", args, what, b[max(0, i-60):min(len(b), i+30)])
			}
		}
		if out.Len() == 0 && errs.Len() == 0 {
			t.Errorf("%.40q printed nothing", args)
		}
	}
}

// TestDamageIsPrintable: SQLite's words for a schema that is damaged quote it; no command
// passes its control bytes on to a terminal.
func TestDamageIsPrintable(t *testing.T) {
	dir := t.TempDir()
	readableRuns(t, dir)
	readableTexts(t, dir)
	t.Chdir(dir)
	file, err := os.ReadFile("before.kasoku")
	if err != nil {
		t.Fatal(err)
	}
	bad := bytes.ReplaceAll(file, []byte("CREATE TABLE load_second"), []byte("CREATE TABLE \x1boad_second"))
	if bytes.Equal(bad, file) {
		t.Fatal("no schema is found")
	}
	if err := os.WriteFile("bad.kasoku", bad, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range []string{"show bad.kasoku", "export bad.kasoku --to csv", "compare bad.kasoku after.kasoku", "list", "diagnose bad.kasoku", "scrub bad.kasoku --out s.kasoku"} {
		a := inProcess(args, func(contain.Part) {})
		if strings.Contains(a.stdout+a.stderr, "\x1b") {
			t.Errorf("kasoku %s: %q %q", args, a.stdout, a.stderr)
		}
		if args != "list" && !strings.Contains(a.stderr+a.stdout, "malformed") {
			t.Errorf("kasoku %s does not name the damage: %q %q", args, a.stdout, a.stderr)
		}
	}
}

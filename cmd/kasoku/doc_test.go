package main

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/kasoku/kasoku/internal/test/turn"
)

// A console is a block of a page that begins with ```console. Its lines that
// begin with "$ kasoku" are what a reader would type; the rest is what comes
// out. After ```console stand "norun", so that nothing is run, "same", so that what
// comes out must be what is shown, or "exit N", the code with which its last command
// ends.
type console struct {
	page  string
	line  int // of the fence
	exit  int
	norun bool
	same  bool
	typed []string
	shown string // between the commands
}

// TestDocs types what the pages say, page by page in a directory of its own.
// Commands run one after the other, so that a block finds what an earlier one
// made. What they load at 127.0.0.1:8080 is a server of this test, wherever it
// listens.
func TestDocs(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(answer))
	t.Cleanup(server.Close)
	here := strings.NewReplacer("http://127.0.0.1:8080", server.URL)
	top := filepath.Join("..", "..")
	pages, err := filepath.Glob(filepath.Join(top, "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range append(pages, filepath.Join(top, "README.md")) {
		b, err := os.ReadFile(page)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		blocks, err := consoles(filepath.Base(page), string(b))
		if err != nil {
			t.Fatal(err)
		}
		if len(blocks) > 0 {
			t.Run(filepath.Base(page), func(t *testing.T) {
				turn.Wait(t)
				typeAll(t, blocks, here)
			})
		}
	}
}

func typeAll(t *testing.T, blocks []console, here *strings.Replacer) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("..", "..", "docs", "samples"))); err != nil {
		t.Fatal(err)
	}
	for _, b := range blocks {
		var came strings.Builder
		for i, line := range b.typed {
			want := 0
			if i == len(b.typed)-1 {
				want = b.exit
			}
			if b.norun {
				continue
			}
			cmd := exec.Command("sh", "-c", here.Replace(line))
			cmd.Dir, cmd.Env = dir, append(os.Environ(), "HOME="+dir, "COLUMNS=80", "TZ=UTC")
			out, err := cmd.CombinedOutput()
			got, err := exitStatus(err)
			if err != nil || got != want {
				t.Fatalf("%s:%d: %s: exit %d, want %d (%v)\n%s", b.page, b.line, line, got, want, err, out)
			}
			came.Write(out)
		}
		if b.same && came.String() != b.shown {
			t.Errorf("%s:%d: the block shows something else than what comes out:\n%s", b.page, b.line, diff.Diff("shown", []byte(b.shown), "came", []byte(came.String())))
		}
	}
}

// consoles finds the blocks of a page. A line that ends with a backslash goes on.
func consoles(page, text string) ([]console, error) {
	var out []console
	var in bool
	var more string // a line that goes on
	for i, line := range strings.Split(text, "\n") {
		info, fence := strings.CutPrefix(strings.TrimSpace(line), "```")
		switch {
		case fence && in:
			in = false
		case fence && strings.HasPrefix(info, "console"):
			b, err := parseFence(info)
			if err != nil {
				return nil, fmt.Errorf("%s:%d: %w", page, i+1, err)
			}
			b.page, b.line, in = page, i+1, true
			out = append(out, b)
		case in:
			b := &out[len(out)-1]
			typed, starts := strings.CutPrefix(line, "$ ")
			if !starts && more == "" {
				b.shown += line + "\n"
				continue
			}
			if starts && !strings.HasPrefix(typed, "kasoku") {
				continue
			}
			line = more + typed
			if more = ""; strings.HasSuffix(line, `\`) {
				more = line + "\n"
				continue
			}
			b.typed = append(b.typed, line)
		}
	}
	return out, nil
}

// parseFence reads what stands after the backquotes: console [norun | same | exit N].
func parseFence(info string) (b console, err error) {
	switch words := strings.Fields(info)[1:]; {
	case len(words) == 0:
		return b, nil
	case len(words) == 1 && words[0] == "norun":
		b.norun = true
		return b, nil
	case len(words) == 1 && words[0] == "same":
		b.same = true
		return b, nil
	case len(words) == 2 && words[0] == "exit":
		b.exit, err = strconv.Atoi(words[1])
		return b, err
	default:
		return b, fmt.Errorf("bad fence %q: want console, console norun, console same or console exit N", info)
	}
}

// noRuns is what list -o json prints without a run.
const noRuns = "{\n  \"schema\": 1,\n  \"kind\": \"list\",\n  \"runs\": []\n}\n"

func TestConsoles(t *testing.T) {
	page := "# Page\n```console\n$ kasoku version\nkasoku 1\n$ ls\n$ kasoku record \\\n    -- true\n```\n" +
		"```sh\n$ kasoku nothing\n```\n```console exit 2\n$ kasoku nope\n```\n```console norun\n$ kasoku demo\n```\n" +
		"```console same\n$ kasoku list --dir . -o json\n" + noRuns + "$ kasoku list --dir . -o tsv\n```\n"
	got, err := consoles("p.md", page)
	if err != nil || len(got) != 4 {
		t.Fatalf("%+v, %v", got, err)
	}
	if want := "kasoku version|kasoku record \\\n    -- true"; strings.Join(got[0].typed, "|") != want {
		t.Errorf("typed %q, want %q", got[0].typed, want)
	}
	if got[3].shown != noRuns || !got[3].same {
		t.Errorf("shown %q", got[3].shown)
	}
	if got[1].exit != 2 || got[1].line != 12 || got[0].norun || !got[2].norun {
		t.Errorf("%+v", got)
	}
	for _, bad := range []string{"console maybe", "console exit", "console exit x"} {
		if _, err := consoles("p.md", "```"+bad+"\n```\n"); err == nil || !strings.HasPrefix(err.Error(), "p.md:1: ") {
			t.Errorf("%q: %v", bad, err)
		}
	}
	t.Run("typed", func(t *testing.T) { typeAll(t, got, strings.NewReplacer()) })
}

// TestJapanesePages holds each Japanese page against the English one that it
// translates: the same headings, code, lists and tables in the same order, and
// a link each way.
func TestJapanesePages(t *testing.T) {
	top := filepath.Join("..", "..")
	pages, err := filepath.Glob(filepath.Join(top, "docs", "ja", "*.md"))
	if err != nil || len(pages) == 0 {
		t.Fatal("no Japanese pages in docs/ja", err)
	}
	english := map[string]string{filepath.Join(top, "README.ja.md"): filepath.Join(top, "README.md")}
	for _, page := range pages {
		english[page] = filepath.Join(top, "docs", filepath.Base(page))
	}
	for ja, en := range english {
		got, want := outline(readPage(t, ja)), outline(readPage(t, en))
		got, want = append(got, "end"), append(want, "end")
		for i := range min(len(got), len(want)) {
			if got[i] != want[i] {
				t.Errorf("%s is out of step with %s: part %d is %q, want %q", ja, en, i+1, got[i], want[i])
				break
			}
		}
		for from, to := range map[string]string{ja: en, en: ja} {
			link, err := filepath.Rel(filepath.Dir(from), to)
			if err != nil || !strings.Contains(readPage(t, from), "("+link+")") {
				t.Errorf("%s has no link to %s (%v)", from, link, err)
			}
		}
	}
}

// TestPagesAreListed holds the list of pages, docs/README.md, to the pages that are there; that
// of docs/ja has the same parts (TestJapanesePages).
func TestPagesAreListed(t *testing.T) {
	for _, dir := range []string{"docs", filepath.Join("docs", "ja")} {
		index := readPage(t, filepath.Join("..", "..", dir, "README.md"))
		pages, err := filepath.Glob(filepath.Join("..", "..", dir, "*.md"))
		if err != nil || len(pages) < 2 {
			t.Fatal(dir, pages, err)
		}
		for _, page := range pages {
			if name := filepath.Base(page); name != "README.md" && !strings.Contains(index, "("+name+")") {
				t.Errorf("%s/README.md does not list %s", dir, name)
			}
		}
	}
}

func readPage(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

var (
	mark    = regexp.MustCompile(`^(#+|-|\d+\.|\||!)`)
	comment = regexp.MustCompile(`(^| +)#.*|^ *….*`)
)

// outline is what a translation leaves as it is: the marks of headings, list
// items, rows and pictures, and the lines of code without comments. A line that
// begins with … says what the reader does, and counts as a comment.
func outline(page string) []string {
	var out []string
	var code bool
	for line := range strings.Lines(page) {
		line = strings.TrimRight(line, "\n")
		switch {
		case strings.HasPrefix(line, "```"):
			code = !code
			out = append(out, line)
		case code:
			out = append(out, comment.ReplaceAllString(line, ""))
		case mark.MatchString(line):
			out = append(out, mark.FindString(line))
		}
	}
	return out
}

func TestOutline(t *testing.T) {
	got := outline("# A\nText.\n- b\n\n1. c\n\n| d | e |\n![f](g.png)\n\n```sh\n# h\nls  # i\n  … wait …\n```\n")
	want := []string{"#", "-", "1.", "|", "!", "```sh", "", "ls", "", "```"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

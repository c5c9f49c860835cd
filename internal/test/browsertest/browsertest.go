// Package browsertest opens pages in a real browser, without a window.
//
// [DumpDOM] and [Screenshot] open one page once: enough for a page that needs no
// hand. [Start] gives a browser whose pages a test can use: click, type, draw,
// and look at what came of it.
//
// The browser is chromium, chromium-browser or google-chrome on PATH. In short
// mode the test is skipped; otherwise a browser that is missing fails it, for a
// page that was not opened is not tested. Sizes are in CSS pixels, one of them a
// pixel of the picture. Only tests import it.
package browsertest

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku/internal/command"
)

// flags are those that it takes to run as root, in a container, and with nothing
// sent anywhere but to the page under test.
func flags() []string {
	return []string{
		"headless", "no-sandbox", "disable-gpu", "disable-dev-shm-usage", "disable-quic", "no-first-run",
		"disable-background-networking", "disable-component-update", "disable-sync", "hide-scrollbars",
	}
}

// limit is how long a browser may take for one page.
const limit = time.Minute

func path(t testing.TB) string {
	t.Helper()
	if testing.Short() {
		t.Skip("starts a browser; not in short mode")
	}
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if p, err := command.LookPath(name); err == nil {
			return p
		}
	}
	t.Fatal("no chromium, chromium-browser or google-chrome on PATH: apt install chromium")
	return ""
}

// DumpDOM opens a page and returns it as its scripts have made it. More flags may
// be given, with their dashes. What the page writes to its console fails the test.
func DumpDOM(t testing.TB, url string, more ...string) string {
	t.Helper()
	return once(t, append(more, "--dump-dom", url)...)
}

// Screenshot opens a page in a window of the given size and returns the picture.
// What the page writes to its console fails the test.
func Screenshot(t testing.TB, url string, width, height int) image.Image {
	t.Helper()
	file := filepath.Join(t.TempDir(), "page.png")
	once(t, "--screenshot="+file, fmt.Sprintf("--window-size=%d,%d", width, height), url)
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	return img
}

// consoleLine is how the browser logs what a page says to its console.
var consoleLine = regexp.MustCompile(`(?m)^.*(?:CONSOLE|Uncaught|Refused to).*$`)

// ofBrowser reports whether a line is of a page of the browser's own: without a network Chromium 140's says that its
// fonts come late.
func ofBrowser(line string) bool { return strings.Contains(line, ", source: chrome://") }

func once(t testing.TB, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	all := []string{"--enable-logging=stderr", "--user-data-dir=" + t.TempDir()}
	for _, f := range flags() {
		all = append(all, "--"+f)
	}
	var out, errs bytes.Buffer
	spec := command.Spec{Path: path(t), Args: append(all, args...), Stdout: &out, Stderr: &errs}
	if _, err := command.Run(ctx, spec); err != nil {
		t.Fatalf("%v\n%s", err, &errs)
	}
	lines := slices.DeleteFunc(consoleLine.FindAllString(errs.String(), -1), ofBrowser)
	if len(lines) > 0 {
		t.Errorf("the page wrote to the console:\n%s", strings.Join(lines, "\n"))
	}
	return out.String()
}

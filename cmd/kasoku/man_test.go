package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
)

// TestManPages: each command that help shows has a page, with its flags and examples, that
// groff reads without a warning.
func TestManPages(t *testing.T) {
	program, err := exec.LookPath("kasoku")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if out, err := exec.Command("go", "run", "../../tools/man/main.go", program, dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		path := filepath.Join(dir, strings.ReplaceAll(c.CommandPath(), " ", "-")+".1")
		b, err := os.ReadFile(path)
		if err != nil {
			t.Error(err)
			return
		}
		page := strings.ReplaceAll(string(b), `\-`, "-")
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden && !strings.Contains(page, "--"+f.Name) {
				t.Errorf("%s has no --%s", filepath.Base(path), f.Name)
			}
		})
		if example, _, _ := strings.Cut(strings.TrimSpace(c.Example), "\n"); !strings.Contains(page, strings.ReplaceAll(example, `\`, `\e`)) {
			t.Errorf("%s has not the example %s", filepath.Base(path), example)
		}
		for _, sub := range c.Commands() {
			if sub.IsAvailableCommand() {
				walk(sub)
			}
		}
	}
	root := newRoot(&cli.Env{})
	root.InitDefaultHelpCmd()
	walk(root)
	pages, err := filepath.Glob(filepath.Join(dir, "*.1"))
	if err != nil || len(pages) == 0 {
		t.Fatal(pages, err)
	}
	if _, err := exec.LookPath("groff"); err != nil {
		return // it only judges
	}
	if out, err := exec.Command("groff", append([]string{"-man", "-Tutf8", "-K", "utf8", "-ww", "-z"}, pages...)...).CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%v\n%s", err, out)
	}
}

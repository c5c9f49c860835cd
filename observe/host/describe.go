package host

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	kasoku "github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/observe/procfile"
)

// Describe says what machine this is, for the head of a run. What cannot be
// learned stays empty; only the kernel's name for the host, its cores and its
// memory are needed. osRelease is the path of os-release(5), by default
// /etc/os-release.
func Describe(o Options, osRelease string) (kasoku.Host, error) {
	o = o.withDefaults()
	if osRelease == "" {
		osRelease = "/etc/os-release"
	}
	h := kasoku.Host{
		Name:   word(o.Proc, "sys/kernel/hostname"),
		Kernel: word(o.Proc, "sys/kernel/osrelease"),
		BootID: word(o.Proc, "sys/kernel/random/boot_id"),
		Arch:   runtime.GOARCH,
	}
	if text, err := os.ReadFile(osRelease); err == nil {
		h.OS = parseOSRelease(text)
	}
	if h.Name == "" {
		return kasoku.Host{}, fmt.Errorf("describe host: no name in %s", filepath.Join(o.Proc, "sys/kernel/hostname"))
	}
	text, err := os.ReadFile(filepath.Join(o.Proc, "stat"))
	if err != nil {
		return kasoku.Host{}, fmt.Errorf("describe host: %w", err)
	}
	cpus, _, err := parseStat(text, nil)
	if err != nil {
		return kasoku.Host{}, fmt.Errorf("describe host: %w", err)
	}
	for _, c := range cpus {
		if c.name != nil {
			h.Cores++
		}
	}
	if text, err = os.ReadFile(filepath.Join(o.Proc, "meminfo")); err != nil {
		return kasoku.Host{}, fmt.Errorf("describe host: %w", err)
	}
	h.MemoryBytes = memTotal(text)
	return h, nil
}

func memTotal(text []byte) (bytes uint64) {
	_ = parsePairs(text, func(name, value []byte) error {
		if n, ok := procfile.Uint(value); ok && string(name) == "MemTotal:" {
			bytes = n * kiB
		}
		return nil
	})
	return bytes
}

// parseOSRelease returns PRETTY_NAME of os-release(5).
func parseOSRelease(text []byte) string {
	for line := range strings.Lines(string(text)) {
		if v, ok := strings.CutPrefix(strings.TrimSpace(line), "PRETTY_NAME="); ok {
			return strings.Trim(v, `"'`)
		}
	}
	return ""
}

// word reads the first line of a small file, empty when there is none.
func word(proc, path string) string {
	text, err := os.ReadFile(filepath.Join(proc, path))
	if err != nil {
		return ""
	}
	line, _, _ := procfile.Line(text)
	return strings.TrimSpace(string(line))
}

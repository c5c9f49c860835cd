package isutrain

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/kasoku/kasoku/labs/kit"
)

const (
	takesPart  = 12 // of the host's memory, in all
	takesSteps = 60
	takesEach  = 500 * time.Millisecond
	waitsFirst = 5 * time.Second
)

// takeMemory is a program that takes a part of the host's memory in half a minute and keeps it, as an
// editor's language server does. It stops where less than that part would be left.
func takeMemory(ctx context.Context, c kit.Config) error {
	c.Ready(c.Listen)
	each := memoryOf("MemTotal:") / takesPart / takesSteps
	var held [][]byte
	defer func() {
		for _, b := range held {
			unix.Munmap(b) //nolint:errcheck // the process ends
		}
	}()
	for wait := waitsFirst; ; wait = takesEach {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(wait):
		}
		if len(held) == takesSteps || memoryOf("MemAvailable:") < 2*each*takesSteps {
			continue
		}
		b, err := unix.Mmap(-1, 0, int(each), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
		if err != nil {
			return fmt.Errorf("take memory: %w", err)
		}
		for i := 0; i < len(b); i += os.Getpagesize() {
			b[i] = 1
		}
		held = append(held, b)
	}
}

// memoryOf reads a line of /proc/meminfo, in bytes; 0 where there is none.
func memoryOf(name string) (bytes uint64) {
	text, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(text), name)
	if _, err := fmt.Sscan(rest, &bytes); err != nil {
		return 0
	}
	return bytes << 10
}

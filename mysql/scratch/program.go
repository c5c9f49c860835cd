package scratch

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/kasoku/kasoku/internal/command"
	"github.com/kasoku/kasoku/mysql"
)

// versionWithin bounds how long a program is asked for its version.
const versionWithin = 5 * time.Second

// findProgram returns the name of a server program of this very version on the trusted
// path: optimizers differ from patch to patch.
func findProgram(ctx context.Context, as *command.Identity, flavor mysql.Flavor, want mysql.Version) (string, error) {
	names := []string{"mysqld"}
	if flavor == mysql.MariaDB {
		names = []string{"mariadbd", "mysqld"}
	}
	ctx, cancel := context.WithTimeout(ctx, versionWithin)
	defer cancel()
	found := ""
	for _, name := range names {
		said, err := programVersion(ctx, as, name)
		var untrusted *command.UntrustedError
		switch {
		case errors.As(err, &untrusted), errors.Is(err, unix.EPERM), errors.Is(err, unix.EINVAL), errors.Is(err, unix.EACCES):
			return "", err
		case err != nil: // it is not there, or is no server
			continue
		}
		have, v := mysql.ParseVersion(said)
		if have == flavor && v.Major == want.Major && v.Minor == want.Minor && v.Patch == want.Patch {
			return name, nil
		}
		found = fmt.Sprintf(", %s there is %s %s", name, have, plainVersion(v))
	}
	return "", fmt.Errorf("no %s of version %s on the trusted path%s", names[0], plainVersion(want), found)
}

func plainVersion(v mysql.Version) string { return fmt.Sprintf("%d.%d.%d", v.Major, v.Minor, v.Patch) }

// programVersion returns what a server program prints of its version: the word after Ver.
func programVersion(ctx context.Context, as *command.Identity, name string) (string, error) {
	out, err := command.Output(ctx, command.Spec{Path: name, Args: []string{"--no-defaults", "--version"}, Trusted: true, As: as}, 4096)
	if err != nil {
		return "", err
	}
	_, rest, _ := strings.Cut(string(out), " Ver ")
	version, _, _ := strings.Cut(rest, " ")
	return version, nil
}

// Room that the private server needs, twice what MySQL 9.7 takes.
const (
	leastDisk   = 256 << 20
	leastMemory = 600 << 20
)

// checkRoom reports what is too small for another server.
func checkRoom(dir string) error {
	var fs unix.Statfs_t
	if err := unix.Statfs(dir, &fs); err != nil {
		return fmt.Errorf("free space of %s: %w", dir, err)
	}
	if free := fs.Bavail * uint64(fs.Bsize); free < leastDisk {
		return fmt.Errorf("less than %d MB are free in %s", leastDisk>>20, dir)
	}
	if free, known := freeMemory(); known && free < leastMemory {
		return fmt.Errorf("less than %d MB of memory are free", leastMemory>>20)
	}
	return nil
}

// freeMemory reads MemAvailable of /proc/meminfo, proc_meminfo(5).
func freeMemory() (bytes uint64, known bool) {
	f, err := os.Open("/proc/meminfo")
	if err != nil {
		return 0, false
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		if rest, ok := strings.CutPrefix(s.Text(), "MemAvailable:"); ok {
			n, err := strconv.ParseUint(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
			return n << 10, err == nil
		}
	}
	return 0, false
}

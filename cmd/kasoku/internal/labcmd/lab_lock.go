package labcmd

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/internal/private"
)

// errLocked means that another process holds a lock.
var errLocked = errors.New("locked by another process")

// takeLock takes the lock of a lab, or returns [errLocked]. It is free again when
// all copies of the file are closed, thus also when the process is killed.
func takeLock(path string) (*os.File, error) {
	if err := private.State.MkdirAll(filepath.Dir(path)); err != nil {
		return nil, err
	}
	for {
		f, err := private.State.Open(path, 0)
		if err != nil {
			return nil, err
		}
		if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
			f.Close()
			if errors.Is(err, syscall.EWOULDBLOCK) {
				return nil, errLocked
			}
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
		mine, err := f.Stat()
		if err != nil {
			f.Close()
			return nil, err
		}
		if now, err := os.Stat(path); err == nil && os.SameFile(mine, now) {
			return f, f.Truncate(0)
		}
		f.Close() // it was removed by who held the lock before
	}
}

// dropLock frees a lock and removes its file.
func dropLock(f *os.File) error { return errors.Join(os.Remove(f.Name()), f.Close()) }

// labLock is the file whose lock is held by who starts or stops a lab, and by its
// supervisor as long as it lives. It has the supervisor's process id.
func labLock(e *cli.Env, name string) string { return labDir(e, name) + ".lock" }

// labIsUp reports whether a lab runs, or is being started or stopped.
func labIsUp(e *cli.Env, name string) bool {
	f, err := os.Open(labLock(e, name))
	if err != nil {
		return false
	}
	defer f.Close()
	return errors.Is(syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB), syscall.EWOULDBLOCK)
}

// runningLab returns where a lab runs; false when it does not, or not yet.
func runningLab(e *cli.Env, name string) (labState, bool) {
	s, err := readLab(e, name)
	return s, err == nil && labIsUp(e, name)
}

// supervisorOf returns the process id of a lab's supervisor.
func supervisorOf(e *cli.Env, name string) (int, error) {
	b, err := os.ReadFile(labLock(e, name))
	if err != nil {
		return 0, err
	}
	pid, err := strconv.Atoi(string(bytes.TrimSpace(b)))
	if err != nil || pid <= 1 {
		return 0, fmt.Errorf("lab %s is just being started or stopped", name)
	}
	return pid, nil
}

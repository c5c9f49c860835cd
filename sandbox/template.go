package sandbox

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// templateAge is how long an unused cached data directory is kept.
const templateAge = 30 * 24 * time.Hour

// fill makes a fresh data directory at dir: a copy of the engine's template
// or, where nothing can be cached, one made on the spot.
func fill(ctx context.Context, e engine, dir string) error {
	template, err := templateOf(ctx, e)
	if err == nil {
		if err = copyTree(ctx, template, dir); err == nil {
			return nil
		}
		// Another process may have pruned it, or the disk is full: the next try shows which.
		_ = os.RemoveAll(dir)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if again := e.init(ctx, dir); again != nil {
		_ = os.RemoveAll(dir)
		return again
	}
	return forget(dir)
}

// templateOf returns a data directory that is as the engine's server makes it
// and in which no server runs.
//
// The key holds everything that changes what is in it: which server binary, and
// how this package initialises. Several processes may make it at once; the
// rename lets one of them win.
func templateOf(ctx context.Context, e engine) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	base := filepath.Join(cache, "kasoku", "service")
	key, err := templateKey(e)
	if err != nil {
		return "", err
	}
	final := filepath.Join(base, e.name+"-"+key)
	now := time.Now()
	if err := os.Chtimes(final, now, now); err == nil {
		return final, nil
	}
	if err := os.MkdirAll(base, 0o700); err != nil {
		return "", err
	}
	prune(base, now)
	work, err := os.MkdirTemp(base, "new-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(work)
	made := filepath.Join(work, "data")
	if err := e.init(ctx, made); err != nil {
		return "", err
	}
	if err := errors.Join(forget(made), dig(made)); err != nil {
		return "", err
	}
	if err := os.Rename(made, final); err != nil && !errors.Is(err, fs.ErrExist) {
		if _, statErr := os.Stat(final); statErr != nil {
			return "", err
		}
	}
	return final, nil
}

// templateKey names the template of an engine.
func templateKey(e engine) (string, error) {
	info, err := os.Stat(e.binary)
	if err != nil {
		return "", err
	}
	const recipe = 2 // grows when this package initialises in another way
	h := sha256.Sum256(fmt.Appendf(nil, "%d %s %d %d %d", recipe, e.binary, info.Size(), info.ModTime().UnixNano(),
		os.Geteuid()))
	return hex.EncodeToString(h[:8]), nil
}

// forget removes from a data directory what must differ between servers: auto.cnf
// holds MySQL's server UUID, which it makes when the file is missing.
func forget(dir string) error {
	err := os.Remove(filepath.Join(dir, "auto.cnf"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// prune removes templates that were not used for long, and half-made ones.
func prune(base string, now time.Time) {
	entries, err := os.ReadDir(base)
	if err != nil {
		return
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			continue
		}
		limit := templateAge
		if strings.HasPrefix(e.Name(), "new-") {
			limit = time.Hour
		}
		if now.Sub(info.ModTime()) > limit {
			_ = os.RemoveAll(filepath.Join(base, e.Name()))
		}
	}
}

// copyTree copies directories and plain files.
func copyTree(ctx context.Context, from, to string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, rel)
		switch {
		case d.IsDir():
			return os.MkdirAll(target, 0o700)
		case d.Type().IsRegular():
			return copyFile(path, target)
		}
		return nil
	})
}

// copyFile copies a file with its holes. io.Copy between files lets the kernel copy, and
// share blocks where the file system can.
func copyFile(from, to string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, info.Mode().Perm())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	if err := out.Truncate(info.Size()); err != nil {
		return err
	}
	for at := int64(0); at < info.Size(); {
		begin, end, err := nextData(in, at)
		if errors.Is(err, unix.ENXIO) { // what follows is a hole
			return nil
		}
		if err != nil {
			begin, end = at, info.Size() // the file system knows no holes
		}
		if _, err := in.Seek(begin, io.SeekStart); err != nil {
			return err
		}
		if _, err := out.Seek(begin, io.SeekStart); err != nil {
			return err
		}
		if _, err := io.CopyN(out, in, end-begin); err != nil {
			return err
		}
		at = end
	}
	return nil
}

// nextData returns where the next data of a file are: from at on, up to a hole or the end.
// Source: lseek(2), SEEK_DATA.
func nextData(f *os.File, at int64) (begin, end int64, err error) {
	if begin, err = unix.Seek(int(f.Fd()), at, unix.SEEK_DATA); err != nil {
		return 0, 0, err
	}
	end, err = unix.Seek(int(f.Fd()), begin, unix.SEEK_HOLE)
	return begin, end, err
}

// holeSize is the least stretch of zeros that becomes a hole.
const holeSize = 64 << 10

// dig makes holes of the zeros in the files of a directory: nine tenths of what servers
// fill a new data directory with, for their logs above all. Where the file system has no
// holes they stay.
func dig(dir string) error {
	zeros, block := make([]byte, holeSize), make([]byte, holeSize)
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			return err
		}
		defer f.Close()
		for at := int64(0); ; at += holeSize {
			n, err := f.ReadAt(block, at)
			if n == holeSize && bytes.Equal(block, zeros) {
				const hole = unix.FALLOC_FL_PUNCH_HOLE | unix.FALLOC_FL_KEEP_SIZE
				if unix.Fallocate(int(f.Fd()), hole, at, holeSize) != nil {
					return fs.SkipAll
				}
			}
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err != nil {
				return err
			}
		}
	})
}

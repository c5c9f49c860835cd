package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"strings"

	"github.com/kasoku/kasoku/internal/command"
)

// paths are where a system keeps its last logins.
type paths struct {
	lastlog  string // file of records
	database string // of lastlog2
	command  string // that reads the database
}

// standard is where Linux distributions keep them. Sources: lastlog(5), lastlog2(8).
func standard() paths {
	return paths{lastlog: "/var/log/lastlog", database: "/var/lib/lastlog/lastlog2.db", command: "lastlog2"}
}

// chooseSource returns the source to read: the file that was asked for, else
// lastlog2 where the system has its database, else the file of records.
func chooseSource(file string, p paths) (source, error) {
	if file != "" {
		return recordFile{file, runtime.GOARCH}, nil
	}
	_, dbErr := os.Stat(p.database)
	if errors.Is(dbErr, fs.ErrNotExist) {
		_, fileErr := os.Stat(p.lastlog)
		if _, err := lookUp(p.command); err != nil || fileErr == nil {
			return recordFile{p.lastlog, runtime.GOARCH}, nil
		}
	}
	program, err := lookUp(p.command)
	if err != nil {
		return nil, fmt.Errorf("this system keeps logins in %s, and the command %s is missing: "+
			"install it (Debian: apt install lastlog2; elsewhere it is part of util-linux), or give --lastlog-file",
			p.database, p.command)
	}
	return database{program: program, file: p.database}, nil
}

// lookUp finds the command; a test names its own by a path.
func lookUp(name string) (string, error) {
	if strings.Contains(name, "/") {
		return command.LookPath(name)
	}
	return command.TrustedPath(name)
}

// A recordFile is a file of struct lastlog, one for each user id:
//
//	ll_time  4 or 8 bytes, seconds since 1970, in the machine's byte order
//	ll_line  32 bytes
//	ll_host  256 bytes
//
// Sources: lastlog(5); bits/wordsize.h of glibc, __WORDSIZE_TIME64_COMPAT32.
type recordFile struct {
	path string
	arch string // GOARCH of the machine that wrote the file
}

// Sizes of a record by the size of its time.
const (
	record32 = 4 + 32 + 256
	record64 = 8 + 32 + 256
)

// recordSize returns the size of a record in a file of a length. The
// architecture says it; only when its records do not fill the file and the other
// ones do, the file comes from another machine.
func recordSize(arch string, length int64) (int64, error) {
	size, other := int64(record32), int64(record64)
	switch arch {
	case "arm64", "riscv64", "loong64", "s390x":
		size, other = other, size
	}
	switch {
	case length%size == 0:
		return size, nil
	case length%other == 0:
		return other, nil
	}
	return 0, fmt.Errorf("%d bytes are no whole number of records of %d bytes", length, size)
}

func (r recordFile) lastLogins(_ context.Context, users []user) (map[string]int64, error) {
	f, err := os.Open(r.path)
	if err != nil {
		return nil, fmt.Errorf("read logins: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("read logins: %w", err)
	}
	size, err := recordSize(r.arch, info.Size())
	if err != nil {
		return nil, fmt.Errorf("read logins: %s: %w", r.path, err)
	}
	out := make(map[string]int64, len(users))
	for _, u := range users {
		at, err := readRecord(f, int64(u.uid)*size, size)
		if err != nil {
			return nil, fmt.Errorf("read login of %q: %w", u.name, err)
		}
		out[u.name] = at
	}
	return out, nil
}

// readRecord returns the time of the record at an offset, 0 past the end.
func readRecord(r io.ReaderAt, offset, size int64) (int64, error) {
	buf := make([]byte, size-32-256)
	if _, err := r.ReadAt(buf, offset); err == io.EOF {
		return 0, nil
	} else if err != nil {
		return 0, err
	}
	if len(buf) == 4 {
		// Unsigned since glibc 2.40; no login was before 1970.
		return int64(binary.NativeEndian.Uint32(buf)), nil
	}
	return int64(binary.NativeEndian.Uint64(buf)), nil
}

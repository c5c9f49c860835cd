package foreign

import (
	"bytes"
	"errors"
	"os"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"
)

// MostArguments is how much of a command line is read. A process says itself where in its
// memory its command line and its environment lie (PR_SET_MM_MAP of prctl(2), which takes no
// right): with memory that it never touches they are as long as its address space. They cannot
// hang: the kernel takes them from no file since Linux 4.17 (FOLL_ANON in fs/proc/base.c).
const MostArguments = 64 << 10

// Arguments returns the command line of a process, by its number in a directory that stands
// for /proc: its first MostArguments bytes. A program that writes its title there has one
// argument.
func Arguments(proc string, pid int) ([]string, error) {
	dir, err := unix.Open(proc+"/"+strconv.Itoa(pid), unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = unix.Close(dir) }() // only read
	return ArgumentsIn(dir, make([]byte, 4096))
}

// ArgumentsIn is Arguments of an open /proc/PID, read into buf where it has the room.
func ArgumentsIn(dir int, buf []byte) ([]string, error) {
	text, err := readMost(dir, "cmdline", buf, MostArguments)
	if err != nil {
		return nil, err
	}
	return splitArguments(text), nil
}

// splitArguments splits what /proc/PID/cmdline holds: each argument ends with a zero, a title
// with many.
func splitArguments(cmdline []byte) []string {
	var out []string
	for arg := range bytes.SplitSeq(bytes.TrimRight(cmdline, "\x00"), []byte{0}) {
		out = append(out, string(arg))
	}
	return out
}

// readMost returns the first most bytes of a file in a directory, in buf where it has the room.
func readMost(dir int, name string, buf []byte, most int) ([]byte, error) {
	fd, err := unix.Openat(dir, name, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = unix.Close(fd) }() // only read
	text := buf[:0]
	for len(text) < most {
		text = slices.Grow(text, 512)
		n, err := unix.Read(fd, text[len(text):min(cap(text), most)])
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return nil, err
		case len(text)+n < min(cap(text), most): // the kernel gives all that there is room for
			return text[:len(text)+n], nil
		default:
			text = text[:len(text)+n]
		}
	}
	return text, nil
}

// mostEnvironment is how much of an environment is searched: more than the kernel lets a
// program be started with where its stack has the usual 8 MB (execve(2)).
const mostEnvironment = 2 << 20

// EnvironmentHas reports whether the environment that a process was started with holds a text.
func EnvironmentHas(pid int, text string) bool {
	f, err := os.Open("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return false
	}
	defer f.Close()
	const block = 64 << 10
	buf := make([]byte, 0, block+len(text))
	for read := 0; read < mostEnvironment; {
		n, err := f.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if bytes.Contains(buf, []byte(text)) {
			return true
		}
		if n == 0 || err != nil {
			return false
		}
		read += n
		buf = buf[:copy(buf, buf[max(0, len(buf)-len(text)+1):])] // it may begin at the end of a block
	}
	return false
}

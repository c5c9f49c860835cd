package attack

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// silence is how long the file system of a liar leaves kasoku without an answer: more than any
// command may take, and not for ever, as who waits cannot be killed.
const silence = 25 * time.Second

// Requests of the kernel to a file system, and what most of them are answered with.
//
// Kernel: include/uapi/linux/fuse.h.
const (
	fuseLookup      = 1
	fuseForget      = 2
	fuseGetattr     = 3
	fuseSetattr     = 4
	fuseMknod       = 8
	fuseOpen        = 14
	fuseRead        = 15
	fuseWrite       = 16
	fuseStatfs      = 17
	fuseRelease     = 18
	fuseFlush       = 25
	fuseInit        = 26
	fuseOpendir     = 27
	fuseReaddir     = 28
	fuseReleasedir  = 29
	fuseInterrupt   = 36
	fuseBatchForget = 42

	fuseMost = 1<<20 + 4096 // bytes of one request
)

type fuseIn struct {
	Len, Op       uint32
	Unique, Node  uint64
	UID, GID, PID uint32
	_             uint32
}

type fuseAttr struct {
	Node, Size, Blocks                       uint64
	Atime, Mtime, Ctime                      uint64
	AtimeNs, MtimeNs, CtimeNs                uint32
	Mode, Links, UID, GID, Device, BlockSize uint32
	_                                        uint32
}

// A fuseEntry answers FUSE_LOOKUP; no part of it may be kept, so that each look asks.
type fuseEntry struct {
	Node, Generation   uint64
	Valid, AttrValid   uint64
	ValidNs, AttrValNs uint32
	Attr               fuseAttr
}

// silentFiles is a file system of a user's own that answers all but kasoku.
type silentFiles struct {
	fd    int
	uid   int
	of    string // program that is not answered
	asked string // file that says what that program asked
	mu    sync.Mutex
	nodes []silentNode // the first is the root directory
}

type silentNode struct {
	name string
	mode uint32
	text []byte
}

// beSilent mounts the file system and serves it until it is killed: the kernel lets go of all
// who wait then.
func beSilent() {
	if err := serveSilent(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func serveSilent() error {
	dir := os.Getenv("SILENT_DIR")
	var s silentFiles
	if _, err := fmt.Sscan(os.Getenv("SILENT_UID"), &s.uid); err != nil {
		return err
	}
	s.of, s.asked = os.Getenv("SILENT_OF"), os.Getenv("SILENT_ASKED")
	self, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		return err
	}
	point := filepath.Join(dir, "fuse")
	s.nodes = []silentNode{{"", unix.S_IFDIR | 0o755, nil}, {"work", unix.S_IFDIR | 0o755, nil},
		{"nginx", unix.S_IFREG | 0o755, self}, {"access.log", unix.S_IFREG | 0o644, nil},
		{"nginx.conf", unix.S_IFREG | 0o644, []byte("http { access_log " + point + "/access.log; server { listen 1; } }\n")},
		{"text", unix.S_IFREG | 0o644, bytes.Repeat([]byte("A"), 1<<16)}}
	if s.fd, err = unix.Open("/dev/fuse", unix.O_RDWR|unix.O_CLOEXEC, 0); err != nil {
		return fmt.Errorf("open /dev/fuse: %w", err)
	}
	options := fmt.Sprintf("fd=%d,rootmode=40000,user_id=%d,group_id=%d,allow_other", s.fd, s.uid, s.uid)
	if err := unix.Mount("silent", point, "fuse", unix.MS_NOSUID|unix.MS_NODEV, options); err != nil {
		return fmt.Errorf("mount %s: %w", point, err)
	}
	buf := make([]byte, fuseMost)
	for {
		n, err := unix.Read(s.fd, buf)
		switch {
		case errors.Is(err, unix.EINTR), errors.Is(err, unix.ENOENT): // ENOENT: it was taken back
			continue
		case err != nil:
			return fmt.Errorf("read /dev/fuse: %w", err)
		}
		var in fuseIn
		if k, err := binary.Decode(buf[:n], binary.LittleEndian, &in); err == nil {
			s.serve(in, bytes.Clone(buf[k:n]))
		}
		if in.Op == fuseInit {
			fmt.Println("mounted")
		}
	}
}

// serve answers a request, and one of kasoku's when the silence is over.
func (s *silentFiles) serve(in fuseIn, body []byte) {
	if in.Op == fuseForget || in.Op == fuseBatchForget || in.Op == fuseInterrupt {
		return // they have no answer
	}
	exe, _ := os.Readlink(fmt.Sprintf("/proc/%d/exe", in.PID)) // the kernel itself has none
	if exe != s.of || in.Op == fuseRelease || in.Op == fuseReleasedir || in.Op == fuseFlush {
		s.answer(in, body)
		return
	}
	stack, _ := os.ReadFile(fmt.Sprintf("/proc/%d/syscall", in.PID))
	f, err := os.OpenFile(s.asked, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err == nil {
		_, _ = fmt.Fprintf(f, "request %d about %s %q, in system call %s", in.Op, s.nodes[in.Node-1].name, tail(string(body)), stack)
		_ = f.Close()
	}
	time.AfterFunc(silence, func() { s.reply(in, unix.EIO, nil) })
}

func (s *silentFiles) answer(in fuseIn, body []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch in.Op {
	case fuseInit:
		// major, minor, readahead, flags; background, congestion; most bytes of a write, time's grain, …
		s.reply(in, 0, encode([4]uint32{7, 31, 0, 0}, [2]uint16{12, 9}, [11]uint32{4096, 1}))
	case fuseLookup:
		s.entry(in, strings.TrimRight(string(body), "\x00"))
	case fuseMknod:
		name := strings.TrimRight(string(body[16:]), "\x00")
		s.nodes = append(s.nodes, silentNode{name: name, mode: binary.LittleEndian.Uint32(body)})
		s.entry(in, name)
	case fuseGetattr, fuseSetattr:
		s.reply(in, 0, encode(uint64(0), uint64(0), s.attr(in.Node)))
	case fuseOpen, fuseOpendir:
		s.reply(in, 0, encode(uint64(0), uint64(0)))
	case fuseRead:
		from, size := binary.LittleEndian.Uint64(body[8:]), uint64(binary.LittleEndian.Uint32(body[16:]))
		text := s.nodes[in.Node-1].text
		from = min(from, uint64(len(text)))
		s.reply(in, 0, text[from:min(from+size, uint64(len(text)))])
	case fuseWrite:
		s.reply(in, 0, encode(uint64(binary.LittleEndian.Uint32(body[16:]))))
	case fuseStatfs:
		s.reply(in, 0, make([]byte, 80))
	case fuseReaddir, fuseRelease, fuseReleasedir, fuseFlush:
		s.reply(in, 0, nil)
	default:
		s.reply(in, unix.ENOSYS, nil)
	}
}

// entry answers with the node of a name, wherever it is looked for.
func (s *silentFiles) entry(in fuseIn, name string) {
	for i := range s.nodes {
		if s.nodes[i].name == name {
			node := uint64(i + 1)
			s.reply(in, 0, encode(fuseEntry{Node: node, Attr: s.attr(node)}))
			return
		}
	}
	s.reply(in, unix.ENOENT, nil)
}

// attr says that all is root's, which a user's file system may.
func (s *silentFiles) attr(node uint64) fuseAttr {
	n := s.nodes[node-1]
	return fuseAttr{Node: node, Size: uint64(len(n.text)), Mode: n.mode, Links: 1, BlockSize: 4096}
}

func (s *silentFiles) reply(in fuseIn, errno unix.Errno, body []byte) {
	head := encode(uint32(16+len(body)), -int32(errno), in.Unique)
	_, _ = unix.Write(s.fd, append(head, body...)) // who asked may have gone
}

func encode(parts ...any) (out []byte) {
	for _, p := range parts {
		out, _ = binary.Append(out, binary.LittleEndian, p) // all have a fixed size
	}
	return out
}

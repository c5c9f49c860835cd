package command

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/kasoku/kasoku/internal/contain"
)

// pipes carry a child's output to writers that are no files. Files are handed
// to the child as they are.
//
// It does what os/exec does for itself, to keep the end of the child distinct from
// the end of its output: a background process can hold a pipe open for ever.
type pipes struct {
	readers []*pipeReader
	writers []io.Writer
	ours    []*os.File // the child's ends, closed once it has them
	errs    chan error // one of each reader
}

// open prepares the command's stdout and stderr.
func (p *pipes) open(cmd *exec.Cmd, stdout, stderr io.Writer) error {
	out, err := p.end(stdout)
	if err != nil {
		return err
	}
	cmd.Stdout = out
	if sameWriter(stdout, stderr) {
		cmd.Stderr = out
		return nil
	}
	cmd.Stderr, err = p.end(stderr)
	return err
}

// end returns what the child writes to for the sake of w. The result is a nil
// interface for a nil writer: os/exec opens /dev/null then.
func (p *pipes) end(w io.Writer) (io.Writer, error) {
	if w == nil {
		return nil, nil
	}
	if f, ok := w.(*os.File); ok {
		return f, nil
	}
	r, child, err := os.Pipe()
	if err != nil {
		p.abandon()
		return nil, err
	}
	p.readers, p.writers, p.ours = append(p.readers, &pipeReader{file: r}), append(p.writers, w), append(p.ours, child)
	return child, nil
}

// FileID identifies an open file: two that have the same are one file, pipe or
// terminal. It is empty when nothing is known of the file.
func FileID(f *os.File) string {
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return ""
	}
	return fmt.Sprintf("%d:%d", st.Dev, st.Ino)
}

// outputPart names who takes a child's output, where that fails.
var outputPart = contain.Part{Kind: contain.Goroutine, Name: "output of a command"}

// copy starts one goroutine a pipe; finish waits for them.
func (p *pipes) copy() {
	for _, f := range p.ours {
		_ = f.Close()
	}
	p.errs = make(chan error, len(p.readers))
	for i, r := range p.readers {
		go func(w io.Writer) {
			err := contain.Do(outputPart, func() error { _, err := io.Copy(w, r); return err })
			if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
				// Closing the pipe lets the child see that it is not read any more.
				_ = r.file.Close()
			} else {
				err = nil
			}
			p.errs <- err
		}(p.writers[i])
	}
}

// finish waits for the end of the output, which a background process may keep
// open, and returns the first error.
func (p *pipes) finish() error {
	for _, r := range p.readers {
		r.end()
	}
	var first error
	for range p.readers {
		if err := <-p.errs; err != nil && first == nil {
			first = err
		}
	}
	for _, r := range p.readers {
		_ = r.file.Close()
	}
	return first
}

// abandon closes everything when there is no child.
func (p *pipes) abandon() {
	for _, f := range p.ours {
		_ = f.Close()
	}
	for _, r := range p.readers {
		_ = r.file.Close()
	}
}

// A pipeReader reads the output of a child that may have ended. What the child
// wrote before its end is read however slow the writer is; what comes later is
// awaited for outputDelay, and only so much of it is read.
type pipeReader struct {
	file  *os.File
	ended atomic.Bool
	late  int // bytes read since; only the reading goroutine uses it
}

// maxLate is more than a pipe holds: pipe(7), 64 KiB unless enlarged.
const maxLate = 1 << 20

// Read reads once from the pipe.
func (r *pipeReader) Read(b []byte) (int, error) {
	ended := r.ended.Load()
	if ended {
		if r.late >= maxLate {
			return 0, io.EOF
		}
		_ = r.file.SetReadDeadline(time.Now().Add(outputDelay)) // a pipe has deadlines
	}
	n, err := r.file.Read(b)
	if ended {
		r.late += n
	}
	return n, err
}

// end notifies the reader that the child is gone.
func (r *pipeReader) end() {
	r.ended.Store(true)
	_ = r.file.SetReadDeadline(time.Now().Add(outputDelay)) // for the Read that blocks already
}

func sameWriter(a, b io.Writer) bool {
	return a != nil && b != nil && reflect.TypeOf(a) == reflect.TypeOf(b) && reflect.TypeOf(a).Comparable() && a == b
}

// A Tail keeps the last bytes that were written to it, and passes all of them
// on to another writer, if it has one. It is safe for concurrent use, so stdout
// and stderr may share one.
type Tail struct {
	mu    sync.Mutex
	limit int
	buf   []byte // grows to at most twice the limit
	total uint64
}

// NewTail returns a Tail that keeps the last limit bytes.
func NewTail(limit int) *Tail { return &Tail{limit: max(limit, 0)} }

// Write keeps p. It never fails.
func (t *Tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := len(p)
	t.total += uint64(n)
	if n > t.limit {
		p = p[n-t.limit:]
	}
	if len(t.buf)+len(p) > 2*t.limit {
		keep := t.limit - len(p)
		t.buf = append(t.buf[:0], t.buf[len(t.buf)-keep:]...)
	}
	t.buf = append(t.buf, p...)
	return n, nil
}

// Bytes returns a copy of the last bytes.
func (t *Tail) Bytes() []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]byte(nil), t.buf[max(0, len(t.buf)-t.limit):]...)
}

// String returns the last bytes as a string.
func (t *Tail) String() string { return string(t.Bytes()) }

// Total returns how many bytes were written in all.
func (t *Tail) Total() uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.total
}

// Truncated reports whether more was written than is kept.
func (t *Tail) Truncated() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.total > uint64(t.limit)
}

// Tee returns a writer that keeps what passes in t before it goes on to w. What
// w refuses is kept all the same; the error stops the copying, as a closed
// terminal should.
func (t *Tail) Tee(w io.Writer) io.Writer { return io.MultiWriter(t, w) }

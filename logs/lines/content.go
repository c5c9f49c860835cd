package lines

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// A content is an input that is open: a range of a plain file, or a stream of
// bytes that are decompressed already.
type content struct {
	name string

	file     *os.File // nil for a stream
	from, to int64    // the range of it

	r    io.Reader // the stream
	raw  *rawReader
	size int64 // stored bytes that there are to read; 0 when unknown

	again  bool // the input can be opened again from its start
	opened []func() error
}

// open opens the input. An input that Peek has begun is gone on with. The
// context ends the wait for a pipe.
func (in *Input) open(ctx context.Context) (*content, error) {
	if c := in.begun; c != nil {
		c.raw.ctx = ctx
		return c, nil
	}
	f, own, err := in.handle()
	if err != nil {
		return nil, err
	}
	c := &content{name: in.name(), again: own || in.file != nil}
	if own {
		c.opened = append(c.opened, f.Close)
	}
	if f == nil {
		err = c.openStream(ctx, in.R)
	} else {
		err = c.openFile(ctx, f, in)
	}
	if err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// openFile takes a file for a range of plain bytes, or for a stream when it is
// compressed or no regular file.
func (c *content) openFile(ctx context.Context, f *os.File, in *Input) error {
	info, err := f.Stat()
	if err != nil {
		return fmt.Errorf("read log: %w", err)
	}
	if !info.Mode().IsRegular() {
		c.again = false
		return c.openStream(ctx, f)
	}
	c.from, c.to = in.From, in.To
	if in.file != nil {
		c.file, c.size = f, c.to-c.from
		return nil
	}
	if in.R != nil || in.Path == "-" { // from where it stands, as a stream would be
		at, err := f.Seek(0, io.SeekCurrent)
		if err != nil {
			return fmt.Errorf("read log %s: %w", c.name, err)
		}
		c.from, c.again = c.from+at, true
	}
	if c.to == 0 {
		c.to = info.Size()
	}
	c.to = max(c.to, c.from)
	c.size = c.to - c.from
	if in.From == 0 && in.To == 0 {
		var magic [magicLen]byte
		n, err := f.ReadAt(magic[:], c.from)
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("read log %s: %w", c.name, err)
		}
		if isPacked(magic[:n]) {
			return c.openStream(ctx, io.NewSectionReader(f, c.from, c.size))
		}
	}
	c.file = f
	return nil
}

// openStream puts a decompressor over a stream that needs one.
func (c *content) openStream(ctx context.Context, r io.Reader) error {
	c.raw = &rawReader{r: r, ctx: ctx}
	if f, ok := r.(*os.File); ok {
		c.raw.conn, _ = f.SyscallConn()
	}
	buffered := bufio.NewReaderSize(c.raw, 64<<10)
	magic, _ := buffered.Peek(magicLen) // reading says what is wrong
	plain, err := unpackContent(buffered, magic)
	if err != nil {
		return fmt.Errorf("read log %s: %w", c.name, err)
	}
	if plain == nil {
		c.r = buffered
		return nil
	}
	c.opened = append(c.opened, plain.close)
	plain.raw = c.raw
	c.r = plain
	return nil
}

// peek returns the first n bytes, which stay.
func (c *content) peek(n int) ([]byte, error) {
	if c.file != nil {
		b := make([]byte, min(int64(n), c.to-c.from))
		n, err := c.file.ReadAt(b, c.from)
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("read log %s: %w", c.name, err)
		}
		return b[:n], nil
	}
	r := bufio.NewReaderSize(c.r, n)
	c.r = r
	b, err := r.Peek(n)
	if err == nil || errors.Is(err, io.EOF) || len(b) > 0 && isDamage(err) {
		return b, nil
	}
	return nil, fmt.Errorf("read log %s: %w", c.name, err)
}

// Close closes what was opened.
func (c *content) Close() error {
	var errs []error
	for i := len(c.opened) - 1; i >= 0; i-- {
		errs = append(errs, c.opened[i]())
	}
	c.opened = nil
	return errors.Join(errs...)
}

// A rawReader reads what is stored, compressed or not. It remembers how much
// that was and which error ended it, so that looking ahead does not lose the error,
// and a broken disk is distinguished from broken contents.
type rawReader struct {
	r    io.Reader
	conn interface{ Control(func(fd uintptr)) error } // of a file that may keep one waiting; else nil
	ctx  context.Context                              // ends the wait
	n    int64
	err  error
}

func (r *rawReader) Read(p []byte) (int, error) {
	if r.err != nil {
		return 0, r.err
	}
	if err := r.wait(); err != nil {
		r.err = err
		return 0, err
	}
	n, err := r.r.Read(p)
	r.n += int64(n)
	r.err = err
	return n, err
}

// pollMillis is how often a wait for a pipe looks whether it is still wanted.
const pollMillis = 50

// wait returns when a read would not block, or when it is not wanted any more.
// A read of a pipe or terminal cannot be ended from outside: the open file is
// shared with other processes, so it must not be switched to another mode.
func (r *rawReader) wait() error {
	for {
		if err := r.ctx.Err(); err != nil {
			return err
		}
		if r.conn == nil {
			return nil
		}
		ready := 0
		var perr error
		err := r.conn.Control(func(fd uintptr) {
			ready, perr = unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, pollMillis)
		})
		if err != nil {
			return err
		}
		if ready > 0 || perr != nil && !errors.Is(perr, unix.EINTR) {
			return nil // the read says what is wrong
		}
	}
}

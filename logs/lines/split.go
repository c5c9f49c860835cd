package lines

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/kasoku/kasoku/internal/contain"
	"github.com/kasoku/kasoku/internal/pathwalk"
)

// A Block is some whole lines of an input, one after another as they are
// stored, with their newlines. Only the last line of an input may lack its own.
type Block struct {
	Input  int    // index of the input
	Seq    int    // number of the block: 0, 1, 2 … in the order of the inputs and their bytes
	Offset int64  // where it begins in its input, in decompressed bytes
	Data   []byte // valid until f returns; f may change it; empty only where a file was truncated while it was read
	Cut    int64  // when not 0, Data starts one line longer than MaxLine; this counts the rest, with the newline
}

// SplitOptions are how [Split] works. The zero value is usable.
type SplitOptions struct {
	Workers   int // how many f run at a time; 0: GOMAXPROCS
	BlockSize int // bytes; 0: DefaultBlockSize; never more than MaxLine
	MaxLine   int // bytes; 0: DefaultMaxLine

	// Progress is called with how many stored bytes were handed out, of how many;
	// total is 0 when an input's size is not known. It is called for each block, never
	// twice at a time, and holds the others up.
	Progress func(done, total int64)

	// Failed is called when an error or the end of the context ends the work, so
	// that blocks which were begun may never come to f: an f that waits for
	// others must not wait any more. It may be called several times.
	Failed func()

	// Note receives what was unusual about an input: truncated while it was read,
	// compressed data that ends in the middle. It is called before Split returns,
	// in the order of the inputs.
	Note func(input int, text string)
}

// DefaultBlockSize is how long a block is, in bytes, but for the last of an
// input and for longer lines. It fits a core's cache beside the tables that are
// filled from it, and costs a lock and two reads per thousand lines.
const DefaultBlockSize = 256 << 10

// Split hands the lines of all inputs to f in blocks. It calls f at the same
// time for different workers, numbered from 0, never for one worker twice at a
// time. Which block goes to which worker depends on timing; the blocks
// themselves, their numbers and offsets do not, nor on the number of workers.
//
// A file ends where it ended when Split came to it. One that is truncated later
// gives fewer bytes and a note, and so does compressed data that ends too early
// or is damaged, unless nothing at all can be read of it, which is an error.
//
// The first error, of f or of reading, ends the work, as the end of the context
// does: no block is begun after it, and Split returns when all workers have.
//
// Memory: a block for each worker, and one more for a stream. A worker whose
// turn it is takes the next stretch of the input; of a plain file it only looks
// for the newline that ends it and reads it afterwards, beside the others; a
// stream it decompresses, while the others work on what came before.
func Split(ctx context.Context, in []Input, o SplitOptions, f func(worker int, b *Block) error) error {
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	if o.MaxLine <= 0 {
		o.MaxLine = DefaultMaxLine
	}
	if o.BlockSize <= 0 {
		o.BlockSize = DefaultBlockSize
	}
	o.BlockSize = min(o.BlockSize, o.MaxLine)
	s := &splitter{caller: ctx, in: in, o: o, block: Block{Input: -1, Seq: -1}, notes: make([]note, len(in))}
	s.ctx, s.cancel = context.WithCancelCause(ctx)
	defer s.cancel(nil)
	if o.Progress != nil {
		s.total = StoredBytes(in)
	}
	var wg sync.WaitGroup
	for id := range o.Workers {
		wg.Go(func() {
			if err := contain.Run(splitPart, func() { s.work(id, f) }); err != nil {
				s.stop(err)
			}
		})
	}
	wg.Wait()
	s.close()
	s.passNotes()
	return s.err
}

// splitPart names the reading of logs where it fails: a decompressor, for one.
var splitPart = contain.Part{Kind: contain.Log, Name: "bytes"}

// StoredBytes returns how many bytes the inputs take, 0 when the size of one is
// unknown.
func StoredBytes(in []Input) (sum int64) {
	for i := range in {
		from, to := in[i].From, in[i].To
		if to == 0 && in[i].file == nil {
			st, err := pathwalk.Stat(in[i].Path)
			if in[i].R != nil || err != nil || !pathwalk.IsRegular(&st) {
				return 0
			}
			to = st.Size
		}
		sum += max(to-from, 0)
	}
	return sum
}

// A splitter is the state of one Split.
type splitter struct {
	caller context.Context
	ctx    context.Context         // the caller's, and done at the first error
	cancel context.CancelCauseFunc // with that error
	in     []Input
	o      SplitOptions

	mu            sync.Mutex // guards what follows
	err           error
	cur           *content // nil before the first input and between two
	file          *shared  // cur's, when it is a file
	pos           int64    // where the next block begins in cur
	block         Block    // the last one handed out, without Data
	probe         []byte   // to look for a newline
	rest          []byte   // of a stream: the first bytes of what comes next
	back          []byte   // where rest lies
	eof           bool     // of a stream
	fail          error    // what ended the stream, to be returned once its bytes are handed out
	before, total int64    // stored bytes of the inputs before cur, and of all
	notes         []note   // by input
}

type note struct {
	lost int64 // bytes of a file that was truncated
	text string
}

// A shared is a file that several workers read. It is closed after the last.
type shared struct {
	*content
	users atomic.Int32
}

func (f *shared) release() {
	if f.users.Add(-1) == 0 {
		f.Close()
	}
}

// A stretch is what a worker has to read by itself; file is nil when the block
// is complete.
type stretch struct {
	file *shared
	at   int64
	n    int
}

// work takes blocks until there are no more.
func (s *splitter) work(id int, f func(int, *Block) error) {
	var b Block
	var buf []byte
	for {
		todo, ok := s.take(&b, &buf)
		if !ok {
			return
		}
		if todo.file != nil {
			buf = makeRoom(buf, todo.n)
			n, err := todo.file.file.ReadAt(buf[:todo.n], todo.at)
			todo.file.release()
			b.Data = buf[:n]
			if n < todo.n && !s.short(b.Input, int64(todo.n-n), todo, err) {
				return
			}
		}
		if err := f(id, &b); err != nil {
			s.stop(err)
			return
		}
	}
}

// makeRoom returns a buffer of at least n bytes, buf when it is. Blocks differ by a
// line, so it makes a little more.
func makeRoom(buf []byte, n int) []byte {
	const step = 16 << 10
	if cap(buf) >= n {
		return buf[:cap(buf)]
	}
	return make([]byte, (n+step-1)&^(step-1))
}

// short notices a file that gave fewer bytes than it had.
func (s *splitter) short(input int, lost int64, at stretch, err error) bool {
	if !errors.Is(err, io.EOF) {
		s.stop(fmt.Errorf("read log %s at byte %d: %w", at.file.name, at.at, err))
		return false
	}
	s.mu.Lock()
	s.notes[input].lost += lost
	s.mu.Unlock()
	return true
}

// stop ends the work because of that error, if it is the first, also a wait for
// a pipe.
func (s *splitter) stop(err error) {
	s.cancel(err)
	s.failed()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = s.stopped()
}

func (s *splitter) failed() {
	if s.o.Failed != nil {
		s.o.Failed()
	}
}

// stopped returns why no more is wanted, nil when it is.
func (s *splitter) stopped() error {
	if err := s.caller.Err(); err != nil {
		return err
	}
	return context.Cause(s.ctx)
}

// take gives the next block, but for the bytes of a plain file.
func (s *splitter) take(b *Block, buf *[]byte) (stretch, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.err == nil {
		if s.err = s.stopped(); s.err != nil {
			break
		}
		if s.cur == nil && !s.nextInput() {
			break
		}
		s.block.Offset, s.block.Cut = s.pos, 0
		var todo stretch
		var ok bool
		if s.file != nil {
			todo, ok = s.takeFile()
		} else {
			s.block.Data, ok = s.takeStream(buf)
		}
		if s.err != nil {
			break
		}
		if !ok {
			s.endInput()
			continue
		}
		s.block.Seq++
		*b = s.block
		s.block.Data = nil
		s.progress()
		return todo, true
	}
	if s.err != nil {
		s.cancel(s.err)
		s.err = s.stopped() // the first one, if f failed meanwhile
		s.failed()
	}
	return stretch{}, false
}

// nextInput opens the next input.
func (s *splitter) nextInput() bool {
	if s.block.Input+1 >= len(s.in) {
		return false
	}
	s.block.Input++
	s.cur, s.err = s.in[s.block.Input].open(s.ctx)
	if s.err != nil {
		s.cur = nil
		return false
	}
	s.pos, s.eof, s.fail = 0, false, nil
	if s.cur.file == nil {
		return true
	}
	s.file = &shared{content: s.cur}
	s.file.users.Store(1)
	return true
}

// endInput lets go of the input; workers may still read its file.
func (s *splitter) endInput() {
	if s.before += s.cur.size; s.cur.size == 0 && s.cur.raw != nil {
		s.before += s.cur.raw.n
	}
	if s.file != nil {
		s.file.release()
	} else {
		s.cur.Close()
	}
	s.cur, s.file = nil, nil
	s.progress()
}

// close lets go of an input that was not read to its end.
func (s *splitter) close() {
	if s.cur == nil {
		return
	}
	if s.cur.size = s.pos; s.file == nil {
		s.cur.size = s.cur.raw.n
	}
	s.endInput()
}

func (s *splitter) progress() {
	if s.o.Progress == nil {
		return
	}
	done := s.before
	switch {
	case s.file != nil:
		done += s.pos
	case s.cur != nil:
		done += s.cur.raw.n
	}
	s.o.Progress(done, s.total)
}

func (s *splitter) passNotes() {
	if s.o.Note == nil {
		return
	}
	for i, n := range s.notes {
		if n.lost > 0 {
			s.o.Note(i, fmt.Sprintf("%s was truncated while it was read: %d bytes are lost", s.in[i].name(), n.lost))
		}
		if n.text != "" {
			s.o.Note(i, n.text)
		}
	}
}

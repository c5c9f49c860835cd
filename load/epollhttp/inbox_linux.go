//go:build amd64 || arm64

package epollhttp

import (
	"syscall"
	"time"
)

// An inbox is what a shard reads into, and when that came, which may be some time
// before it is read.
type inbox struct {
	buf      []byte        // what was read last
	receiver receiver      // into buf
	came     time.Duration // when the bytes in buf had come; never: not known
	stamped  bool          // the kernel said when
	big      bool          // an answer was too large to be left to the kernel for a while
}

func (b *inbox) init() {
	b.buf = make([]byte, readSize)
	b.receiver.init(b.buf)
	b.came = never
}

// receive reads into buf. Where times count, it notes when the kernel had it: wall is
// the wall clock's time at the start of the load.
func (b *inbox) receive(fd int32, timed bool, wall int64) (int, syscall.Errno) {
	if !timed {
		return recvFrom(fd, b.buf)
	}
	n, stamp, e := b.receiver.recv(fd)
	b.came = never
	if n > 0 {
		if b.stamped = stamp > 0; b.stamped {
			b.came = time.Duration(stamp - wall)
		}
	}
	return n, e
}

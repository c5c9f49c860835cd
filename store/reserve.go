package store

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Room for the end of a run is taken beforehand: blocks of the file system that
// belong to the log and lie after its last byte. So a recorder on a disk that is
// full can still store what became of the run and of what it changed, and
// no one else can fill that room meanwhile.
//
// Source: fallocate(2), FALLOC_FL_KEEP_SIZE.
type room struct {
	log   *os.File // the write-ahead log; nil where none can be kept
	size  int64    // of the log when it was looked at last
	until int64    // up to this offset its blocks are there
}

const (
	// endBytes is the room that is kept: the rows of a run's end with a thousand
	// series take half of it.
	endBytes = 512 << 10
	// endLeast is what must be left of it for anything else to be stored.
	endLeast = endBytes * 3 / 4
)

// openRoom keeps room in the log of a run file. The log has no locks that closing
// it could give up; those are of the file and of the index.
func openRoom(path string) *room {
	f, err := os.OpenFile(path+"-wal", os.O_WRONLY, 0)
	if err != nil {
		return &room{}
	}
	return &room{log: f}
}

// keep takes what is missing of the room. It fails when too little is left for
// the end. A file system that keeps no room is no error.
func (r *room) keep() error {
	if r.log == nil {
		return nil
	}
	var st unix.Stat_t
	if err := unix.Fstat(int(r.log.Fd()), &st); err != nil {
		return fmt.Errorf("look at the log: %w", err)
	}
	if st.Size < r.size { // it was cut, and its room with it
		r.until = st.Size
	}
	r.size, r.until = st.Size, max(r.until, st.Size)
	if r.until-st.Size > endBytes*7/8 {
		return nil
	}
	err := unix.Fallocate(int(r.log.Fd()), unix.FALLOC_FL_KEEP_SIZE, r.until, st.Size+endBytes-r.until)
	switch {
	case err == nil:
		r.until = st.Size + endBytes
	case errors.Is(err, unix.EINTR):
	case !IsFull(err): // it cannot be done here
		r.close()
	case r.until-st.Size < endLeast:
		return fmt.Errorf("keep room for the end of the run: %w", err)
	}
	return nil
}

func (r *room) close() {
	if r.log != nil {
		_ = r.log.Close()
		r.log = nil
	}
}

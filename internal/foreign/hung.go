package foreign

import (
	"errors"
	"sync"
	"time"

	"github.com/kasoku/kasoku/internal/contain"
)

// ErrHung means that a file of a process did not answer in time, or another of the same user's
// had not before: a server may be gone (NFS), a file system may be a user's own (FUSE).
var ErrHung = errors.New("it does not answer")

// patience is how long the kernel may take for one answer about a file.
const patience = time.Second

// hung are the users of whose processes a file did not answer, and when. For hungFor no more is
// asked about theirs: each question would leave a thread, and a look would end before it came to
// the others. Root is not among them, nor who is not known: that is no single user.
var hung sync.Map

const hungFor = time.Minute

// Patiently calls fn, which asks about a file that a process of a user has, and returns
// [ErrHung] when it does not return in time. It is left alone then, and must change nothing
// that others have.
func Patiently[T any](uid int, fn func() (T, error)) (out T, err error) {
	type answer struct {
		out T
		err error
	}
	if since, known := hung.Load(uid); known && time.Since(since.(time.Time)) < hungFor {
		return out, ErrHung
	}
	done := make(chan answer, 1)
	go func() {
		var a answer
		a.err = contain.Do(readPart, func() (err error) { a.out, err = fn(); return err })
		done <- a
	}()
	limit := time.NewTimer(patience)
	defer limit.Stop()
	select {
	case a := <-done:
		return a.out, a.err
	case <-limit.C:
		if uid > 0 {
			hung.Store(uid, time.Now())
		}
		return out, ErrHung
	}
}

package lines

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/kasoku/kasoku/internal/contain"
)

// A panic while a log is read, in a decompressor or in what is done with a block, ends
// the reading of that log with an error; nothing waits for ever.
func TestSplitBug(t *testing.T) {
	defer contain.Forget()
	for _, in := range [][]Input{{{R: panicking{}}}, {{R: strings.NewReader("a\nb\n")}}} {
		err := Split(context.Background(), in, SplitOptions{Workers: 3}, func(int, *Block) error { panic("private") })
		var bug *contain.Bug
		if !errors.As(err, &bug) || strings.Contains(err.Error(), "private") {
			t.Errorf("%v", err)
		}
	}
}

type panicking struct{}

func (panicking) Read([]byte) (int, error) { panic("private") }

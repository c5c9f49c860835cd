package slowlog

import (
	"context"
	"fmt"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/lines"
)

// CollectAll reads the inputs, one after another, into a table and describes
// what it read of each. The result is the same for any number of workers. The
// progress, which may be nil, is told the bytes read and the bytes there are, 0
// when that is not known. On an error, both hold what was read before.
func CollectAll(ctx context.Context, in []lines.Input, o Options, progress func(done, total int64)) (*Table, []kasoku.LogWindow, error) {
	t := NewTable(o)
	var windows []kasoku.LogWindow
	for i := range in {
		if err := ctx.Err(); err != nil {
			return t, windows, err
		}
		src, err := lines.Open(in[i:i+1], 0)
		if err != nil {
			return t, windows, fmt.Errorf("slow log: %w", err)
		}
		r := NewReader(src)
		for r.Scan() {
			t.Add(r.Event())
		}
		windows = append(windows, r.Account().Window("slowlog", r.Format(), src, t.notes()...))
		src.Close()
		if err := r.Err(); err != nil {
			return t, windows, fmt.Errorf("slow log: %w", err)
		}
	}
	return t, windows, nil
}

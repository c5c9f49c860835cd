package accesslog

import (
	"context"
	"errors"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/logs/accessformat"
	"github.com/kasoku/kasoku/logs/lines"
)

// CollectEach is [CollectAll] of logs one after another, each into a table of its own, which
// [Table.Merge] adds up. So which values are too many to be names is decided in each log and then of what
// is left of them, whoever read which log: what hosts read of their own gives the same table.
func CollectEach(
	ctx context.Context, in []lines.Input, o Options, progress func(done, total int64),
) (*Table, []kasoku.LogWindow, error) {
	if err := o.Validate(); err != nil {
		return nil, nil, err
	}
	total := NewTable(o)
	var windows []kasoku.LogWindow
	var unknown []error
	size := lines.StoredBytes(in)
	var before int64
	for i := range in {
		t, w, err := CollectAll(ctx, in[i:i+1], o, func(done, own int64) {
			if progress != nil {
				progress(before+done, max(size, own))
			}
		})
		switch {
		case t == nil && i == 0:
			return nil, nil, err
		case t == nil:
			return total, windows, err
		}
		for k := range t.slow.heap {
			t.slow.heap[k].place.input = i
		}
		total.Merge(t)
		windows = append(windows, w...)
		if one := new(accessformat.UnknownFormatError); errors.As(err, &one) {
			unknown = append(unknown, err)
		} else if err != nil {
			return total, windows, err
		}
		before += lines.StoredBytes(in[i : i+1])
	}
	if len(unknown) == 1 {
		return total, windows, unknown[0]
	}
	return total, windows, errors.Join(unknown...)
}

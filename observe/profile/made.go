package profile

import (
	"fmt"
	"strconv"
	"strings"

	pprof "github.com/google/pprof/profile"

	"github.com/kasoku/kasoku"
)

// ReadFolded makes a profile of stacks in the format that [WriteFolded] writes, one a
// line, outermost function first. Kind, unit and values are as given; files and
// lines are not known.
func ReadFolded(text string, kind kasoku.ProfileKind, unit string) (kasoku.Profile, error) {
	p := &pprof.Profile{SampleType: []*pprof.ValueType{{Type: values[kind], Unit: unit}}}
	at := map[string]*pprof.Location{}
	number := 0
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimRight(line, "\r\n")
		if line == "" {
			continue
		}
		space := strings.LastIndexByte(line, ' ')
		v, err := strconv.ParseInt(line[space+1:], 10, 64)
		if space <= 0 || err != nil || v < 0 || v > mostValue {
			return kasoku.Profile{}, fmt.Errorf("line %d: want stack and value: %q", number, line)
		}
		s := &pprof.Sample{Value: []int64{v}}
		names := strings.Split(line[:space], ";")
		for i := len(names) - 1; i >= 0; i-- {
			l := at[names[i]]
			if l == nil {
				fn := &pprof.Function{ID: uint64(len(at) + 1), Name: names[i]}
				l = &pprof.Location{ID: fn.ID, Line: []pprof.Line{{Function: fn}}}
				at[names[i]] = l
				p.Function, p.Location = append(p.Function, fn), append(p.Location, l)
			}
			s.Location = append(s.Location, l)
		}
		p.Sample = append(p.Sample, s)
	}
	if err := clean(p); err != nil {
		return kasoku.Profile{}, err
	}
	return packed(kind, p)
}

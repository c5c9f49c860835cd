package accessformat

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/kasoku/kasoku/internal/contain"
	"github.com/kasoku/kasoku/logs"
	"github.com/kasoku/kasoku/logs/lines"
)

// maxText is how much of a line an error shows, in bytes.
const maxText = 200

// groupLines is how many lines decide what format a log has.
const groupLines = 64

// minKnown is how many known keys a line of an unknown format must have: other
// logs have times and messages as well.
const minKnown = 2

// The formats that are recognised by their keys, made when they are first asked for: their tables are 50 kB each.
var (
	ltsvFormat = sync.OnceValue(func() *Format { return keyFormat("ltsv", byLTSV) })
	jsonFormat = sync.OnceValue(func() *Format { return keyFormat("json", byJSON) })
)

func keyFormat(name string, kind kind) *Format {
	return &Format{name: name, kind: kind, keys: newKeyTable(""), needs: minKnown, unit: time.Second, resolution: time.Millisecond}
}

// eachLine calls f for the first lines that are not blank, with their numbers.
func eachLine(sample []byte, f func(number int64, line []byte)) {
	for number, n := int64(1), 0; len(sample) > 0 && n < groupLines; number++ {
		var line []byte
		line, sample, _ = bytes.Cut(sample, []byte("\n"))
		if line = bytes.TrimRight(line, "\r"); len(bytes.TrimSpace(line)) > 0 {
			f(number, bytes.TrimPrefix(line, []byte(byteOrderMark)))
			n++
		}
	}
}

// takeLines returns the first lines that are not blank, which decide on a format, and
// what comes after them. Each line is looked at once, however many are blank.
func takeLines(sample []byte) (head, rest []byte) {
	for n := 0; len(sample) > 0 && n < groupLines; {
		line := sample
		if i := bytes.IndexByte(sample, '\n'); i >= 0 {
			line = sample[:i+1]
		}
		sample = sample[len(line):]
		if len(bytes.TrimSpace(line)) > 0 {
			head = append(head, line...)
			n++
		}
	}
	return head, sample
}

// Detect finds the format of a log from a part of it that ends with a whole line. It
// goes through the lines in groups of 64, and the first group of which a line is
// understood decides: the format is the one of which the most lines make sense, so
// that a log may begin with the messages of a program. Where a line does not have the
// format that was found but another one, a parser reads it nevertheless. The error is
// an [*UnknownFormatError] without a path, or the bug that ended the search.
func Detect(sample []byte) (*Format, error) { return detectWithin(context.Background(), sample) }

// detectWithin is [Detect], and ends with the context.
func detectWithin(ctx context.Context, sample []byte) (f *Format, err error) {
	for rest := sample; len(rest) > 0; {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		var head []byte
		head, rest = takeLines(rest)
		if err := contain.Run(formatPart, func() { f = detectGroup(head) }); err != nil {
			return nil, err
		}
		if f != nil {
			return f, nil
		}
	}
	return nil, unknownFormat(sample)
}

// peeked are how many bytes of an input are looked at for its format: first
// few, and more when nothing is understood.
var peeked = []int{64 << 10, 4 << 20}

// DetectInput finds the format of an input from its first 64 KiB, and from its first
// 4 MiB where those hold nothing that is understood. It consumes nothing of the input.
// Its errors are those of [Detect] and of the input.
func DetectInput(ctx context.Context, in *lines.Input) (*Format, error) {
	for i, n := range peeked {
		sample, whole, err := peekLines(ctx, in, n)
		if err != nil {
			return nil, err
		}
		f, err := detectWithin(ctx, sample)
		var unknown *UnknownFormatError
		if whole || i == len(peeked)-1 || !errors.As(err, &unknown) {
			if f != nil {
				f = f.lackingOf(sample)
			}
			return f, err
		}
	}
	panic("unreachable")
}

// peekLines returns the lines in the first n bytes of an input, and whether they are
// all of it.
func peekLines(ctx context.Context, in *lines.Input, n int) (sample []byte, whole bool, err error) {
	sample, err = in.PeekContext(ctx, n)
	whole = len(sample) < n
	if i := bytes.LastIndexByte(sample, '\n'); i >= 0 && !whole {
		sample = sample[:i+1]
	}
	return sample, whole, err
}

// formatPart names what looks at the first lines of an input.
var formatPart = contain.Part{Kind: contain.Log, Name: "format of an access log"}

// detectGroup returns the format of lines none of which is blank; nil when none is
// understood.
func detectGroup(sample []byte) *Format {
	var best *Format
	most := 0
	try := func(f *Format) {
		if f == nil {
			return
		}
		if n := f.understood(sample); n > most {
			best, most = f, n
		}
	}
	try(jsonFormat())
	try(ltsvFormat())
	for _, f := range tried() {
		try(f)
	}
	try(inferCombined(sample))
	if best == nil {
		for _, root := range jsonRoots(sample) {
			try(&Format{name: "json in " + root, kind: byJSON, keys: newKeyTable(root + "."), needs: minKnown,
				unit: time.Second})
		}
	}
	if best == nil {
		return nil
	}
	best = best.Sniffed(sample)
	best.nameFrom(sample)
	best.others, best.detected = otherFormats(best), true
	return best
}

// understood returns how many lines of a sample are records of the format. Where values
// are known by their place, a line that has none but the path does not count: it would
// fit nearly any format.
func (f *Format) understood(sample []byte) (n int) {
	p := f.Parser(ParserOptions{})
	var r Record
	byKeys := f.kind == byLTSV || f.kind == byJSON
	eachLine(sample, func(_ int64, line []byte) {
		if p.Parse(line, &r) == "" && (byKeys || r.Has != 0 || len(r.Method) > 0) {
			n++
		}
	})
	return n
}

// nameFrom says more of the format than its family.
func (f *Format) nameFrom(sample []byte) {
	switch {
	case f.kind == byJSON && bytes.Contains(sample, []byte(`"DownstreamStatus"`)):
		f.name = "json of Traefik"
	case f.kind == byJSON && bytes.Contains(sample, []byte(`"request":{`)) &&
		bytes.Contains(sample, []byte(`"http.log.access`)):
		f.name = "json of Caddy"
	case f.name == combinedName:
		f.name = "combined without request time"
		if f.resolution > 0 {
			f.name = "combined, request time in " + f.unitWords()
		}
	}
}

// unitWords names the unit of a combined line's request time.
func (f *Format) unitWords() string {
	unit := f.unit
	for _, s := range f.program.steps {
		if s.what == aLatency && s.unit != 0 {
			unit = s.unit
		}
	}
	if unit == time.Second && f.resolution == time.Second {
		return "whole s"
	}
	return unitName(unit)
}

// otherFormats returns the formats that single lines of a log may have.
func otherFormats(f *Format) []*Format {
	var out []*Format
	if f.kind != byJSON {
		out = append(out, jsonFormat())
	}
	if f.kind != byLTSV {
		out = append(out, ltsvFormat())
	}
	combined := *anyCombined
	if f.kind == byProgram && f.unit != 0 {
		combined.unit = f.unit
	}
	return append(out, &combined)
}

// jsonRoots returns the names of objects that the first JSON line has.
func jsonRoots(sample []byte) []string {
	var out []string
	eachLine(sample, func(_ int64, line []byte) {
		for i := 0; i < len(line); {
			n := bytes.Index(line[i:], []byte(`":`))
			if n < 0 {
				return
			}
			key := line[i : i+n]
			i += n + 2
			rest := bytes.TrimLeft(line[i:], " ")
			start := bytes.LastIndexByte(key, '"')
			if len(rest) == 0 || rest[0] != '{' || start < 0 {
				continue
			}
			if name := string(key[start+1:]); name != "" && len(name) <= maxLabel && len(out) < 8 &&
				!slices.Contains(out, name) && !strings.Contains(name, `\`) {
				out = append(out, name)
			}
		}
	})
	return out
}

// unknownFormat reports that no line of a sample is understood.
func unknownFormat(sample []byte) *UnknownFormatError {
	e := &UnknownFormatError{}
	eachLine(sample, func(number int64, line []byte) {
		if e.Line == 0 {
			e.Line, e.Text = number, string(logs.AppendSafe(nil, line, maxText))
		}
	})
	return e
}

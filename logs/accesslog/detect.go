package accesslog

import (
	"bytes"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku/logs"
)

// maxText is how much of a line an error shows, in bytes.
const maxText = 200

// sniffed is how many lines decide what format a log has.
const sniffed = 64

// minKnown is how many known keys a line of an unknown format must have: other
// logs have times and messages as well.
const minKnown = 2

// The formats that are recognised by their keys.
var (
	ltsvFormat = &Format{name: "ltsv", kind: byLTSV, keys: newKeyTable(""), needs: minKnown, unit: time.Second,
		resolution: time.Millisecond}
	jsonFormat = &Format{name: "json", kind: byJSON, keys: newKeyTable(""), needs: minKnown, unit: time.Second,
		resolution: time.Millisecond}
)

// eachLine calls f for the first lines that are not blank, with their numbers.
func eachLine(sample []byte, f func(number int64, line []byte)) {
	for number, n := int64(1), 0; len(sample) > 0 && n < sniffed; number++ {
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
	for n := 0; len(sample) > 0 && n < sniffed; {
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

// Detect finds the format of a log from its first lines: the one of which the
// most lines make sense. The sample ends with a whole line. Where a line does not
// have the format that was found but another one, a parser reads it
// nevertheless. The error is an [*UnknownFormatError] without a path.
func Detect(sample []byte) (*Format, error) {
	head, _ := takeLines(sample)
	if f := formatOf(head); f != nil {
		return f, nil
	}
	return nil, unknownFormat(sample)
}

// formatOf is [Detect] of lines none of which is blank; nil when none is understood.
func formatOf(sample []byte) *Format {
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
	try(jsonFormat)
	try(ltsvFormat)
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
	best.others = otherFormats(best)
	return best
}

// understood returns how many lines of a sample are records of the format. A line whose
// fields by place are all missing but the path says nothing of the format.
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
		out = append(out, jsonFormat)
	}
	if f.kind != byLTSV {
		out = append(out, ltsvFormat)
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

// unknownFormat says that no line of a sample is understood.
func unknownFormat(sample []byte) *UnknownFormatError {
	e := &UnknownFormatError{}
	eachLine(sample, func(number int64, line []byte) {
		if e.Line == 0 {
			e.Line, e.Text = number, string(logs.AppendSafe(nil, line, maxText))
		}
	})
	return e
}

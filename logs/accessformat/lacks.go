package accessformat

import (
	"bytes"
	"encoding/json"
	"time"

	"github.com/kasoku/kasoku"
)

// lackable are the values that a log may lack and still be read, the heaviest loss first.
var lackable = []struct {
	what field
	kasoku.LogLack
}{
	{aLatency, kasoku.LogLack{Variable: "$request_time", Lost: "how long the requests of each endpoint took"}},
	{anUpstream, kasoku.LogLack{Variable: "$upstream_response_time", Lost: "which requests reached the application, and how long it took"}},
	{anAgent, kasoku.LogLack{Variable: "$http_user_agent", Lost: "which requests were those of bots"}},
	{aSize, kasoku.LogLack{Variable: "$body_bytes_sent", Lost: "how much was sent"}},
	{aConnect, kasoku.LogLack{Variable: "$upstream_connect_time", Lost: "which requests opened a connection to the application"}},
	{aRequestSize, kasoku.LogLack{Variable: "$request_length", Lost: "how much was received"}},
}

// fineStamp is the lack of times that are coarser than a second's fraction.
var fineStamp = kasoku.LogLack{Variable: "$msec", Lost: "when within its second a request ended, so which statements it ran"}

// Lacks returns the values that findings rest on and that lines of the format do not
// have, by the names and keys that stand in the first lines of a log. It allocates, and
// is for the first lines alone.
func (f *Format) Lacks(sample []byte) (lacks []kasoku.LogLack) {
	var carried [numFields]bool
	for _, m := range f.meanings(sample) {
		carried[m] = true
	}
	for _, l := range lackable {
		if !carried[l.what] {
			lacks = append(lacks, l.LogLack)
		}
	}
	if carried[aTime] && f.coarse(sample) {
		lacks = append(lacks, fineStamp)
	}
	return lacks
}

// meanings returns what the values of a line mean.
func (f *Format) meanings(sample []byte) (out []field) {
	switch f.kind {
	case byProgram:
		for i := range f.program.steps {
			out = append(out, f.program.steps[i].what)
		}
	case byRegexp:
		for i := range f.groups {
			out = append(out, f.groups[i].what)
		}
	default:
		eachLine(sample, func(_ int64, line []byte) {
			for _, key := range keysOf(f.kind, line, deepestKey) {
				if s := f.keys[key]; s != nil {
					out = append(out, s.what)
				}
			}
		})
	}
	return out
}

// deepestKey is how many names a key that means something has: request.headers.Referer.
const deepestKey = 3

// keysOf returns the keys of a line of LTSV, or of a JSON object with those of the
// objects in it, which have its name and a point before them; of deep names at most.
func keysOf(k kind, line []byte, deep int) (keys []string) {
	if k == byLTSV {
		for part := range bytes.SplitSeq(line, []byte{'\t'}) {
			if label, _, ok := bytes.Cut(part, []byte{':'}); ok {
				keys = append(keys, string(label))
			}
		}
		return keys
	}
	var object map[string]json.RawMessage
	if json.Unmarshal(line, &object) != nil {
		return nil
	}
	for key, value := range object {
		keys = append(keys, key)
		if deep > 1 && len(value) > 0 && value[0] == '{' {
			for _, inner := range keysOf(k, value, deep-1) {
				keys = append(keys, key+"."+inner)
			}
		}
	}
	return keys
}

// coarse reports whether the times of lines are whole seconds.
func (f *Format) coarse(sample []byte) (coarse bool) {
	p := f.Parser(ParserOptions{})
	eachLine(sample, func(_ int64, line []byte) {
		var r Record
		if p.Parse(line, &r) == "" && r.Stamped() {
			coarse = r.Resolution >= time.Second
		}
	})
	return coarse
}

// Lacking returns the [Format.Lacks] of the lines that the format was found by; empty
// for a format that was not found in an input.
func (f *Format) Lacking() []kasoku.LogLack { return f.lacks }

// lackingOf returns the format with what the sample's lines lack.
func (f *Format) lackingOf(sample []byte) *Format {
	out := *f
	out.lacks = f.Lacks(sample)
	return &out
}

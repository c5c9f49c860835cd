package fleet

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/histogram"
)

// A FrameQuestion asks for what a load has counted after frame After, and says that the
// frames up to it have come, so that the host may forget them.
type FrameQuestion struct {
	Run   string
	After uint64
}

// FrameAnswer are frames in their order, as many as one message holds.
type FrameAnswer struct {
	Error  string `json:",omitempty"` // such as an unknown run
	Boot   string
	Frames []Frame
}

// A StopQuestion asks a host to send no more.
type StopQuestion struct {
	Run  string
	Hard bool // abort what is in flight, too

	// Discard says that no one will ask for what was counted, so the host may take another load.
	Discard bool `json:",omitempty"`
}

// A Frame is what a host's share of a load counted since the frame before. Frame numbers
// begin at 1 and leave none out, so each is counted once, whatever is asked again.
type Frame struct {
	Number  uint64
	Seconds []Second // of the load: the same one comes again when more of it has ended
	End     *End     // of the last frame
}

// An End is how a host's share came to its end.
type End struct {
	Error    string `json:",omitempty"` // it could not begin
	Summary  kasoku.LoadSummary
	Warnings []kasoku.Warning
}

// A Second is a [kasoku.LoadSecond] with its histograms encoded.
type Second struct {
	kasoku.LoadSecond
	Latency, SendDelay, Service []byte
}

// MaxAnswer is how large the frames of an answer may be together, in bytes: well below what
// a message may be.
const MaxAnswer = 400 << 10

// EncodeSecond returns a second as it travels.
func EncodeSecond(s kasoku.LoadSecond) (Second, error) {
	out := Second{LoadSecond: s}
	var errs [3]error
	out.Latency, errs[0] = s.Latency.AppendBinary(nil)
	out.SendDelay, errs[1] = s.SendDelay.AppendBinary(nil)
	out.Service, errs[2] = s.Service.AppendBinary(nil)
	out.LoadSecond.Latency, out.LoadSecond.SendDelay, out.LoadSecond.Service = nil, nil, nil
	return out, errors.Join(errs[:]...)
}

// Decode returns the second. It fails when its counts contradict one another.
func (s *Second) Decode() (kasoku.LoadSecond, error) {
	out := s.LoadSecond
	var codes uint64
	for code, n := range s.Codes {
		if code < 0 || code > 999 || n > s.Asked-codes {
			return out, errors.New("status codes that do not add up")
		}
		codes += n
	}
	for _, part := range []struct {
		b   []byte
		out **histogram.Histogram
	}{{s.Latency, &out.Latency}, {s.SendDelay, &out.SendDelay}, {s.Service, &out.Service}} {
		h := new(histogram.Histogram)
		if err := h.UnmarshalBinary(part.b); err != nil {
			return out, err
		}
		if h.Count() != s.Asked {
			return out, fmt.Errorf("a histogram of %d in a second of %d requests", h.Count(), s.Asked)
		}
		*part.out = h
	}
	if codes != s.Asked {
		return out, fmt.Errorf("status codes of %d in a second of %d requests", codes, s.Asked)
	}
	if s.Expected > s.Asked {
		return out, fmt.Errorf("%d expected answers in a second of %d requests", s.Expected, s.Asked)
	}
	var failed uint64
	for message, n := range s.Errors {
		if len(message) > maxMessage || n > s.Asked-failed {
			return out, errors.New("error messages that do not add up")
		}
		failed += n
	}
	return out, nil
}

// maxMessage bounds an error message of a host.
const maxMessage = 4 << 10

// Cut returns seconds as frames from a number on, none larger than an answer may be by
// itself.
func Cut(seconds []kasoku.LoadSecond, from uint64) (out []Frame, sizes []int, err error) {
	var f Frame
	size := 0
	flush := func() {
		if len(f.Seconds) > 0 {
			f.Number = from + uint64(len(out))
			out, sizes = append(out, f), append(sizes, size)
			f, size = Frame{}, 0
		}
	}
	for i := range seconds {
		s, err := EncodeSecond(seconds[i])
		if err != nil {
			return nil, nil, fmt.Errorf("encode second: %w", err)
		}
		b, err := json.Marshal(s)
		if err != nil {
			return nil, nil, fmt.Errorf("encode second: %w", err)
		}
		if size+len(b) > MaxAnswer/2 {
			flush()
		}
		f.Seconds, size = append(f.Seconds, s), size+len(b)
	}
	flush()
	return out, sizes, nil
}

package rules

import (
	"bytes"
	"io"
	"time"
)

// shifted writes an access log in LTSV whose times are ahead of the clock.
type shifted struct {
	io.Writer
	ahead time.Duration
}

func (s shifted) Write(line []byte) (int, error) {
	if s.ahead == 0 {
		return s.Writer.Write(line)
	}
	const layout = "2006-01-02T15:04:05.000000Z07:00"
	stamp, rest, _ := bytes.Cut(bytes.TrimPrefix(line, []byte("time:")), []byte("\t"))
	t, err := time.Parse(layout, string(stamp))
	if err != nil {
		return 0, err
	}
	_, err = s.Writer.Write(append([]byte("time:"+t.Add(s.ahead).Format(layout)+"\t"), rest...))
	return len(line), err
}

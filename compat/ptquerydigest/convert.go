package ptquerydigest

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"sync"

	"github.com/kasoku/kasoku/internal/contain"
	"github.com/kasoku/kasoku/internal/lazyregexp"
	"github.com/kasoku/kasoku/logs/lines"
)

// A converter turns general logs and raw statements into slow logs that have of them what
// pt-query-digest sees: no times, and every command but Query an administrator command. It
// writes where an event lies in its file as the number of its connection, since that is written
// nowhere else.
type converter struct {
	w     *bufio.Writer
	event []byte // the statement that may go on in the next line
	open  bool
	admin bool
	head  generalHead
	at    int64
}

// A generalHead is the first line of an event of a general log.
type generalHead struct {
	time, user, host, db, command []byte
}

// convertInputs returns inputs that read as slow logs. Stop ends the conversions and
// waits for them; it must be called when all has been read.
func convertInputs(in []lines.Input, kind string) (out []lines.Input, stop func()) {
	var wg sync.WaitGroup
	var readers []*io.PipeReader
	for _, from := range in {
		r, w := io.Pipe()
		readers = append(readers, r)
		out = append(out, lines.Input{Path: from.Path, R: r})
		wg.Go(func() {
			c := &converter{w: bufio.NewWriter(w)}
			w.CloseWithError(contain.Do(contain.Part{Kind: contain.Log, Name: kind},
				func() error { return c.run(from, kind == "genlog") }))
		})
	}
	return out, func() {
		for _, r := range readers {
			r.Close() // a writer that waits gets an error
		}
		wg.Wait()
	}
}

func (c *converter) run(in lines.Input, general bool) error {
	src, err := lines.Open([]lines.Input{in}, 0)
	if err != nil {
		return err
	}
	defer src.Close()
	for src.Scan() {
		if general {
			err = c.generalLine(src.Bytes(), src.Offset())
		} else {
			err = c.rawLine(src.Bytes(), src.Offset())
		}
		if err != nil {
			return err
		}
	}
	if err := c.end(); err != nil {
		return err
	}
	if err := src.Err(); err != nil {
		return err
	}
	return c.w.Flush()
}

func (c *converter) rawLine(text []byte, at int64) error {
	if len(bytes.TrimSpace(text)) == 0 {
		return nil
	}
	c.head, c.admin, c.open, c.at = generalHead{}, false, true, at
	c.event = append(c.event[:0], text...)
	return c.end()
}

var (
	generalLine = lazyregexp.New(`^(\d{6} {1,2}\d{1,2}:\d\d:\d\d|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\S*)?\s+\d+\s([A-Z][a-z]+(?: DB)?)(?:\s+(.*))?$`)
	connectArg  = lazyregexp.New(`^([^@\s]*)@(\S*?) on (\w*)`)
)

// generalLine takes a line of a general log. One without a head goes on with the
// statement before.
func (c *converter) generalLine(text []byte, at int64) error {
	m := generalLine().FindSubmatch(text)
	if m == nil {
		if c.open && !c.admin {
			c.event = append(append(c.event, '\n'), text...)
		}
		return nil
	}
	if err := c.end(); err != nil {
		return err
	}
	c.head = generalHead{time: bytes.Clone(m[1]), command: bytes.Clone(m[2])}
	c.at, c.open, c.admin = at, true, string(m[2]) != "Query"
	arg := bytes.TrimRight(m[3], " \t\r")
	switch string(m[2]) {
	case "Query":
		c.event = append(c.event[:0], arg...)
	case "Connect":
		if who := connectArg().FindSubmatch(arg); who != nil {
			c.head.user, c.head.host, c.head.db = bytes.Clone(who[1]), bytes.Clone(who[2]), bytes.Clone(who[3])
		}
	case "Init DB":
		c.head.db = bytes.Clone(arg)
	}
	return nil
}

// end writes the event that is open.
func (c *converter) end() error {
	if !c.open {
		return nil
	}
	c.open = false
	h := &c.head
	if len(h.time) > 0 {
		fmt.Fprintf(c.w, "# Time: %s\n", h.time)
	}
	fmt.Fprintf(c.w, "# User@Host: %s[%[1]s] @ %s []\n# Thread_id: %d\n# Query_time: 0\n", h.user, h.host, c.at)
	if len(h.db) > 0 {
		fmt.Fprintf(c.w, "use %s;\n", h.db)
	}
	if c.admin {
		fmt.Fprintf(c.w, "# administrator command: %s;\n", h.command)
	} else {
		c.w.Write(c.event)
		c.w.WriteString(";\n")
	}
	_, err := c.w.Write(nil) // returns the first error of all
	return err
}

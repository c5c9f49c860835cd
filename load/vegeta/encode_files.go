package vegeta

import (
	"context"
	"errors"
	"fmt"
	"io"
)

// writeSize is how much Encode writes at once.
const writeSize = 64 << 10

// EncodeOptions are those of Vegeta's encode command.
type EncodeOptions struct {
	To     Encoding // empty means JSON, as for Vegeta
	Files  []string // of results; "stdin" and "-" are Stdin, as is no file at all
	Output string   // file; empty, "stdout" and "-" are Stdout
	Stdin  io.Reader
	Stdout io.Writer
}

// Validate reports an encoding that is none.
func (o *EncodeOptions) Validate() error {
	_, err := NewEncoder(io.Discard, o.To)
	return err
}

// Encode writes the results in the files, whatever their encodings, in another
// one. When a file cannot be read to its end, or ctx is cancelled, it writes
// what it has, up to the end of a result; the first also returns the error.
func Encode(ctx context.Context, o EncodeOptions) (err error) {
	if o.To == "" {
		o.To = JSON
	}
	enc, err := NewEncoder(nil, o.To)
	if err != nil {
		return err
	}
	in, closeFiles, err := openResults(o.Files, o.Stdin)
	if err != nil {
		return err
	}
	defer closeFiles()
	out, closeOut, err := openOutput(o.Output, o.Stdout)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeOut()) }()

	var (
		r   Result
		h   headers
		buf []byte
	)
	for ctx.Err() == nil && err == nil {
		if err = in.read(&r, &h); err == nil {
			buf, err = enc.coder.append(buf, &r, &h)
		}
		if len(buf) >= writeSize || err != nil {
			if _, failed := out.Write(buf); failed != nil {
				return fmt.Errorf("write results: %w", failed)
			}
			buf = buf[:0]
		}
	}
	if len(buf) > 0 {
		if _, err := out.Write(buf); err != nil {
			return fmt.Errorf("write results: %w", err)
		}
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return err
}

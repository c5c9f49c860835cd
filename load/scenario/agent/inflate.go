package agent

import (
	"bytes"
	"io"
	"slices"
	"sync"

	"github.com/kasoku/kasoku/load/http1"
	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
)

// acceptEncoding is what inflater can decode.
const acceptEncoding = "gzip, deflate"

// An inflater decodes bodies. It keeps its readers, which are large. It is safe
// for concurrent use; the zero value is ready.
type inflater struct {
	gzip, zlib, flate sync.Pool // of io.Reader
}

// asksForCompression reports whether the agent, and not its user, has asked for
// compression.
func (x *call) asksForCompression() bool {
	return !x.a.opts.NoCompression && x.r.Header["Accept-Encoding"] == nil
}

// decode replaces the body of a response by what it is when decoded, which may be
// max bytes long. A body in an encoding that was not asked for stays as it is.
func (f *inflater) decode(res *Response, encoding []byte, max int64) error {
	src := bytes.NewReader(res.Body)
	var pool *sync.Pool
	var r io.Reader
	var err error
	switch {
	case equalsFold(encoding, "gzip"), equalsFold(encoding, "x-gzip"):
		pool = &f.gzip
		if z, ok := pool.Get().(*gzip.Reader); ok {
			r, err = z, z.Reset(src)
		} else {
			r, err = gzip.NewReader(src)
		}
	case equalsFold(encoding, "deflate") && hasZlibHeader(res.Body):
		pool = &f.zlib
		if z, ok := pool.Get().(zlib.Resetter); ok {
			r, err = z.(io.Reader), z.Reset(src, nil)
		} else {
			r, err = zlib.NewReader(src)
		}
	case equalsFold(encoding, "deflate"):
		// Some servers take RFC 9110 by its word and leave the zlib header out.
		pool = &f.flate
		if z, ok := pool.Get().(flate.Resetter); ok {
			r, err = z.(io.Reader), z.Reset(src, nil)
		} else {
			r = flate.NewReader(src)
		}
	default:
		return nil
	}
	if err != nil {
		return err
	}
	res.decoded, err = readAll(r, res.decoded[:0], 4*len(res.Body), max)
	pool.Put(r)
	res.Body = res.decoded
	return err
}

// hasZlibHeader looks at the first two bytes (RFC 1950, 2.2).
func hasZlibHeader(b []byte) bool {
	return len(b) >= 2 && b[0]&0x0f == 8 && (int(b[0])<<8|int(b[1]))%31 == 0
}

// readAll appends what r gives to dst: about so many bytes, at most max.
func readAll(r io.Reader, dst []byte, about int, max int64) ([]byte, error) {
	dst = slices.Grow(dst, about)
	for {
		if len(dst) == cap(dst) {
			dst = slices.Grow(dst, len(dst))
		}
		n, err := r.Read(dst[len(dst):cap(dst)])
		dst = dst[:len(dst)+n]
		switch {
		case int64(len(dst)) > max:
			return dst[:max], &http1.BodyTooLongError{Max: max}
		case err == io.EOF:
			return dst, nil
		case err != nil:
			return dst, err
		}
	}
}

package epollhttp

// A parser reads the answers of one connection, one after the other. It judges
// them as net/http does: the same code, the same bytes of body, the same words
// for what is wrong, the same opinion on whether the connection can be kept.
//
// It keeps nothing of the bytes that it is fed. The zero value is ready for
// [parser.start]. Not for concurrent use.
type parser struct {
	code      int    // status of the final answer; valid once feed or eof said done
	status    string // "404 Not Found"; only of a code outside 200..399, stale otherwise
	body      uint64 // bytes of the body so far, without transfer encoding; not decompressed
	keepAlive bool   // the server will keep the connection; valid once done
	location  []byte // Location of a 3xx answer; empty without one; valid until start

	memo *memo // what parsers of one thread share; nil: nothing
}

// A memo is shared by the parsers of one thread, to know again a header that
// came before.
type memo struct{}

// start makes ready for the next answer. With head it answers a HEAD request.
func (p *parser) start(head bool) {}

// feed takes what was read. It consumes n bytes: all of them, or those up to the
// end of the final answer when done; what is left then belongs to the next
// answer, or to nobody, and with nothing in flight the connection must not be
// used again. After an error the connection is of no use.
func (p *parser) feed(b []byte) (n int, done bool, err error) { return 0, false, nil }

// eof takes that the server has closed its side: done when that ends the body,
// otherwise the error of net/http, which is io.EOF when nothing had come.
func (p *parser) eof() (done bool, err error) { return false, nil }

// broke returns the error of net/http for a connection on which reading failed
// with cause. It is cause itself when nothing had come.
func (p *parser) broke(cause error) error { return cause }

// began reports whether a byte of this answer has come.
func (p *parser) began() bool { return false }

// inHeader reports whether the header of the final answer is not complete yet.
// net/http's client puts method and URL before errors then, and not later: see
// [template.wrap].
func (p *parser) inHeader() bool { return false }

package epollhttp

import "github.com/kasoku/kasoku/load"

// A template makes the bytes of the requests to one target. They are those that
// net/http would send. It is immutable and safe for concurrent use.
type template struct {
	host       string // to connect to, "host:port"
	head       bool   // the method is HEAD
	idempotent bool   // net/http would send it again when an idle connection turns out to be closed
	close      bool   // asks the server to close the connection
}

// newTemplates makes the templates of the targets, by Hit.Target.
func newTemplates(targets []load.Target, o *Options) ([]template, error) {
	return make([]template, len(targets)), nil
}

// newTemplate makes the template of one target.
func newTemplate(t *load.Target, o *Options) (template, error) { return template{}, nil }

// append appends the whole request n. bodyBytes is the length of its body before
// transfer encoding. It does not allocate beyond dst.
func (t *template) append(dst []byte, n uint64) (out []byte, bodyBytes uint64) { return dst, 0 }

// static returns the request and the length of its body when it is the same for
// every n. The bytes must not be changed.
func (t *template) static() (request []byte, bodyBytes uint64, ok bool) { return nil, 0, false }

// wrap words the failure of request n before its answer's header was complete,
// as http.Client does: `Get "http://…": EOF`.
func (t *template) wrap(n uint64, err error) error { return err }

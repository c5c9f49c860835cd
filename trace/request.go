package trace

// A Request is what a client asks for.
type Request struct {
	Method string
	Path   string // without the query
	Host   string // that the client named
}

package trace

// A Request is what a client asks for.
type Request struct {
	Method string
	Path   string // without the query
	Choice string // key=value of the query by which programs choose what they do, as [routes.AppendChoice] has it
	Host   string // that the client named
}

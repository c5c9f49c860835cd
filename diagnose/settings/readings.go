package settings

// readings are what a check reads of the server. They remember what it needs and the
// server did not report.
type readings struct {
	*state
	missing    []string
	distrusted string // why a counter that was read does not count; empty when all do
}

// v returns a variable in force that the check needs.
func (r *readings) v(name string) float64 {
	v, ok := r.number(name)
	if !ok {
		r.missing = append(r.missing, name)
	}
	return v
}

// will returns the value that a variable the check needs is going to have.
func (r *readings) will(name string) float64 {
	v, ok := r.state.will(name)
	if !ok {
		r.missing = append(r.missing, name)
	}
	return v
}

// need returns a variable in force that is a word and that the check needs.
func (r *readings) need(name string) string {
	v, ok := r.Variables[name]
	if !ok {
		r.missing = append(r.missing, name)
	}
	return v
}

// s returns a status variable at the end.
func (r *readings) s(name string) float64 {
	v, ok := r.Status[name]
	if !ok {
		r.missing = append(r.missing, name)
	}
	return v
}

// g returns how much a status variable grew.
func (r *readings) g(name string) float64 {
	from := r.Status
	if r.Grown != nil {
		from = r.Grown
	}
	v, ok := from[name]
	if !ok {
		r.missing = append(r.missing, name)
	}
	if why, ok := r.Disturbed[name]; ok {
		r.distrust(why)
	}
	return max(v, 0)
}

// has reports whether the server has a status variable.
func (r *readings) has(name string) bool {
	if r.Grown != nil {
		_, ok := r.Grown[name]
		return ok
	}
	_, ok := r.Status[name]
	return ok
}

// perDay is how often something happened, per day.
func (r *readings) perDay(n float64) float64 {
	if r.span() <= 0 {
		return 0
	}
	return n * day.Seconds() / r.span().Seconds()
}

// perSec is how often something happened, per second.
func (r *readings) perSec(n float64) float64 {
	if r.span() <= 0 {
		return 0
	}
	return n / r.span().Seconds()
}

// distrust notes why a counter does not count; the first reason stays.
func (r *readings) distrust(why string) {
	if r.distrusted == "" {
		r.distrusted = why
	}
}

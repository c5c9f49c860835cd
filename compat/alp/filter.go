package alp

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/vm"
)

// A filter is the expression of --filters.
type filter struct {
	program *vm.Program
}

// filterEnv is what an expression may ask of a request.
type filterEnv struct {
	Uri          string // as people write it
	Method       string
	Time         string
	ResponseTime float64
	BodyBytes    float64
	Status       int
}

// compileFilter reads an expression. Times without an offset are those of the
// location; ago returns now.
func compileFilter(text string, loc *time.Location, now func() time.Time) (*filter, error) {
	f := filterTimes{loc: loc, now: now}
	program, err := expr.Compile(text,
		expr.Env(filterEnv{}), expr.AsBool(), expr.Patch(f),
		expr.Function("TimeAgo", f.ago, new(func(string) time.Time)),
		expr.Function("BetweenTime", f.between, new(func(string, string, string) bool)),
		expr.Function(compareTimes, f.compare, new(func(string, any, any) bool)),
	)
	if err != nil {
		return nil, fmt.Errorf("--filters %q: %w", text, err)
	}
	return &filter{program}, nil
}

// match reports whether a request is wanted.
func (f *filter) match(m *vm.VM, env filterEnv) (bool, error) {
	out, err := m.Run(f.program, env)
	if err != nil {
		return false, fmt.Errorf("--filters: %w", err)
	}
	return out.(bool), nil
}

// filterTimes are the functions of expressions that know of time.
type filterTimes struct {
	loc *time.Location
	now func() time.Time
}

// compareTimes is what a comparison of times becomes, a call that says how.
const compareTimes = "compareTimes"

// Visit makes comparisons with Time and TimeAgo compare times, not texts.
func (f filterTimes) Visit(node *ast.Node) {
	b, ok := (*node).(*ast.BinaryNode)
	if !ok || !isTime(b.Left) && !isTime(b.Right) {
		return
	}
	switch b.Operator {
	case "==", "!=", "<", "<=", ">", ">=":
		ast.Patch(node, &ast.CallNode{
			Callee:    &ast.IdentifierNode{Value: compareTimes},
			Arguments: []ast.Node{&ast.StringNode{Value: b.Operator}, b.Left, b.Right},
		})
	}
}

func isTime(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.IdentifierNode:
		return n.Value == "Time"
	case *ast.CallNode:
		id, ok := n.Callee.(*ast.IdentifierNode)
		return ok && id.Value == "TimeAgo"
	case *ast.BuiltinNode:
		return n.Name == "TimeAgo"
	}
	return false
}

// compare compares two times, as texts when one is none.
func (f filterTimes) compare(args ...any) (any, error) {
	a, aOK := f.time(args[1])
	b, bOK := f.time(args[2])
	c := a.Compare(b)
	if !aOK || !bOK {
		x, xOK := args[1].(string)
		y, yOK := args[2].(string)
		if !xOK || !yOK {
			return false, nil
		}
		c = strings.Compare(x, y)
	}
	switch args[0] {
	case "==":
		return c == 0, nil
	case "!=":
		return c != 0, nil
	case "<":
		return c < 0, nil
	case "<=":
		return c <= 0, nil
	case ">":
		return c > 0, nil
	}
	return c >= 0, nil
}

func (f filterTimes) ago(args ...any) (any, error) {
	d, err := time.ParseDuration(args[0].(string))
	if err != nil {
		return nil, err
	}
	return f.now().Add(-d), nil
}

// between reports whether a time lies between two others, both included; false
// when one of them is no time.
func (f filterTimes) between(args ...any) (any, error) {
	at, ok1 := f.time(args[0])
	from, ok2 := f.time(args[1])
	to, ok3 := f.time(args[2])
	return ok1 && ok2 && ok3 && !at.Before(from) && !at.After(to), nil
}

// timeLayouts are how logs and people write times.
var timeLayouts = []string{
	"02/Jan/2006:15:04:05 -0700", time.RFC3339Nano, "2006-01-02T15:04:05-0700", "2006-01-02 15:04:05",
	"2006-01-02T15:04:05",
	"2006-01-02 15:04:05 -0700", "2006-01-02 15:04:05-07:00", "2006-01-02 15:04", "2006-01-02T15:04", "2006-01-02",
	"2006/01/02 15:04:05", "2006/01/02", "02/Jan/2006:15:04:05", time.RFC1123, time.RFC1123Z, time.ANSIC,
	time.UnixDate, time.StampMilli,
}

// time returns the time that a value stands for: a text, also seconds since 1970, or
// a time.
func (f filterTimes) time(v any) (time.Time, bool) {
	switch v := v.(type) {
	case time.Time:
		return v, true
	case string:
		for _, layout := range timeLayouts {
			if t, err := time.ParseInLocation(layout, v, f.loc); err == nil {
				return t, true
			}
		}
		if s, err := strconv.ParseFloat(v, 64); err == nil && s > 1e8 && s < 1e11 {
			return time.UnixMicro(int64(s * 1e6)), true
		}
	}
	return time.Time{}, false
}

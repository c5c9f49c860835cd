package program

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// SingleDash lets the long flags of a struct with the tags of go-flags be written
// as Go's package flag has them: with one dash, with the value after = or in the
// next word whatever that begins with, and with =true and =false after switches.
// Words after the first that is no flag, or after --, stay as they are.
func SingleDash(into any, args []string) []string {
	switches := longFlags(reflect.TypeOf(into).Elem())
	switches["help"], switches["version"] = true, true
	out := make([]string, 0, len(args))
	for i := 0; i < len(args); i++ {
		name, value, hasValue := strings.Cut(strings.TrimLeft(args[i], "-"), "=")
		isSwitch, known := switches[name]
		switch dashes := len(args[i]) - len(strings.TrimLeft(args[i], "-")); {
		case dashes == 0 || args[i] == "--":
			return append(out, args[i:]...)
		case !known || dashes > 2:
			out = append(out, args[i])
		case isSwitch && hasValue:
			on, err := strconv.ParseBool(value)
			if err != nil {
				out = append(out, "--"+name+"="+value) // it is refused
				break
			}
			out = slices.DeleteFunc(out, func(s string) bool { return s == "--"+name }) // the last one counts
			if on {
				out = append(out, "--"+name)
			}
		case isSwitch || hasValue || i+1 == len(args):
			out = append(out, "--"+strings.TrimLeft(args[i], "-"))
		default:
			i++
			out = append(out, "--"+name+"="+args[i])
		}
	}
	return out
}

// longFlags returns the long flags of a struct, those of embedded ones too, and
// whether each is a switch.
func longFlags(t reflect.Type) map[string]bool {
	out := map[string]bool{}
	for f := range t.NumField() {
		field := t.Field(f)
		if field.Anonymous && field.Type.Kind() == reflect.Struct {
			for name, isSwitch := range longFlags(field.Type) {
				out[name] = isSwitch
			}
		}
		if name := field.Tag.Get("long"); name != "" {
			out[name] = field.Type.Kind() == reflect.Bool
		}
	}
	return out
}

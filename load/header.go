package load

import (
	"fmt"
	"net/http"

	"golang.org/x/net/http/httpguts"
)

// CheckHeader returns an error when a name or a value could not be sent.
func CheckHeader(h http.Header) error {
	for name, values := range h {
		if !httpguts.ValidHeaderFieldName(name) {
			return fmt.Errorf("bad header name %q", name)
		}
		for _, v := range values {
			if !httpguts.ValidHeaderFieldValue(v) {
				return fmt.Errorf("bad value %q of header %q", v, name)
			}
		}
	}
	return nil
}

package record

import (
	"fmt"

	"github.com/kasoku/kasoku"
)

// setAside lists which journals could not be believed and what that means: what a
// recording of before changed is not known any more, and looks like the server's own
// setting.
func (d *database) setAside() (out []kasoku.Warning) {
	for _, a := range d.hold.Aside() {
		out = append(out, kasoku.Warning{Code: "journal-set-aside",
			Text: fmt.Sprintf("%s; it was set aside as %s. Should a recording before this one have been killed, what it "+
				"changed on the server is taken for the server's own settings", a.Why, a.Path),
			Hint: "look whether these are as your option file has them: SHOW GLOBAL VARIABLES WHERE Variable_name IN " +
				"('slow_query_log', 'long_query_time', 'log_output', 'min_examined_row_limit')"})
	}
	return out
}

package finalize

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/kasoku/kasoku/internal/unit"
)

// sizes are how long files are.
type sizes map[string]int64

// sizesOf returns how long each file is; one that is not there has none.
func sizesOf(paths []string) sizes {
	out := sizes{}
	for _, path := range paths {
		if st, err := os.Stat(path); err == nil && st.Mode().IsRegular() {
			out[path] = st.Size()
		}
	}
	return out
}

// logs looks which logs grew during the walk, the last run included.
func (w *walker) logs(context.Context) {
	const what = "silent"
	if len(w.Silent) == 0 {
		w.result.skip(PartLogs, what, "no log in kasoku.toml")
		return
	}
	bad, good := w.began.grown(w.Silent), []string{unit.Counted(len(w.Silent), "log", "logs") + " did not grow"}
	for _, still := range w.began.grown(w.Written) {
		good = append(good, "still written, as finalize.logs allows: "+still)
	}
	w.result.check(PartLogs, what, bad, good, "`access_log off;` in nginx.conf, the application's log level to error; then reload")
}

// grown says by how much each of the logs has grown since then. A shorter
// one was rotated, and grew by what it holds.
func (s sizes) grown(paths []string) []string {
	var out []string
	now := sizesOf(paths)
	for _, path := range paths {
		by := now[path]
		if was := s[path]; by >= was {
			by -= was
		}
		if by > 0 {
			out = append(out, fmt.Sprintf("%s +%s", filepath.Base(path), unit.Bytes(uint64(by))))
		}
	}
	return out
}

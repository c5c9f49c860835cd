package finalize

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/kasoku/kasoku/internal/unit"
)

// sizesOf returns how long each file is; one that is not there has none.
func sizesOf(paths []string) map[string]int64 {
	out := map[string]int64{}
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
		w.skip(PartLogs, what, "no log in kasoku.toml")
		return
	}
	bad, good := w.grown(w.Silent), []string{unit.Counted(len(w.Silent), "log", "logs") + " did not grow"}
	for _, still := range w.grown(w.Written) {
		good = append(good, "still written, as finalize.logs allows: "+still)
	}
	w.check(PartLogs, what, bad, good, "`access_log off;` in nginx.conf, the application's log level to error; then reload")
}

// grown says by how much each of the logs grew since the walk began. A shorter
// one was rotated, and grew by what it holds.
func (w *walker) grown(paths []string) []string {
	var out []string
	now := sizesOf(paths)
	for _, path := range paths {
		by := now[path]
		if was := w.began[path]; by >= was {
			by -= was
		}
		if by > 0 {
			out = append(out, fmt.Sprintf("%s +%s", filepath.Base(path), unit.Bytes(uint64(by))))
		}
	}
	return out
}

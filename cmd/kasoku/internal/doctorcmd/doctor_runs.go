package doctorcmd

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/store"
)

// checkOpenRuns describes which run files others may read: those that an older kasoku made,
// or that --share did. A run has statements and settings of the host.
func (x loadExam) checkOpenRuns() {
	var open, where []string
	for _, dir := range cli.RunDirs("") {
		// A directory with signs of a pattern in its name is not looked at.
		paths, _ := filepath.Glob(filepath.Join(dir, "*"+store.Extension))
		before := len(open)
		for _, path := range paths {
			if st, err := os.Lstat(path); err == nil && st.Mode().IsRegular() && st.Mode()&0o044 != 0 {
				open = append(open, path)
			}
		}
		if len(open) > before {
			where = append(where, unit.ShellQuote(dir)+"/*"+store.Extension)
		}
	}
	if len(open) == 0 {
		return
	}
	x.add(check{
		Area: areaLoad, Name: "run files", State: checkWarn,
		Seen:   fmt.Sprintf("other users can read %d of the run files, such as %s", len(open), open[0]),
		Lost:   "nothing of a run; its statements, paths and settings are theirs to read",
		Grants: []grant{{inShell, "chmod go-rwx " + strings.Join(where, " ")}},
	})
}

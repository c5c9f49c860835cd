package cli

import (
	"path/filepath"

	"github.com/spf13/pflag"

	"github.com/kasoku/kasoku/checkpoint/capture"
)

// CaptureFlags is what of the configuration in force is kept with a run.
type CaptureFlags struct {
	files []string
	off   bool
}

// Register adds --capture and --no-capture.
func (f *CaptureFlags) Register(fl *pflag.FlagSet) {
	fl.StringSliceVar(&f.files, "capture", nil, "also keep the configuration files that `GLOB,...` match; secrets "+
		"are masked")
	fl.BoolVar(&f.off, "no-capture", false, "keep no configuration: nothing of nginx, option files, schema, kernel, "+
		"limits, git")
}

// Options returns what is kept beside what is found by itself, nil for nothing.
func (f *CaptureFlags) Options() *capture.Options {
	if f.off {
		return nil
	}
	o := capture.Default(".")
	o.Files = AbsoluteGlobs(f.files)
	return &o
}

// AbsoluteGlobs makes globs absolute: texts are kept under the paths that files have.
func AbsoluteGlobs(globs []string) []string {
	out := make([]string, 0, len(globs))
	for _, g := range globs {
		if abs, err := filepath.Abs(g); err == nil {
			g = abs
		}
		out = append(out, g)
	}
	return out
}

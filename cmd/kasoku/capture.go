package main

import (
	"github.com/spf13/pflag"

	"github.com/kasoku/kasoku/capture"
	"github.com/kasoku/kasoku/config"
)

// captureFlags say what of the configuration in force is kept with a run.
type captureFlags struct {
	files []string
	off   bool
}

func (f *captureFlags) register(fl *pflag.FlagSet) {
	fl.StringSliceVar(&f.files, "capture", nil, "also keep the configuration files that `GLOB,…` match; secrets are masked")
	fl.BoolVar(&f.off, "no-capture", false, "keep no configuration: nothing of nginx, option files, schema, kernel, limits, git")
}

// options returns what is kept beside what is found by itself, nil for nothing.
func (f *captureFlags) options() *capture.Options {
	if f.off {
		return nil
	}
	o := capture.Default(".")
	o.Files = f.files
	return &o
}

// configured returns what the kasoku.toml of the working directory keeps, without
// one what is found by itself; c is nil then.
func configured() (c *config.Config, o capture.Options, err error) {
	path, ok := config.Find(".")
	if !ok {
		return nil, capture.Default("."), nil
	}
	if c, err = config.Load(path); err != nil {
		return nil, capture.Options{}, err
	}
	if from := capture.FromConfig(c.Capture, c.Dir); from != nil {
		o = *from
	}
	return c, o, nil
}

package cli

import (
	"github.com/spf13/pflag"

	"github.com/kasoku/kasoku/observe/graphite"
)

// CarbonServerFlags are the flags that say where a carbon reports of itself.
type CarbonServerFlags struct {
	query, storage, render string
	names                  []string
}

// Register adds them; before stands before each text.
func (f *CarbonServerFlags) Register(fl *pflag.FlagSet, before string) {
	fl.StringVar(&f.query, "query", "", before+"`HOST:PORT` where its cache answers what it counts of itself; "+
		"default port 7002 "+
		"of the host that points go to")
	fl.StringVar(&f.storage, "storage", "", before+"`DIRECTORY` of its whisper files, which has what it counts "+
		"of itself")
	fl.StringVar(&f.render, "render", "", before+"`URL` of graphite-web's render API, which has it too")
	fl.StringSliceVar(&f.names, "server-name", nil, before+"`NAME` under which it reports of itself, such as "+
		"agents.web1-a; may be repeated")
}

// Options are the places that were named.
func (f *CarbonServerFlags) Options() graphite.Options {
	return graphite.Options{Query: f.query, Storage: f.storage, Render: f.render, Agents: f.names}
}

// Names are the names of the flags.
func (f *CarbonServerFlags) Names() []string {
	return []string{"query", "storage", "render", "server-name"}
}

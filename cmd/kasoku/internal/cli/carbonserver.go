package cli

import (
	"net"
	"strings"

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

// cacheQueryPort is where carbon's cache answers unless it is configured otherwise.
const cacheQueryPort = "7002"

// At are the places where the server at host:port may report of itself: those that were named,
// else the port where carbon's cache answers, at the same host. It may go by the host's name.
func (f *CarbonServerFlags) At(address string) graphite.Options {
	o := graphite.Options{Query: f.query, Storage: f.storage, Render: f.render, Agents: f.names}
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return o
	}
	if o.Query == "" && o.Storage == "" && o.Render == "" {
		o.Query = net.JoinHostPort(host, cacheQueryPort)
	}
	if len(o.Agents) == 0 && o.Render == "" && net.ParseIP(host) == nil && !strings.EqualFold(host, "localhost") {
		name := strings.ReplaceAll(host, ".", "_")
		short, _, _ := strings.Cut(host, ".")
		o.Agents = []string{"agents." + name + "-a", "agents." + name, "agents." + short + "-a", "agents." + short}
	}
	return o
}

// Names are the names of the flags.
func (f *CarbonServerFlags) Names() []string {
	return []string{"query", "storage", "render", "server-name"}
}

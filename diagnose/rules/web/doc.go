// Package web has the rules about the web server in front of the service: connections, files,
// bodies on disk, compression.
package web

import "github.com/kasoku/kasoku/diagnose"

// Rules returns the rules of the family, by their ids.
func Rules() []diagnose.Rule {
	return []diagnose.Rule{
		UpstreamKeepalive{},
		StaticFiles{},
		RequestSpooled{},
		ResponseSpooled{},
		BotsServed{},
		Blobs{},
		WorkerConnections{},
		CompressionControl{},
	}
}

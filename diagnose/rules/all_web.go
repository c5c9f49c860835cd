package rules

import "github.com/kasoku/kasoku/diagnose"

// webRules are the rules about the web server, caches, the application and its host.
func webRules() []diagnose.Rule {
	return []diagnose.Rule{
		UpstreamKeepalive{}, StaticFiles{}, RequestSpooled{}, ResponseSpooled{}, BotsServed{}, Blobs{},
		WorkerConnections{}, CompressionControl{},
		SharedAnswer{}, CachePasses{}, RequestLog{}, Forks{},
	}
}

package fleet

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A Greeted is what a NATS server says of itself before anything else.
type Greeted struct {
	Version     string `json:"version"`
	MaxPayload  int64  `json:"max_payload"`
	Headers     bool   `json:"headers"`
	TLSRequired bool   `json:"tls_required"`
}

// MaxMessage is the most bytes of a question or an answer.
const MaxMessage = 1 << 20

// Lacks returns what a server of somebody's own cluster does not have that a fleet needs, and what has it.
func (g *Greeted) Lacks() (what, fix string) {
	version := Clean(g.Version)
	switch {
	case !g.TLSRequired:
		return "TLS: whoever is on the network could read and change what travels",
			"tls { cert_file: …, key_file: … } in its configuration"
	case !g.Headers:
		return fmt.Sprintf("headers, by which a server says that no host answers: nats-server %s is older than 2.2 or "+
			"has them off", version), "nats-server 2.9 or later, without no_header_support"
	case g.MaxPayload < MaxMessage:
		return fmt.Sprintf("messages of %d bytes: it takes %d", MaxMessage, g.MaxPayload), "max_payload: 1MB in its configuration"
	}
	return "", ""
}

// ClusterUsers returns the part of a nats-server's configuration that lets in who coordinates and the hosts, by
// their public keys, for what a hub of kasoku lets them do.
func ClusterUsers(operator string, hosts map[string]string) string {
	var b strings.Builder
	b.WriteString("authorization {\n  users = [\n")
	fmt.Fprintf(&b, "    { nkey: %s, permissions: {  # who coordinates\n        publish: { allow: [%q] }, "+
		"subscribe: { allow: [%q] } } }\n", operator, AllQuestions, "_INBOX."+Operator+".>")
	for _, host := range slices.Sorted(maps.Keys(hosts)) {
		var hears []string
		for _, verb := range Verbs {
			hears = append(hears, fmt.Sprintf("%q", Subject(host, verb)))
		}
		fmt.Fprintf(&b, "    { nkey: %s, permissions: {  # %s\n        publish: { allow: [\"kasoku.none\"] }, "+
			"allow_responses: { max: 1, expires: \"30s\" },\n        subscribe: { allow: [%s] } } }\n", hosts[host], host,
			strings.Join(hears, ", "))
	}
	b.WriteString("  ]\n}\n")
	return b.String()
}

package nginx

import (
	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/observe"
)

// The keys of the signals of the source "nginx".
const (
	Accepts  = "accepts"
	Handled  = "handled"
	Requests = "requests"
	Active   = "active"
	Reading  = "reading"
	Writing  = "writing"
	Waiting  = "waiting"
)

// Declared describes the source.
var Declared = observe.Declaration{
	Name:    Name,
	Title:   "nginx",
	Role:    observe.RoleWebServer,
	Table:   "nginx",
	Records: "`stub_status`",
	Rights:  "a location that this host may ask",
	Grant: observe.Grant{
		Where: "in server { } of nginx.conf; then nginx -s reload",
		Line:  "location = /nginx_status { access_log off; allow 127.0.0.1; deny all; stub_status; }",
	},
	Lost:   "connections and requests each second, also those that no log has",
	Chart:  observe.Chart{Title: "nginx connections"},
	Server: &observe.Server{NewTable: func() observe.Table { return new(Table) }},
	Signals: []observe.Signal{
		{Key: Accepts, Unit: "count", Kind: kasoku.Counter, Label: "connections accepted"},
		{Key: Handled, Unit: "count", Kind: kasoku.Counter, Label: "connections handled"},
		{Key: Requests, Unit: "count", Kind: kasoku.Counter, Label: "requests"},
		{Key: Active, Unit: "count", Label: "active"},
		{Key: Reading, Unit: "count", Label: "reading", Colour: "s4"},
		{Key: Writing, Unit: "count", Label: "writing", Colour: "s2"},
		{Key: Waiting, Unit: "count", Label: "waiting", Colour: "s5"},
	},
}

package accessformat

import (
	"time"

	"github.com/kasoku/kasoku/internal/lazyregexp"
)

// envoyCommand is one command operator of Envoy's format strings.
var envoyCommand = lazyregexp.New(`%[A-Z_0-9]+(\([^)]*\))?(:[0-9]+)?%`)

// envoyCommands are those that mean something here.
//
// Source: Envoy "Access logging", Command Operators and Default Format String.
var envoyCommands = map[string]meaning{
	"%START_TIME%": {what: aTime}, "%PROTOCOL%": {what: aProtocol}, "%RESPONSE_CODE%": {what: aStatus},
	"%REQ(:METHOD)%": {what: aMethod}, "%REQ(:PATH)%": {what: aPath},
	"%REQ(X-ENVOY-ORIGINAL-PATH?:PATH)%": {what: aPath},
	"%BYTES_RECEIVED%":                   {what: aRequestSize}, "%BYTES_SENT%": {what: aSize},
	"%DURATION%": {what: aLatency, unit: time.Millisecond}, "%RESP(X-ENVOY-UPSTREAM-SERVICE-TIME)%": {what: anUpstream,
		unit: time.Millisecond},
	"%REQ(X-FORWARDED-FOR)%": {what: aForwardedFor}, "%REQ(USER-AGENT)%": {what: anAgent},
	"%REQ(REFERER)%":    {what: aReferer},
	"%REQ(:AUTHORITY)%": {what: aVHost}, "%DOWNSTREAM_REMOTE_ADDRESS%": {what: aRemoteAddr, rank: 1},
	"%DOWNSTREAM_REMOTE_ADDRESS_WITHOUT_PORT%": {what: aRemoteAddr, rank: 2},
}

// envoyPieces splits a format string of Envoy.
func envoyPieces(text string) []piece {
	var pieces []piece
	at := 0
	for _, m := range envoyCommand().FindAllStringIndex(text, -1) {
		name := text[m[0]:m[1]]
		meant := envoyCommands[name]
		if len(name) > 11 && name[:11] == "%START_TIME" {
			meant = envoyCommands["%START_TIME%"]
		}
		pieces = append(pieces, piece{text: text[at:m[0]], at: at}, piece{name: name, key: name[1 : len(name)-1],
			at: m[0], meaning: meant})
		at = m[1]
	}
	return append(pieces, piece{text: text[at:], at: at})
}

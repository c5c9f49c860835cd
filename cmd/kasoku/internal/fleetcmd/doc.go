// Package fleetcmd has the commands hub and agent, and starts the second program, which is what
// they become. See package fleet/relay.
package fleetcmd

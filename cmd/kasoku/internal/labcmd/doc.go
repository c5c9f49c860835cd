// Package labcmd holds the commands of the laboratories: lab, which starts services with
// seeded defects and measures what is found of them; autopilot, which tunes one; and
// demo.
package labcmd

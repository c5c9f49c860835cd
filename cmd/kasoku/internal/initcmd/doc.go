// Package initcmd holds init, which looks at what runs on this host and writes a
// kasoku.toml. Other commands take from it how a database is reached without a
// configuration.
package initcmd

// Package servecmd holds serve, the page of all runs.
package servecmd

#!/bin/sh
# Records the runs below testdata again: sh diagnose/rules/testdata/record.sh [NAMES]
#
# Starts MariaDB and MySQL 9.7, loads the lab and the tests' own service in the
# ways that record_test.go lists, and replaces the extracts. NAMES, with commas,
# records only these, such as seeded,tuned. It takes about half an hour of a
# machine that does nothing else; a run that does not show what it should is not
# kept, and is named at the end.
set -eu
cd "$(dirname "$0")/../../.."
go test -tags extract ./diagnose/rules -run 'TestRecord(Cases|Operations)' -count=1 -timeout 30m -v -args -only "${1:-}"
go test -tags extract ./diagnose/rules -run TestRecordGroups -count=1 -timeout 60m -v -args -only "${1:-}"
go test -tags extract ./diagnose/rules -run "TestConstructCases|TestConstructGroups" -count=1
go test -short ./diagnose/rules

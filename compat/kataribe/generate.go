package kataribe

// defaultConfig is what -generate writes: the keys and values of kataribe's own
// file, with the formats of other servers as comments.
const defaultConfig = `# How many rows each ranking has
ranking_count = 20

# How many of the slowest requests are listed
slow_count = 37

# Whether there are columns for the standard deviation, for the classes of
# status codes, and for the sizes of responses
show_stddev = true
show_status_code = true
show_bytes = true

# Percentiles, each a column
percentiles = [ 50.0, 90.0, 95.0, 99.0 ]

# Seconds are the duration in the log times 10^scale, shown with
# effective_digit decimals.
# nginx ($request_time) and H2O (%{duration}x)
scale = 0
effective_digit = 3

# Apache (%D) and Varnishncsa (%D)
#scale = -6
#effective_digit = 6

# Envoy
#scale = -3
#effective_digit = 3

# Rack (Rack::CommonLogger)
#scale = 0
#effective_digit = 4

# Which lines are requests, and in which groups of the regular expression their
# parts are. Combined log with the duration after it:
# nginx:       '$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer" "$http_user_agent" $request_time'
# Apache:      "%h %l %u %t \"%r\" %>s %b \"%{Referer}i\" \"%{User-Agent}i\" %D"
# H2O:         "%h %l %u %t \"%r\" %s %b \"%{Referer}i\" \"%{User-agent}i\" %{duration}x"
# Varnishncsa: '%h %l %u %t "%r" %s %b "%{Referer}i" "%{User-agent}i" %D'
log_format = '` + combinedFormat + `'

request_index = 5
status_index = 6
bytes_index = 7
duration_index = 10

# Envoy, default format
#log_format = '` + envoyFormat + `'
#request_index = 2
#status_index = 3
#bytes_index = 6
#duration_index = 7

# Rack::CommonLogger
#log_format = '` + rackFormat + `'
#request_index = 5
#status_index = 6
#bytes_index = 7
#duration_index = 8

# A bundle gives one name to all requests that match. The first one that does
# counts. Syntax: https://pkg.go.dev/regexp/syntax
[[bundle]]
regexp = '^(GET|HEAD) /memo/[0-9]+\b'
name = "get memo"

[[bundle]]
regexp = '^(GET|HEAD) /stylesheets/'
name = "stylesheets"

[[bundle]]
regexp = '^(GET|HEAD) /images/'
name = "images"

# A replace changes parts of requests, one after another, after the bundles.
#[[replace]]
#regexp = '/[0-9]+(/|\s)'
#replace = '/<num>$1'
#
#[[replace]]
#regexp = '=[0-9]+(&|\s)'
#replace = '=<num>$1'
#
#[[replace]]
#regexp = '\s+HTTP/[0-9.]+$'
#replace = ''
`

const quotedGroup = `"((?:\\"|[^"])*)"`

const (
	combinedFormat = `^([^ ]+) ([^ ]+) ([^ ]+) \[([^\]]+)\] ` + quotedGroup + ` (\d+) (\d+|-) ` + quotedGroup + ` ` +
		quotedGroup + ` ([0-9.]+)$`
	rackFormat  = `^([^ ]+) ([^ ]+) ([^ ]+) \[([^\]]+)\] ` + quotedGroup + ` (\d+) (\d+|-) ([0-9.]+)$`
	envoyFormat = `^\[([^\]]+)\] ` + quotedGroup + ` (\d+) ([^ ]+) (\d+|-) (\d+|-) (\d+) (\d+) ` +
		quotedGroup + ` ` + quotedGroup + ` ` + quotedGroup + ` ` + quotedGroup + ` ` + quotedGroup
)

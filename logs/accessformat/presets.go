package accessformat

import "sync"

// A preset is a format with a name of its own.
type preset struct {
	name string
	spec string
	try  bool // Detect tries it
}

// presetSpecs are the server formats that users do not change, in the words of
// those servers or of goaccess, which gave most of the names.
//
// Sources: Envoy "Access logging", Default Format String; Traefik "Access Logs",
// CLF; Amazon "Access logs for your Application Load Balancer", "Amazon S3 server
// access log format", CloudFront "Standard logging"; Squid "Native log format";
// Microsoft IIS "W3C Extended Log Files"; goaccess(1), --log-format.
var presetSpecs = []preset{
	{"envoy", `[%START_TIME%] "%REQ(:METHOD)% %REQ(X-ENVOY-ORIGINAL-PATH?:PATH)% %PROTOCOL%" %RESPONSE_CODE% %RESPONSE_FLAGS% ` +
		`%BYTES_RECEIVED% %BYTES_SENT% %DURATION% %RESP(X-ENVOY-UPSTREAM-SERVICE-TIME)% "%REQ(X-FORWARDED-FOR)%" "%REQ(USER-AGENT)%" ` +
		`"%REQ(X-REQUEST-ID)%" "%REQ(:AUTHORITY)%" "%UPSTREAM_HOST%"`, true},
	{"vcombined", `%v:%^ %h %^[%d:%t %^] "%r" %s %b "%R" "%u"`, false},
	{"traefikclf", `%h - %e [%d:%t %^] "%r" %s %b "%R" "%u" %^ "%^" "%^" %Lms`, false},
	{"awselb", `%^ %x.%^ %^ %h:%^ %^ %^ %T %^ %s %^ %^ %b "%r" "%u" %^`, true},
	{"awss3", `%^ %v [%d:%t %^] %h %^ %^ %^ %^ "%r" %s %^ %b %^ %L %^ "%R" "%u" %^`, true},
	{"cloudfront", `%d\t%t\t%^\t%b\t%h\t%m\t%v\t%U\t%s\t%R\t%u\t%q\t%^\t%C\t%^\t%^\t%^\t%^\t%T\t%^`, true},
	{"squid", `%x %~%L %h %^/%s %b %m %U %^`, true},
	{"w3c", `%d %t %^ %m %U %q %^ %^ %h %u %R %s %^ %^ %L`, true},
}

// format compiles a preset.
func (p preset) format() *Format {
	var f *Format
	var err error
	if dialectOf(p.spec) == envoyDialect {
		f, err = fromPieces(p.name, p.spec, envoyPieces(p.spec))
	} else {
		f, err = parseGoaccess(p.spec)
	}
	if err != nil {
		panic("accessformat: preset " + p.name + ": " + err.Error())
	}
	f.name = p.name
	return f
}

// tried are the formats that Detect tries.
var tried = sync.OnceValue(func() (out []*Format) {
	for _, p := range presetSpecs {
		if p.try {
			out = append(out, p.format())
		}
	}
	return out
})

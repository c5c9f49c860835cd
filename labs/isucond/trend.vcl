# isucond: Varnish before /api/trend. Lines that end in "mends ID" are left out where
# that defect is seeded, those that end in "seeds ID" where it is not. An answer may be a second old, as the contest allowed.
vcl 4.1;

backend app { .host = "{host}"; .port = "{port}"; }

sub vcl_recv {
    unset req.http.cookie; # mends CCH-02
}

sub vcl_backend_response {
    unset beresp.http.set-cookie;
    set beresp.ttl = 0s;
    set beresp.grace = 0s;
    set beresp.ttl = 0.8s; # mends CCH-01
    set beresp.grace = 0.2s; # mends CCH-01
    set beresp.ttl = 2s; # seeds CCH-04
}

# isuportal: Varnish before the audience's dashboard. Lines that end in "mends ID" are left out where
# that defect is seeded, those that end in "seeds ID" where it is not. The dashboard may be a second old,
# and nothing else: 0.7 s leave 0.3 s for the answer.
vcl 4.1;

backend app { .host = "{host}"; .port = "{port}"; }

sub vcl_recv {
    if (req.url == "/initialize") {
        ban("req.url ~ ^/api/audience"); # mends CCH-05
        return (pass);
    }
    unset req.http.cookie; # mends CCH-02
}

sub vcl_backend_response {
    unset beresp.http.set-cookie;
    set beresp.ttl = 0s;
    set beresp.grace = 0s;
    if (bereq.url ~ "^/api/audience/") {
        set beresp.ttl = 0.7s; # mends CCH-01
        set beresp.ttl = 1s; # seeds CCH-04S
        set beresp.ttl = 1s; # seeds CCH-04
        set beresp.grace = 1s; # seeds CCH-04
        set beresp.do_gzip = true;
    }
}

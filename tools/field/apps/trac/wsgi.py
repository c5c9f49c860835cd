"""Trac as gunicorn serves it; nginx says who logged in."""
from trac.web.main import dispatch_request


def application(environ, start_response):
    environ.pop("REMOTE_USER", None)
    if environ.get("HTTP_X_REMOTE_USER"):
        environ["REMOTE_USER"] = environ["HTTP_X_REMOTE_USER"]
    return dispatch_request(environ, start_response)

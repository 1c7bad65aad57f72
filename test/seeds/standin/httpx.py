"""The part of httpx that the samples use, for machines without it."""

import json as _json
import urllib.error
import urllib.parse
import urllib.request


class HTTPStatusError(Exception):
    pass


class Response:
    def __init__(self, status_code, headers, content):
        self.status_code = status_code
        self.headers = headers  # an email.message.Message: `get` does not mind upper and lower case
        self.content = content

    def json(self):
        return _json.loads(self.content)

    def raise_for_status(self):
        if 200 <= self.status_code < 300:
            return self
        raise HTTPStatusError(f"{self.status_code} for the request")


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *args):
        return None


_opener = urllib.request.build_opener(_NoRedirect, urllib.request.ProxyHandler({}))


def _send(method, url, headers, data):
    request = urllib.request.Request(url, data=data, headers=headers, method=method)
    try:
        with _opener.open(request, timeout=10) as reply:
            return Response(reply.status, reply.headers, reply.read())
    except urllib.error.HTTPError as error:
        with error:
            return Response(error.code, error.headers, error.read())


def get(url, headers=None, params=None):
    query = "?" + urllib.parse.urlencode(params) if params else ""
    return _send("GET", url + query, dict(headers or {}), None)


def post(url, headers=None, json=None):
    return _send("POST", url, {"Content-Type": "application/json", **(headers or {})}, _json.dumps(json).encode())

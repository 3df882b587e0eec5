"""The smallest Varlink service in Python: it answers GetInfo on the socket given."""
import sys

import varlink

service = varlink.Service(
    vendor="bench", product="bench", version="1", url="http://localhost",
    interface_dir=".", namespaced=False)


class Handler(varlink.RequestHandler):
    service = service


with varlink.ThreadingServer("unix:" + sys.argv[1], Handler) as server:
    server.serve_forever()

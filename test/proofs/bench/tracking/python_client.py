"""Sends requests by Python's own HTTP client, on which MLflow's client rests, and times each.

A request is a line of JSON on standard input: method, url, headers, body (text or null). Its answer is a line on standard
output: status, text, and the milliseconds from the first byte sent to the last one read. Connections are kept.
"""

import http.client
import json
import select
import sys
import time
from urllib.parse import urlsplit

connections = {}


def kept(netloc):
    """The connection to a server, opened anew where the server has closed it."""
    connection = connections.setdefault(netloc, http.client.HTTPConnection(netloc))
    if connection.sock is not None and select.select([connection.sock], [], [], 0)[0]:
        connection.close()
    if connection.sock is None:
        connection.connect()
    return connection


for line in sys.stdin:
    request = json.loads(line)
    url = urlsplit(request["url"])
    path = f"{url.path}?{url.query}" if url.query else url.path
    body = None if request["body"] is None else request["body"].encode()
    connection = kept(url.netloc)
    begun = time.perf_counter()
    connection.request(request["method"], path, body, request["headers"])
    response = connection.getresponse()
    content = response.read()
    milliseconds = (time.perf_counter() - begun) * 1000
    answer = {"status": response.status, "text": content.decode(), "milliseconds": milliseconds}
    print(json.dumps(answer), flush=True)

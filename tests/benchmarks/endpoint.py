"""An OpenAI-compatible endpoint of this process, which drops some requests and answers some with rubbish."""

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from random import Random

RUBBISH = (b"", b"{", b"<html>Bad Gateway</html>", b"null", b"[]", b'{"choices": []}', b'{"choices": [{"message": null}]}')


class Endpoint:
    """`answer(model, messages, tools)` gives the assistant's message; `faults` counts what was dropped or spoilt."""

    def __init__(self, answer, dropped=0.1, spoilt=0.1):
        self.answer, self.dropped, self.spoilt = answer, dropped, spoilt
        self.chance, self.lock = Random(1), threading.Lock()
        self.faults = self.answers = 0
        self.url = ""


@contextmanager
def serve(endpoint):
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with endpoint.lock:
                luck = endpoint.chance.random()
                if luck < endpoint.dropped + endpoint.spoilt:
                    endpoint.faults += 1
                    body = endpoint.chance.choice(RUBBISH)
                else:
                    endpoint.answers += 1
                    message = endpoint.answer(request["model"], request["messages"], request.get("tools", []))
                    usage = {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12}
                    completion = {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}], "usage": usage}
                    body = json.dumps({"id": "x", "object": "chat.completion", "created": 0, "model": "m", **completion}).encode()
            if luck < endpoint.dropped:
                self.close_connection = True
                return
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *words):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    endpoint.url = f"http://127.0.0.1:{server.server_port}/v1"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield endpoint
    finally:
        server.shutdown()
        server.server_close()

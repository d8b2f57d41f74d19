"""A DAP client that believes nothing: each message is held against the schema, each answer against its request."""

import json
import os
import threading
from collections import defaultdict, deque

from kit import dap_protocol as protocol

PATIENCE = 60
"""Seconds that a test waits for what must come."""


class RefusedError(AssertionError):
    """The adapter answered a request with an error, which is not what the test expected."""

    def __init__(self, response):
        self.message = response["message"]
        self.text = response["body"]["error"]["format"]
        super().__init__(f"{response['command']}: {self.text}")


class Client:
    """Speaks DAP on two file descriptors; what comes in is read on a thread of its own."""

    def __init__(self, incoming, outgoing, close=lambda: None):
        self._incoming, self._outgoing, self._close = incoming, outgoing, close
        self.changed = threading.Condition()
        self._sent = 0
        self._seen = 0
        self._unanswered = {}
        self._responses = {}
        self._events = defaultdict(deque)
        self.capabilities = None
        self.token = {}
        """The attribute of a launch where the adapter asks for one."""
        self.faults = []
        """Breaches of the protocol by the adapter."""
        self.transcript = []
        self.ended = False
        self.reverse = {"runInTerminal": None, "startDebugging": None}
        """How to answer what the adapter asks: a function from the arguments to a body, or to the text of an error."""
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    # --- asking -------------------------------------------------------------------------------------------------------

    def post(self, command, **arguments):
        """Send a request; the number to wait for."""
        message = {"seq": self._number(), "type": "request", "command": command}
        if arguments:
            message["arguments"] = arguments
        wrong = protocol.faults(message)
        assert not wrong, f"the test's own request is wrong: {wrong}"
        with self.changed:
            self._unanswered[message["seq"]] = command
        self.send(message)
        return message["seq"]

    def response(self, number):
        """The response to a request that was posted."""
        return self._await(lambda: self._responses.pop(number, None), f"the response to request {number}")

    def request(self, command, **arguments):
        """Ask, and wait for the body of the answer; ``RefusedError`` where it is an error."""
        response = self.response(self.post(command, **arguments))
        if not response["success"]:
            raise RefusedError(response)
        return response.get("body", {})

    def refused(self, command, **arguments):
        """Ask for what must be refused; the text of the error, remedy and all."""
        response = self.response(self.post(command, **arguments))
        assert not response["success"], f"{command} was not refused: {response}"
        return response["body"]["error"]["format"]

    def event(self, name, where=lambda _body: True):
        """The body of the next event ``name`` that was not taken yet, and of which ``where`` holds."""

        def take():
            for body in self._events[name]:
                if where(body):
                    self._events[name].remove(body)
                    return (body,)
            return None

        return self._await(take, f"the event {name!r}")[0]

    def either(self, *names):
        """The next event of one of these names: its name and its body."""

        def take():
            name = next((name for name in names if self._events[name]), None)
            return (name, self._events[name].popleft()) if name else None

        return self._await(take, f"one of the events {names}")

    def put_back(self, name, body):
        """Have an event that was taken be the next one of its name."""
        with self.changed:
            self._events[name].appendleft(body)

    def events(self, name):
        """The bodies of the events ``name`` that came so far and were not taken."""
        with self.changed:
            return list(self._events[name])

    def send(self, message):
        """Send a message as it is."""
        self.transcript.append(f"-> {json.dumps(message)}")
        data = json.dumps(message).encode()
        self.write(b"Content-Length: %d\r\n\r\n%b" % (len(data), data))

    def write(self, data):
        """Send bytes."""
        while data:
            data = data[os.write(self._outgoing, data) :]

    # --- the end ------------------------------------------------------------------------------------------------------

    def hang_up(self):
        """Close the connection without a word."""
        self._close()

    def wait_end(self):
        """Wait until the adapter closed its side."""
        self._await(lambda: self.ended, "the end of the adapter's output", ended=True)

    def finish(self):
        """Hang up, and fail for what the adapter did wrong on the way."""
        self.hang_up()
        self._reader.join(PATIENCE)
        assert not self.faults, "\n".join(self.faults)

    def story(self):
        """The conversation, for a test that failed."""
        return "\n".join(line if len(line) < 2000 else f"{line[:2000]}..." for line in self.transcript[-400:])

    # --- listening ----------------------------------------------------------------------------------------------------

    def _number(self):
        self._sent += 1
        return self._sent

    def _await(self, ready, what, *, ended=False):
        found = None

        def done():
            nonlocal found
            found = ready()
            return found or (self.ended and not ended)

        with self.changed:
            came = self.changed.wait_for(done, PATIENCE)
        assert came, f"{what} did not come within {PATIENCE} s"
        assert found, f"the adapter ended before {what} came"
        return found

    def _read(self):
        data = b""
        try:
            while chunk := os.read(self._incoming, 1 << 16):
                data = self._cut(data + chunk)
        except OSError:
            pass
        with self.changed:
            self.ended = True
            self.changed.notify_all()

    def _cut(self, data):
        """Take the complete messages off ``data``; the framing is read as strictly as the protocol has it."""
        while True:
            header, empty, rest = data.partition(b"\r\n\r\n")
            if not empty:
                return data
            name, _, length = header.partition(b": ")
            if name != b"Content-Length" or not length.isdigit():
                self.faults.append(f"no header of the protocol: {header!r}")
                return b""
            if len(rest) < int(length):
                return data
            data = rest[int(length) :]
            message = json.loads(rest[: int(length)])
            with self.changed:
                self.take(message)
                self.changed.notify_all()

    def take(self, message):
        """Take one message; a test may put something else in place of this."""
        self.transcript.append(f"<- {json.dumps(message)}")
        self.faults += protocol.faults(message)
        if message["seq"] <= self._seen:
            self.faults.append(f"seq {message['seq']} after {self._seen}")
        self._seen = message["seq"]
        getattr(self, f"_take_{message['type']}")(message)

    def _take_response(self, message):
        number, command = message["request_seq"], message["command"]
        if self._unanswered.pop(number, None) != command:
            self.faults.append(f"an answer that nobody waits for: {command} {number}")
        if command == "initialize" and message["success"]:
            self.capabilities = message.get("body", {})
        self._responses[number] = message

    def _take_event(self, message):
        if self.capabilities is None and message["event"] != "output":
            self.faults.append(f"the event {message['event']} before the answer to initialize")
        self._events[message["event"]].append(message.get("body", {}))

    def _take_request(self, message):
        answer = {"seq": self._number(), "type": "response", "request_seq": message["seq"], "success": True}
        body = self.reverse[message["command"]](message["arguments"])
        outcome = {"success": False, "message": body} if isinstance(body, str) else {"body": body}
        self.send({**answer, "command": message["command"], **outcome})

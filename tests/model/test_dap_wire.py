"""The wire of the protocol: messages out of a stream cut anywhere, and out of streams that are none."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyharness.dapwire import wire as dap_wire
from pyharness.dapwire.message import MAX_DEPTH
from pyharness.dapwire.wire import MAX_HEADER, MAX_MESSAGE, Decoder, Malformed, encode

THREADS = dap_wire.request(7, "threads")
PAUSE = dap_wire.request(8, "pause", {"threadId": 1})


def framed(body, length=None):
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return b"Content-Length: %d\r\n\r\n%b" % (len(data) if length is None else length, data)


def decoded(*pieces):
    decoder = Decoder()
    return [message for piece in pieces for message in decoder.feed(piece)]


@pytest.mark.parametrize("size", [1, 2, 7, 1000])
def test_a_stream_may_be_cut_anywhere(size):
    stream = encode(THREADS) + encode(PAUSE)
    assert decoded(*(stream[at : at + size] for at in range(0, len(stream), size))) == [THREADS, PAUSE]


@pytest.mark.parametrize(
    "header",
    [
        b"Content-Length: %d\n\n",
        b"content-length:%d\r\n\r\n",
        b"\r\n\r\nContent-Length: %d\r\n\r\n",
        b"Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nContent-Length: %d \r\nX-Later: 1\r\n\r\n",
    ],
)
def test_headers_that_other_clients_write(header):
    body = json.dumps(THREADS).encode()
    assert decoded(header % len(body) + body) == [THREADS]


def test_no_arguments_as_lua_writes_them():
    bare = {"seq": 7, "type": "request", "command": "threads"}
    assert decoded(framed({**bare, "arguments": []}), framed({**bare, "arguments": None})) == [bare, bare]


@pytest.mark.parametrize(
    "garbage",
    [
        b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 \x00\xff\n",
        b"Content-Length: -5\r\n\r\n",
        b"Content-Length: five\r\n\r\n",
        b"Content-Length: %d\r\n\r\n" % (MAX_MESSAGE + 1),
        b"Content-Length: 99999999999999999999999999\r\n\r\n",
        b"Content-Type: text\r\n\r\n{}",
        b"X" * (MAX_HEADER + 1),
        b"X: y\r\n" * MAX_HEADER,
        framed(b"\xff\xfe{}"),
        framed(b"{"),
        framed(b""),
        framed(b'{"seq": NaN}'),
        framed(b'{"seq": 1e999}'),
        framed(b"[" * 100_000),
        framed(PAUSE, 5),
        framed(b"\0" * 50_000),
    ],
    ids=lambda garbage: repr(garbage[:30]),
)
def test_after_garbage_the_next_message_is_found(garbage):
    malformed, *rest = decoded(garbage, encode(THREADS))
    assert isinstance(malformed, Malformed)
    assert malformed.reason
    assert rest == [THREADS]


def test_a_length_that_takes_the_next_message_in_gives_it_back():
    malformed, *rest = decoded(framed(PAUSE, 100) + encode(THREADS) + encode(PAUSE))
    assert isinstance(malformed, Malformed)
    assert rest == [THREADS, PAUSE]


@pytest.mark.parametrize(
    ("message", "request_seq", "command"),
    [
        ({"seq": 3, "type": "request", "command": "pause", "arguments": "now"}, 3, "pause"),
        ({"seq": 3, "type": "request", "command": "pause", "arguments": [1]}, 3, "pause"),
        ({"seq": 3, "type": "request", "command": 5}, 3, ""),
        ({"seq": 3, "type": "request"}, 3, ""),
        ({"seq": 3, "command": "pause"}, 3, "pause"),
        ({"seq": 3, "type": "question", "command": "pause"}, 3, "pause"),
        ({"seq": "3", "type": "request", "command": "pause"}, None, "pause"),
        ({"seq": True, "type": "request", "command": "pause"}, None, "pause"),
        ({"type": "request", "command": "pause"}, None, "pause"),
        ({"seq": 3, "type": "event"}, None, ""),
        ({"seq": 3, "type": "response"}, None, ""),
        ({"seq": 3, "type": ["request"]}, None, ""),
        ({}, None, ""),
        ([], None, ""),
        (None, None, ""),
        ("request", None, ""),
    ],
)
def test_a_message_that_is_wrong_can_be_answered_as_far_as_it_says_to_whom(message, request_seq, command):
    malformed, after = decoded(framed(message), encode(THREADS))
    assert (malformed.request_seq, malformed.command, malformed.is_json) == (request_seq, command, True)
    assert after == THREADS


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e400", "-1e999", "1" * 301, "1" * 6000])
def test_a_number_that_is_none_is_said_to_who_sent_it(number):
    body = json.dumps(dap_wire.request(3, "launch", {"evalTimeout": "here"})).replace('"here"', number)
    malformed, after = decoded(framed(body.encode()), encode(THREADS))
    assert (malformed.request_seq, malformed.command) == (3, "launch")
    assert number[:50] in malformed.reason
    assert len(malformed.reason) < 150
    assert after == THREADS


@pytest.mark.parametrize(("depth", "taken"), [(MAX_DEPTH - 1, True), (MAX_DEPTH, False), (800, False)])
def test_nesting_is_bounded(depth, taken):
    value = None
    for _ in range(depth - 1):
        value = [value]
    message = {"seq": 1, "type": "request", "command": "threads", "arguments": {"deep": value}}
    assert decoded(framed(message)) == [message] if taken else isinstance(decoded(framed(message))[0], Malformed)


def test_what_was_fed_is_kept_although_nobody_looked():
    decoder = Decoder()
    decoder.feed(encode(THREADS)[:-3])
    decoder.feed(encode(THREADS)[-3:])
    assert list(decoder.feed(b"")) == [THREADS]


def test_text_that_is_no_unicode_gets_across():
    message = dap_wire.event(1, "output", {"output": "a\udcff\ud800b"})
    assert decoded(encode(message)) == [message]


def test_an_error_names_its_request_and_the_remedy():
    told = dap_wire.error(2, PAUSE, "No {thread}.", "Ask for threads.")
    assert (told["request_seq"], told["command"], told["success"]) == (8, "pause", False)
    assert told["body"]["error"]["format"] == "No {thread}.\nAsk for threads."
    assert dap_wire.error(2, Malformed("what", 5, "x"), "what")["request_seq"] == 5


def test_an_error_of_what_a_client_asks_by_itself_is_not_announced():
    def announced(command):
        return dap_wire.error(2, {**PAUSE, "command": command}, "The program runs.")["body"]["error"]["showUser"]

    assert announced("pause")
    assert announced("setBreakpoints")
    assert not announced("scopes")
    assert not announced("evaluate")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


@given(st.lists(json_values), st.integers(1, 20))
def test_any_arguments_arrive_as_they_were_sent(values, size):
    messages = [dap_wire.request(seq, "evaluate", {"value": value}) for seq, value in enumerate(values)]
    stream = b"".join(encode(message) for message in messages)
    assert decoded(*(stream[at : at + size] for at in range(0, len(stream), size))) == messages


PIECES = [b"Content-Length: ", b"\r\n\r\n", b"\n", b"{", b"9", encode(PAUSE)]


@given(st.lists(st.binary(max_size=60) | st.sampled_from(PIECES)))
def test_no_bytes_make_it_raise(pieces):
    assert all(isinstance(message, dict | Malformed) for message in decoded(*pieces))

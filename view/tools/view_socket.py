"""A WebSocket client for the live view. It needs only the standard library, because a machine with
a GPU may lack other packages.

It implements the part of RFC 6455 that the view needs: no extensions, messages in one fragment.
"""
import base64
import hashlib
import json
import os
import re
import select
import socket
import struct
import time
import urllib.parse

GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
TEXT, BINARY, CLOSE, PING, PONG = 1, 2, 8, 9, 10
HEAD = struct.Struct("<4sIIIqddddQ")
HEAD_FIELDS = ("magic", "version", "header_bytes", "bodies", "step", "time", "steps_per_second",
               "interactions_per_second", "energy_error", "number")


def find_address(line):
    """Returns the URL that a line of a program's output contains, or None."""
    found = re.search(r"http://127\.0\.0\.1:\d+/[0-9a-f]{32}/", line)
    return found and found.group()


def port_and_path(address):
    parts = urllib.parse.urlsplit(address)
    return parts.port, parts.path


class Closed(Exception):
    """The server has closed the connection; `code` says why (RFC 6455, 7.4)."""

    def __init__(self, code):
        super().__init__(f"closed with code {code}")
        self.code = code


class ViewSocket:
    def __init__(self, address, host=None, origin=None, target=None, seconds=30,
                 receive_buffer=None):
        """Connects to the URL `address`, which the program prints. The arguments host, target and
        origin replace parts of the request."""
        port, path = port_and_path(address)
        host = host or f"127.0.0.1:{port}"
        target = target or f"{path}socket"
        origin = f"http://{host}" if origin is None else origin
        self.socket = socket.socket()
        self.socket.settimeout(seconds)
        if receive_buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.connect(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        key = base64.b64encode(os.urandom(16))
        lines = [
            f"GET {target} HTTP/1.1",
            f"Host: {host}",
            "Upgrade: websocket",
            "Connection: Upgrade",
            f"Sec-WebSocket-Key: {key.decode()}",
            "Sec-WebSocket-Version: 13",
        ]
        if origin:
            lines.append(f"Origin: {origin}")
        self.socket.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
        self.rest = b""
        head = b""
        while b"\r\n\r\n" not in head:
            piece = self.socket.recv(4096)
            if not piece:
                raise ConnectionError("no answer to the handshake")
            head += piece
        head, self.rest = head.split(b"\r\n\r\n", 1)
        self.status = int(head.split(b" ", 2)[1])
        if self.status != 101:
            self.socket.close()
            raise ConnectionRefusedError(f"HTTP status {self.status}")
        accept = base64.b64encode(hashlib.sha1(key + GUID).digest())
        if b"sec-websocket-accept: " + accept.lower() not in head.lower():
            raise ConnectionError("wrong answer to the handshake")

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.socket.close()

    def _read(self, count):
        """Returns the next `count` bytes. Copies them only once, because a frame may have
        megabytes."""
        data = bytearray(count)
        used = min(count, len(self.rest))
        data[:used], self.rest = self.rest[:used], self.rest[used:]
        place = memoryview(data)[used:]
        while place:
            arrived = self.socket.recv_into(place)
            if arrived == 0:
                raise Closed(1006)
            place = place[arrived:]
        return bytes(data)

    def receive(self):
        """Returns the next message as a dictionary or as bytes. Raises Closed."""
        while True:
            first, length = self._read(2)
            kind = first & 15
            if length == 126:
                length, = struct.unpack(">H", self._read(2))
            elif length == 127:
                length, = struct.unpack(">Q", self._read(8))
            data = self._read(length)
            if kind == PING:
                self.send_raw(PONG, data)
            elif kind == CLOSE:
                raise Closed(struct.unpack(">H", data[:2])[0] if len(data) >= 2 else 1005)
            elif kind == TEXT:
                return json.loads(data)
            elif kind == BINARY:
                return data

    def send_raw(self, kind, data, masked=True):
        length = len(data)
        if length < 126:
            head = bytes([0x80 | kind, 0x80 * masked | length])
        elif length < 1 << 16:
            head = bytes([0x80 | kind, 0x80 * masked | 126]) + struct.pack(">H", length)
        else:
            head = bytes([0x80 | kind, 0x80 * masked | 127]) + struct.pack(">Q", length)
        mask = os.urandom(4) if masked else b""
        body = bytes(byte ^ mask[i % 4] for i, byte in enumerate(data)) if masked else data
        self.socket.sendall(head + mask + body)

    def send(self, **message):
        self.send_raw(TEXT, json.dumps(message).encode())

    def wait_for(self, kind, fits=lambda message: True, seconds=30):
        """Returns the next text message of this type that fits() accepts. Drops all messages that
        arrive before it."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            message = self.receive()
            if isinstance(message, dict) and message["type"] == kind and fits(message):
                return message
        raise TimeoutError(f"no such {kind} in {seconds} s")

    def frame(self, seconds=60):
        """Returns the head of the next frame as a dictionary. Drops the messages that arrive before
        the frame."""
        deadline = time.monotonic() + seconds
        while (
            self.rest
            or select.select([self.socket], [], [], max(0, deadline - time.monotonic()))[0]
        ):
            message = self.receive()
            if isinstance(message, bytes):
                return dict(zip(HEAD_FIELDS, HEAD.unpack(message[:HEAD.size])), bytes=len(message))
        raise TimeoutError(f"no frame in {seconds} s")

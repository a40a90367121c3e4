"""Tests how a running step answers viewers, pages from elsewhere, and malformed input.

    cd view/tests; NBODY_PROGRAM=.../step00_cpu_omp python3 -m unittest server_test
"""
import contextlib
import os
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tools"))
from view_socket import (BINARY, TEXT, Closed, ViewSocket, find_address,  # noqa: E402
                         port_and_path)

# The tests measure memory, so AddressSanitizer must not keep its usual 256 MB of freed memory.
ENVIRONMENT = {**os.environ, "OMP_WAIT_POLICY": "passive",
               "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":quarantine_size_mb=1"}
PROGRAM = os.path.abspath(os.environ["NBODY_PROGRAM"])


class Run:
    """A step with --view, or another program with a page, on a free port."""

    def __init__(self, *arguments, command=(PROGRAM, "--view", "0")):
        self.folder = tempfile.TemporaryDirectory()
        self.process = subprocess.Popen(
            [*command, *arguments], cwd=self.folder.name, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, env=ENVIRONMENT)
        self.out = ""
        while "ssh" not in self.out:
            line = self.process.stdout.readline()
            if not line:
                raise RuntimeError(self.process.stderr.read())
            self.out += line
        self.address = find_address(self.out)
        self.port, self.path = port_and_path(self.address)

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        if self.process.poll() is None:
            self.end()
        self.process.stdout.close()
        self.process.stderr.close()
        self.folder.cleanup()

    def end(self, how=signal.SIGINT):
        """Returns exit code, standard output and standard error."""
        self.process.send_signal(how)
        out, error = self.process.communicate(timeout=60)
        return self.process.returncode, self.out + out, error

    def request(self, text):
        """Sends a request unchanged; returns the answer."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=30) as connection:
            connection.sendall(text if isinstance(text, bytes) else text.encode())
            answer = b""
            while True:
                piece = connection.recv(1 << 16)
                answer += piece
                if not piece or (b"\r\n\r\n" in answer and b"</html>" in answer):
                    return answer.decode()


def refusal(*command):
    """Returns the one line with which a program rejects its command line."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    if (done.returncode, done.stderr.count("\n")) != (2, 1):
        raise AssertionError(f"exit code {done.returncode}: {done.stderr}")
    return done.stderr


class ServerTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.run_ = Run("--scenario", "plummer", "--bodies", "300")
        cls.address, cls.port, cls.path = cls.run_.address, cls.run_.port, cls.run_.path
        # One viewer stays connected. Whatever the tests do to the server, this viewer must continue
        # to get frames.
        cls.witness = ViewSocket(cls.run_.address)

    @classmethod
    def tearDownClass(cls):
        cls.witness.socket.close()
        cls.run_.__exit__()

    def tearDown(self):
        """Checks that the program still runs, the page is served and frames advance."""
        self.assertIsNone(self.run_.process.poll())
        self.assertTrue(self.get().startswith("HTTP/1.1 200"))
        for _ in range(3):
            self.witness.send(type="next")
        first = self.witness.frame()["step"]
        self.assertGreater(self.witness.frame()["step"], first)
        self.witness.frame()

    def get(self, target="", host=None, method="GET", more=""):
        """Returns the answer to a request. If the target has no leading /, it is below the secret
        path."""
        host = f"127.0.0.1:{self.port}" if host is None else host
        target = target if target.startswith(("/", "*", "http")) else self.path + target
        return self.run_.request(f"{method} {target} HTTP/1.1\r\nHost: {host}\r\n{more}\r\n")

    def refused(self, **how):
        with self.assertRaises(ConnectionRefusedError) as caught:
            ViewSocket(self.address, **how)
        return str(caught.exception)

    def closed(self, kind, data, **how):
        with ViewSocket(self.address) as viewer:
            viewer.send_raw(kind, data, **how)
            with self.assertRaises(Closed) as caught:
                while True:
                    viewer.receive()
            return caught.exception.code

    def test_page(self):
        page = self.get()
        self.assertIn("text/html", page)
        self.assertIn("nosniff", page)
        self.assertIn("default-src 'none'", page)
        self.assertNotIn("<script src", page)

    def test_listens_on_loopback_only(self):
        with open("/proc/net/tcp", encoding="ascii") as table:
            local = [
                line.split()[1]
                for line in table
                if f":{self.port:04X} " in line.split()[1] + " " and line.split()[3] == "0A"
            ]
        self.assertEqual(local, [f"0100007F:{self.port:04X}"])

    def test_other_hosts_are_refused(self):
        for host in ("evil.example", f"evil.example:{self.port}", "127.0.0.1.evil.example", "",
                     "localhost.evil.example:80", "[::1", "0.0.0.0", f"10.0.0.1:{self.port}",
                     "localhost:", "localhost:x", "localhost:0", "localhost:65536", "localhost:-1",
                     "localhost:80:80", "localhost: 80", "127.0.0.1.", "127.0.0.1:80.evil.example",
                     "[::1]x", "[::1].evil.example", "[::1]:80/"):
            self.assertTrue(self.get(host=host).startswith("HTTP/1.1 403"), host)
            self.assertIn("403", self.refused(host=host or " ", origin=f"http://{host}"))

    def test_two_hosts_are_refused(self):
        answer = self.get("", more="Host: evil.example\r\n")
        self.assertRegex(answer, "^HTTP/1.1 40[03]")

    def test_names_of_this_machine_are_welcome(self):
        # The other end of a tunnel may have another port.
        for host in (f"localhost:{self.port}", "127.0.0.1:9000", "localhost", f"[::1]:{self.port}"):
            self.assertTrue(self.get("", host=host).startswith("HTTP/1.1 200"), host)
            ViewSocket(self.address, host=host).socket.close()

    def test_other_origins_are_refused(self):
        here = f"127.0.0.1:{self.port}"
        for origin in ("http://evil.example", "null", f"https://{here}", "http://127.0.0.1",
                       f"http://127.0.0.1:{self.port + 1}", f"http://localhost:{self.port}",
                       f"http://{here}.evil.example", f"http://{here}/", ""):
            self.assertIn("403", self.refused(origin=origin), origin)

    def test_nothing_but_the_page(self):
        for target in ("../../etc/passwd", "%2e%2e/%2e%2e/etc/passwd", "/etc/passwd", "socket",
                       "page.html", "?x", "favicon.ico", "http://evil.example/", "*"):
            answer = self.get(target)
            self.assertRegex(answer, "^HTTP/1.1 40[034]", target)
            self.assertNotIn("root:", answer)
        self.assertIn("403", self.refused(target=f"{self.path}other"))

    def test_nothing_without_the_secret_path(self):
        secret = self.path.strip("/")
        for wrong in ("/", "//", "/socket", f"/{secret}", f"/{secret[:-1]}/", f"/{secret[1:]}/",
                      f"/{'0' * 32}/", f"/x{self.path}", f"/{secret.upper()}/",
                      f"/{secret[:-1]}{'0' if secret[-1] != '0' else '1'}/"):
            for method in ("GET", "POST"):
                answer = self.get(wrong, method=method)
                self.assertTrue(answer.startswith("HTTP/1.1 403"), wrong)
                self.assertNotIn(secret, answer)
            self.assertIn("403", self.refused(target=f"{wrong}socket"))

    def test_the_secret_path_is_another_in_every_run(self):
        with Run("--scenario", "two-body") as other:
            self.assertNotEqual(self.path, other.path)
            self.assertIn("403", self.refused(target=f"{other.path}socket"))

    def test_other_methods(self):
        for method in ("POST", "PUT", "DELETE", "OPTIONS", "TRACE", "HEAD"):
            self.assertTrue(self.get("", method=method).startswith("HTTP/1.1 405"), method)
        self.assertRegex(self.get("", method="POST", more="Content-Length: 5\r\n\r\nhello"),
                         "^HTTP/1.1 40[05]")

    def test_malformed_requests(self):
        for garbage in (
            b"\0\xff\x80 nonsense\r\n\r\n",
            b"GET / HTTP/9.9\r\n\r\n",
            b"\r\n\r\n\r\n\r\n",
            b"\x16\x03\x01\x02\x00\x01\x00" * 10 + b"\r\n\r\n",
            b"GET / HTTP/1.1\r\nHost 127.0.0.1\r\n\r\n",
            b"GET / HTTP/1.1\r\nX: " + b"x" * 100_000 + b"\r\n\r\n",
        ):
            try:
                self.assertRegex(self.run_.request(garbage), "^(HTTP/1.1 40[03]|$)")
            except ConnectionError:  # the server closed the connection during the request
                pass

    def test_unknown_messages_are_answered(self):
        with ViewSocket(self.address) as viewer:
            for text in (
                '{"type": "format_disk"}',
                '{"type": 7}',
                "{}",
                "[]",
                "null",
                '"next"',
                "17",
                '{"type": "next", "more": 1}',
                '{"type": "speed"}',
                '{"type": "speed", "steps_per_frame": -1}',
                '{"type": "speed", "steps_per_frame": 1000001}',
                '{"type": "speed", "steps_per_frame": 4294967297}',
                '{"type": "speed", "steps_per_frame": 1.5}',
                '{"type": "speed", "steps_per_frame": "1"}',
                '{"type": "speed", "steps_per_frame": 1e400}'.replace("1e400", "1e300"),
                '{"type": "forces"}',
                '{"type": "forces", "dt": 0.01}',
                '{"type": "forces", "dt": "0.01", "softening": 0.05}',
                '{"type": "forces", "dt": 0.01, "softening": 0.05, "more": 1}',
                '{"type": "forces", "dt": 0, "softening": 0.05}',
                '{"type": "forces", "dt": -0.01, "softening": 0.05}',
                '{"type": "forces", "dt": 0.65, "softening": 0.05}',
                '{"type": "forces", "dt": 1e300, "softening": 0.05}',
                '{"type": "forces", "dt": 0.01, "softening": 3.3}',
                '{"type": "forces", "dt": 0.01, "softening": 0.0007}',
            ):
                viewer.send_raw(TEXT, text.encode())
                self.assertTrue(viewer.wait_for("error")["message"], text)
            viewer.send(type="next")  # the connection stays open
            viewer.frame()

    def test_malformed_messages_close_the_connection(self):
        for text in (b"", b"{", b"nonsense", b'{"type": "next"', b"[" * 4000, b'{"a":1e999}'):
            self.assertEqual(self.closed(TEXT, text), 1007, text[:20])
        self.assertEqual(self.closed(TEXT, b'{"type": "\xff\xfe"}'), 1007)  # not UTF-8
        self.assertEqual(self.closed(BINARY, b"\0" * 100), 1003)
        self.assertEqual(self.closed(TEXT, b" " * 5000), 1009)  # too big
        self.assertIn(self.closed(TEXT, b'{"type": "next"}', masked=False), (1002, 1006))
        self.assertIn(self.closed(11, b"reserved"), (1002, 1006))

    def test_a_message_longer_than_memory(self):
        with ViewSocket(self.address) as viewer:
            viewer.socket.sendall(b"\x81\xff" + struct.pack(">Q", 1 << 62) + b"mask")
            with self.assertRaises(Closed) as caught:
                while True:
                    viewer.receive()
            self.assertIn(caught.exception.code, (1002, 1006, 1009))

    def test_a_client_that_does_not_read_is_not_read_from(self):
        """Replies must not pile up: the server stops reading from a client that never reads."""
        with ViewSocket(self.address, receive_buffer=4096) as viewer:
            viewer.socket.settimeout(0.5)
            before = self.memory()
            with self.assertRaises(TimeoutError):
                for _ in range(400):
                    viewer.socket.sendall(b"\x81\x82\0\0\0\0{}" * 20_000)  # 64 MB in all
            self.assertLess(self.memory() - before, 16 << 20)

    def test_a_slow_viewer_gets_the_newest_frame(self):
        with ViewSocket(self.address) as viewer:
            viewer.send(type="next")
            first = newest = viewer.frame()["number"]
            while newest < first + 6:
                self.witness.send(type="next")
                newest = self.witness.frame()["number"]
            viewer.send(type="next")
            self.assertGreater(viewer.frame()["number"], first + 5)

    def test_only_some_frames_can_be_requested_in_advance(self):
        with ViewSocket(self.address) as viewer:
            for _ in range(1000):
                viewer.send(type="next")
            viewer.send(type="nonsense")
            viewer.wait_for("error")  # the server has now read all messages
            viewer.socket.settimeout(0.5)
            frames = 0
            with self.assertRaises(TimeoutError):
                while frames < 1000:  # status messages may come between frames
                    frames += isinstance(viewer.receive(), bytes)
            self.assertLessEqual(frames, 8)

    def test_half_open_connections(self):
        """The server keeps half-open connections for a while. They must disturb neither a viewer
        nor a new connection."""
        lurkers = [socket.create_connection(("127.0.0.1", self.port)) for _ in range(10)]
        for lurker in lurkers:
            lurker.sendall(b"GET / HTTP/1.1\r\nHo")
        self.assertTrue(self.get().startswith("HTTP/1.1 200"))
        for lurker in lurkers:
            lurker.close()

    def test_more_connections_than_are_allowed(self):
        lurkers = [socket.create_connection(("127.0.0.1", self.port)) for _ in range(60)]
        time.sleep(0.2)
        for lurker in lurkers:
            lurker.close()
        time.sleep(0.2)

    def memory(self):
        with open(f"/proc/{self.run_.process.pid}/statm", encoding="ascii") as statm:
            return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def test_pause_step_resume_speed(self):
        with ViewSocket(self.address) as viewer:
            viewer.send(type="pause")
            try:
                viewer.wait_for("status", lambda status: status["paused"])
                self.witness.send(type="next")
                with contextlib.suppress(
                    TimeoutError
                ):  # the last frame may have arrived before the pause
                    self.witness.frame(seconds=1)
                time.sleep(0.3)
                viewer.send(type="next")
                at = viewer.frame()
                viewer.send(type="next")
                viewer.send(type="speed", steps_per_frame=3)
                viewer.send(type="step")
                after = viewer.frame()
                while after["step"] < at["step"] + 3:  # a frame may show fewer than three new steps
                    viewer.send(type="next")
                    after = viewer.frame()
                self.assertEqual(after["step"], at["step"] + 3)
                viewer.send(type="next")
                time.sleep(0.3)  # the run must not continue during this time
                viewer.send(type="step")
                self.assertIn(viewer.frame()["step"] - after["step"], (1, 2, 3))
            finally:  # because later tests wait for frames
                viewer.send(type="resume")
            viewer.send(type="next")
            self.assertGreater(viewer.frame()["step"], after["step"])
            viewer.wait_for("status", lambda status: not status["paused"])


class ForcesTest(unittest.TestCase):
    def test_time_goes_on_with_another_dt(self):
        with (
            Run("--scenario", "two-body", "--integrator", "leapfrog") as run,
            ViewSocket(run.address) as viewer,
        ):
            info = viewer.wait_for("info")
            self.assertTrue(info["may_change_forces"])
            viewer.send(type="pause")
            viewer.wait_for("status", lambda status: status["paused"] and status["energy"])
            viewer.send(type="forces", dt=2 * info["dt"], softening=3 * info["softening"])
            changed = viewer.wait_for(
                "status", lambda status: status["dt"] == 2 * info["dt"] and status["energy"]
            )
            self.assertEqual(changed["softening"], 3 * info["softening"])
            now = changed["energy"]
            self.assertEqual(now["error"], 0)  # the error is relative to this state
            self.assertEqual(now["since"], now["time"])
            viewer.send(type="next")
            before = viewer.frame()
            while before["time"] < now["since"]:  # an older frame was in transit
                viewer.send(type="next")
                before = viewer.frame()
            viewer.send(type="next")
            viewer.send(type="step")
            after = viewer.frame()
            self.assertAlmostEqual(after["time"] - before["time"],
                                   2 * info["dt"] * (after["step"] - before["step"]), 6)
            viewer.send(type="resume")
            later = viewer.wait_for(
                "status", lambda status: (status["energy"] or now)["time"] > now["time"]
            )
            self.assertEqual(later["energy"]["since"], now["since"])

    def test_what_is_written_says_one_dt(self):
        for words in (
            ["--steps", "9"],
            ["--json", "r.json"],
            ["--checkpoint", "c.bin"],
            ["--diagnostics", "d.csv"],
        ):
            with Run("--scenario", "two-body", *words) as run, ViewSocket(run.address) as viewer:
                info = viewer.wait_for("info")
                self.assertFalse(info["may_change_forces"])
                viewer.send(type="forces", dt=info["dt"], softening=info["softening"])
                self.assertIn(words[0], viewer.wait_for("error")["message"])


class EndTest(unittest.TestCase):
    def test_the_run_waits_for_a_viewer(self):
        with Run("--scenario", "two-body", "--steps", "5", "--output", "end.csv") as run:
            time.sleep(0.3)
            self.assertFalse(Path(run.folder.name, "end.csv").exists())
            with ViewSocket(run.address) as viewer:
                info = viewer.wait_for("info")
                self.assertEqual((info["scenario"], info["last_step"]), ("two-body", 5))
                viewer.wait_for("status", lambda status: status["finished"])
                for _ in range(100):  # the run writes its files before it is interrupted
                    if Path(run.folder.name, "end.csv").exists():
                        break
                    time.sleep(0.05)
                viewer.send(type="next")
                last = viewer.frame()
                self.assertEqual(
                    (last["step"], last["bodies"], last["bytes"]), (5, 2, 64 + 24 + 32)
                )
            time.sleep(0.2)
            self.assertIsNone(run.process.poll())  # the program still shows the last state
            code, out, error = run.end()
            self.assertEqual((code, error), (0, ""), out)
            self.assertIn("verdict      pass", out)
            self.assertTrue(Path(run.folder.name, "end.csv").exists())

    def test_a_frame_shows_positions_and_velocities_of_one_time(self):
        """Leapfrog stores positions that are half a step ahead of the velocities. The last frame
        must show the synchronised positions, as in the output."""
        with (
            Run("--scenario", "two-body", "--integrator", "leapfrog", "--dt", "0.05", "--steps",
                "3", "--output", "end.csv") as run,
            ViewSocket(run.address) as viewer,
        ):
            viewer.wait_for("status", lambda status: status["finished"])
            viewer.send(type="next")
            frame = b""
            while not isinstance(frame, bytes) or not frame:
                frame = viewer.receive()
            header, count = struct.unpack_from("<II", frame, 8)
            shown = [struct.unpack_from("<4f", frame, header + 16 * k)[:3] for k in range(count)]
            self.assertEqual(run.end()[0], 0)
            lines = Path(run.folder.name, "end.csv").read_text(encoding="utf-8").splitlines()
            names, *rows = [line.split(",") for line in lines if not line.startswith("#")]
            for place, row in zip(shown, rows, strict=True):
                written = dict(zip(names, row))
                for value, name in zip(place, "xyz"):
                    self.assertAlmostEqual(value, float(written[name]), 6)

    def test_ctrl_c_before_the_first_viewer(self):
        with Run("--scenario", "two-body", "--steps", "5", "--output", "end.csv") as run:
            code, out, error = run.end()
            self.assertEqual((code, error), (0, ""))
            self.assertFalse(Path(run.folder.name, "end.csv").exists())

    def test_ctrl_c_during_the_run_keeps_what_was_computed(self):
        with Run(
            "--scenario",
            "plummer",
            "--bodies",
            "200",
            "--output",
            "end.csv",
            "--json",
            "r.json",
            "--checkpoint",
            "c.bin",
        ) as run:
            with ViewSocket(run.address) as viewer:
                for _ in range(3):
                    viewer.send(type="next")
                    viewer.frame()
            code, out, error = run.end(signal.SIGTERM)
            self.assertEqual((code, error), (0, ""))
            self.assertRegex(out, r"stopped      after \d+ steps")
            self.assertIn("verdict      unchecked", out)
            for name in ("end.csv", "r.json", "c.bin"):
                self.assertTrue(Path(run.folder.name, name).exists(), name)

    def test_ports_that_cannot_be_used(self):
        with socket.socket() as other:
            other.bind(("127.0.0.1", 0))
            other.listen()
            port = other.getsockname()[1]
            self.assertIn(
                f"port {port}", refusal(PROGRAM, "--scenario", "two-body", "--view", str(port))
            )
        for port in ("-1", "65536", "http", "", "80.5"):
            self.assertIn("--view", refusal(PROGRAM, "--view", port))
        self.assertIn("--view", refusal(PROGRAM, "--view", "0", "--repeat", "3"))

"""The page that follows a run: what its server answers while files grow, vanish and are replaced, and what a browser makes
of it where Chromium is installed."""

import base64
import contextlib
import fcntl
import html.parser
import http.client
import io
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import unittest.mock
from pathlib import Path
from urllib.parse import urlencode

import numpy as np
import PIL.Image
import synthetic
from larmor import growing_series, live
from larmor.follow import Follower
from synthetic import lock_of

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
SETTINGS = "[run]\nt_end = 10\ndt = 0.1\n[grid]\nnx = 6\nny = 4\nlx = 3\nly = 2\n[species.p]\ndensity = 1\n"
HEAD = "step,time[1/Omega_ci],kinetic_x_p[E0],kinetic_y_p[E0],magnetic_x[E0],energy_total[E0],energy_drift," \
       "leak_x_max_p,leak_x_max_weight_p,leak_x_max_energy_p[E0],present_p,ledger_residual_p,rate[1/s]\n"


def row(step, rate=1e6, residual=0):
    """Kinetic energies 3 + step and 2, magnetic energy 4; step of 100 particles have left."""
    values = [0.1 * step, 3.0 + step, 2.0, 4.0, 9.0 + step, step / 9]
    return f"{step}," + ",".join(f"{value:.16e}" for value in values) + \
        f",{step},{0.5 * step:.16e},{0.25 * step:.16e},{100 - step},{residual},{rate:.16e}\n"


def heed_interrupts() -> None:
    """A program that a shell has started in the background ignores SIGINT, and so do those that it starts."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class Served(unittest.TestCase):
    """A server in this process; the directory of its run does not exist at first."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name) / "run"
        self.server = live.Server(Follower(self.path))
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)

    def ask(self, path, host="localhost", method="GET"):
        """Status, type and body."""
        connection = http.client.HTTPConnection("127.0.0.1", self.server.server_port, timeout=10)
        connection.putrequest(method, path, skip_host=True)
        if host is not None:
            connection.putheader("Host", host)
        connection.endheaders()
        answer = connection.getresponse()
        with contextlib.closing(connection):
            return answer.status, answer.getheader("Content-Type"), answer.read()

    def value(self, path, status=200, **query):
        found, kind, body = self.ask(f"{path}?{urlencode(query, doseq=True)}")
        self.assertEqual((found, kind), (status, "application/json; charset=utf-8"), body)
        return json.loads(body)

    def begin(self, steps=()):
        self.path.mkdir()
        (self.path / "run.ini").write_text(SETTINGS)
        self.add(HEAD, *map(row, steps))

    def add(self, *lines):
        with open(self.path / "series.csv", "a") as stream:
            stream.write("".join(lines))


class Series(Served):
    def test_a_series_that_grows(self):
        self.assertEqual(self.value("/state")["status"], "waiting")
        self.begin()
        self.assertEqual(self.value("/state")["rows"], 0)
        self.add(row(0), row(10), row(20)[:-30])
        names = ["kinetic, p", "total", "kinetic_x_p", "no such column"]
        found = self.value("/curves", name=names)
        self.assertEqual((found["rows"], list(found["curves"])), (2, names[:3]))
        self.assertEqual(found["curves"]["kinetic, p"], {"x": [0.0, 1.0], "y": [5.0, 15.0]})
        self.add(row(20)[-30:], row(30).replace(f"{33.0:.16e}", "-nan"))
        found = self.value("/curves", name=names)
        self.assertEqual(found["curves"]["kinetic, p"]["y"], [5.0, 15.0, 25.0, None])
        self.assertEqual(found["curves"]["total"]["y"], [9.0, 19.0, 29.0, 39.0])
        synthetic.write_fields(self.path, 70, 7.0, {"B/z": np.ones((4, 6))})  # of the time before a restart
        state = self.value("/state")
        self.assertEqual((state["step"], state["last"], state["rows"]), (30, 100, 4))
        self.assertAlmostEqual(state["time"], 3.0)

    def test_a_long_series_is_read_in_pieces(self):
        self.begin(range(200))
        with unittest.mock.patch.object(growing_series, "PIECE", 1000):
            self.assertEqual(self.value("/curves", name="present_p")["curves"]["present_p"]["y"], [*range(100, -100, -1)])
        self.assertEqual(self.value("/state")["generation"], 1)

    def test_a_series_that_is_replaced(self):
        self.begin([0, 10])
        before = self.value("/state")
        (self.path / "series.csv").write_text(HEAD + row(0, 2e6) + row(10, 2e6) + row(20, 2e6))
        after = self.value("/state")
        self.assertGreater(after["generation"], before["generation"])
        self.assertEqual(self.value("/curves", name="rate")["curves"]["rate"]["y"], [2e6, 2e6, 2e6])
        (self.path / "series.csv").unlink()
        self.assertEqual(self.value("/state")["rows"], 0)
        shutil.rmtree(self.path)
        self.assertEqual(self.value("/state")["status"], "waiting")

    def test_ledger(self):
        self.begin([0, 10])
        self.add(row(20, residual=-3), row(30))
        state = self.value("/state")
        account = {"name": "leak_x_max", "kind": "out", "number": 30, "energy": 7.5}
        self.assertEqual(state["species"], [{"name": "p", "accounts": [account], "present": 70}])
        self.assertEqual(state["residuals"], {"ledger_residual_p": 3})

    def test_kinds_of_curves(self):
        self.begin([0])
        kinds = {curve["name"]: curve["kind"] for curve in self.value("/state")["curves"]}
        self.assertEqual([name for name in kinds if kinds[name] == "energy"], ["kinetic, p", "magnetic", "total"])
        self.assertEqual([name for name in kinds if kinds[name] == "part"], ["kinetic_x_p", "kinetic_y_p"])
        self.assertNotIn("step", kinds)

    def test_thinning_keeps_extremes(self):
        values = np.sin(np.arange(123_457) / 5000)
        values[777], values[100_001], values[5] = 9, -9, np.nan
        rows = growing_series.thin(values)
        self.assertLess(len(rows), 2 * growing_series.POINTS + 500)
        self.assertTrue({0, 777, 100_001, len(values) - 1} <= set(rows))
        self.assertTrue((np.diff(rows) > 0).all())
        self.assertEqual(growing_series.thin(values[:1000]).tolist(), list(range(1000)))


class Frames(Served):
    def frame(self, step, mesh="B/z", status=200, source="fields"):
        found = self.value("/frame", status, source=source, step=step, mesh=mesh)
        if status == 200:
            values = np.frombuffer(base64.b64decode(found["values"]), "<f4").reshape(found["ny"], found["nx"])
            return found, values
        return found["error"], None

    def test_values_and_places(self):
        self.begin()
        self.assertEqual(self.value("/state")["sources"], [])
        ramp = np.arange(24.0).reshape(4, 6)
        synthetic.write_fields(self.path, 0, 0.0, {"B/z": ramp, "n_p": -ramp})
        synthetic.write_fields(self.path, 20, 2.0, {"u_p/x": ramp}, folder="outputs", stem="flow_1")
        self.assertEqual(self.value("/state")["sources"], [{"name": "fields", "steps": [0], "meshes": ["B/z", "n_p"]},
                                                           {"name": "flow_1", "steps": [20], "meshes": ["u_p/x"]}])
        synthetic.write_fields(self.path, 10, 1.0, {"B/z": ramp + 1, "n_p": -ramp})
        self.assertEqual(self.value("/state")["sources"][0]["steps"], [0, 10])
        found, values = self.frame(10)
        np.testing.assert_array_equal(values[:, 1:], ramp + 1)
        np.testing.assert_array_equal(values[:, 0], ramp[:, 0] + 1)  # half a cell of the nearest value, on the left
        self.assertEqual((found["time"], found["step"], found["cells"], found["block"]), (1.0, 10, [6, 4], [1, 1]))
        np.testing.assert_allclose((found["x"], found["y"]), ([0, 1.5], [0, 2]))  # 6 and 4 cells, from 0
        np.testing.assert_allclose(found["first"], [-0.125, 0])  # the first value is on the right face of the first cell
        np.testing.assert_array_equal(self.frame(20, "u_p/x", source="flow_1")[1][:, 1:], ramp)

    def test_many_cells_become_means(self):
        self.begin()
        values = np.random.default_rng(1).random((600, 1025))
        synthetic.write_fields(self.path, 0, 0.0, {"B/z": values}, spacing=(0.5, 0.25), position=(0, 0))
        found, means = self.frame(0)
        self.assertEqual((means.shape, found["block"], found["cell"]), ((300, 342), [3, 2], [0.75, 1.0]))
        np.testing.assert_allclose(means[:, :341], values[:, :1023].reshape(300, 2, 341, 3).mean(axis=(1, 3)), rtol=1e-6)
        np.testing.assert_allclose(means[:, 341], values[:, 1023:].reshape(300, 2, 2).mean(axis=(1, 2)), rtol=1e-6)

    def test_values_that_are_not_finite(self):
        self.begin()
        half = np.full((4, 6), 2.0)
        half[:, :3] = np.nan
        synthetic.write_fields(self.path, 0, 0.0, {"u_p/x": np.full((4, 6), np.nan), "u_p/y": half})
        self.assertTrue(np.isnan(self.frame(0, "u_p/x")[1]).all())
        self.assertEqual(np.isnan(self.frame(0, "u_p/y")[1][:, 1:]).sum(), 12)
        self.assertEqual([self.frame(0, "u_p/y")[0][end] for end in ("low", "high")], [1.0, 3.0])

    def test_files_that_vanish_or_are_damaged(self):
        self.begin()
        for step in (0, 10, 20):
            synthetic.write_fields(self.path, step, 0.1 * step, {"B/z": np.ones((4, 6))})
        files = sorted((self.path / "fields").iterdir())
        files[0].unlink()
        files[1].write_bytes(files[1].read_bytes()[:700])
        files[2].write_bytes(b"")
        (self.path / "fields" / "data_00000030.h5.part").write_bytes(b"being written")
        for step in (0, 10, 20, 30):
            error, _ = self.frame(step, status=404)
            self.assertTrue(error)
        self.assertEqual(self.value("/state")["sources"], [{"name": "fields", "steps": [10, 20], "meshes": []}])
        synthetic.write_fields(self.path, 20, 2.0, {"B/z": np.ones((4, 6))})
        self.assertEqual(self.value("/state")["sources"][0]["meshes"], ["B/z"])
        self.assertIn("no mesh 'B/q'", self.frame(20, "B/q", status=404)[0])


class Status(Served):
    def status(self):
        return self.value("/state")["status"]

    def test_running_until_the_lock_is_free(self):
        self.begin([0])
        with lock_of(self.path):
            state = self.value("/state")
            self.assertEqual((state["status"], state["holder"][:12]), ("running", "process 7 on"))
        self.assertEqual(self.status(), "killed")
        (self.path / "larmor.lock").write_text("process 7 on elsewhere since 2026-01-02 03:04:05 UTC\n")
        self.assertEqual(self.status(), "unknown")

    def test_ends(self):
        self.begin([0])
        self.assertEqual(self.status(), "killed")
        said = "larmor: warning: dt is large\nx.h5: the run goes on with other settings:\n  run.dt: 1 -> 2\n" \
               "larmor: step 3 cannot be taken\nthe last good state is in c.h5\n"
        (self.path / "larmor.messages").write_text(said)
        state = self.value("/state")
        self.assertEqual((state["status"], state["failure"]),
                         ("failed", "step 3 cannot be taken\nthe last good state is in c.h5"))
        self.assertEqual((state["warnings"], len(state["notes"])), (["dt is large"], 2))
        (self.path / "run.json").write_text('{"ended": "interrupted (SIGINT)", "last_step": 7, "warnings": ["w"]}')
        state = self.value("/state")
        self.assertEqual((state["status"], state["ended"], state["step"], state["warnings"]),
                         ("stopped", "interrupted (SIGINT)", 7, ["w"]))
        (self.path / "run.json").write_text('{"ended": "complete", "last_step": 100, "warnings": []}')
        self.assertEqual(self.status(), "complete")
        with lock_of(self.path):
            self.assertEqual(self.status(), "running")

    def test_time_left(self):
        """Files that an earlier run has left do not count."""
        self.begin([0, 10, 20])
        start = int(time.time()) - 60
        synthetic.write_fields(self.path, 0, 0.0, {"B/z": np.ones((4, 6))}, folder="outputs", stem="old")
        os.utime(self.path / "outputs" / "old_00000000.h5", (start, start - 30))
        for step in (0, 10, 20):
            synthetic.write_fields(self.path, step, 0.1 * step, {"B/z": np.ones((4, 6))})
            os.utime(self.path / "fields" / f"data_{step:08d}.h5", (start + step, start + step / 2))
        os.utime(self.path / "series.csv", (start, start + 10))
        self.assertIsNone(self.value("/state")["left"])
        since = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(start))
        with lock_of(self.path, f"process 7 on x since {since} UTC\n"):
            state = self.value("/state")
        self.assertAlmostEqual(state["left"], 40, places=3)  # 80 steps, 2 a second
        self.assertTrue(49 < state["age"] < 70, state["age"])


class Security(Served):
    def test_names_of_the_server(self):
        for host in ("localhost", "127.0.0.1", "LOCALHOST:1", f"127.0.0.1:{self.server.server_port}"):
            self.assertEqual(self.ask("/state", host)[0], 200, host)
        for host in ("evil.example", "localhost.evil.example", "127.0.0.1.evil.example:80", "localhost:80:80", "", None):
            for path in ("/", "/state", "/page.js"):
                self.assertEqual(self.ask(path, host)[0], 403, host)

    def test_other_paths_lead_nowhere(self):
        self.begin([0])
        synthetic.write_fields(self.path, 0, 0.0, {"B/z": np.ones((4, 6))})
        (self.path.parent / "secret_00000000.h5").write_bytes((self.path / "fields" / "data_00000000.h5").read_bytes())
        for path in ("/../run.ini", "/run.ini", "/..%2frun.ini", "/page.css/../../live.py", "//etc/passwd", "/live.py",
                     "/state/", "/frame", "/frame?source=fields&step=x&mesh=B/z", "/frame?source=..&step=0&mesh=B/z",
                     "/frame?source=../../secret&step=0&mesh=B/z", "/frame?source=fields&step=0&mesh=../../../run"):
            self.assertEqual(self.ask(path)[0], 404, path)
        for method in ("POST", "PUT", "DELETE", "OPTIONS"):
            self.assertEqual(self.ask("/state", method=method)[0], 501, method)

    def test_files_of_the_page(self):
        for path, kind, text in (("/", "html", b"<!DOCTYPE html>"), ("/page.css", "css", b"body {"),
                                 ("/page.js", "javascript", b"use strict"), ("/draw.js", "javascript", b"use strict")):
            status, found, body = self.ask(path)
            self.assertEqual((status, found), (200, f"text/{kind}; charset=utf-8"))
            self.assertIn(text, body)
            outside = body.replace(b"http://www.w3.org/2000/svg", b"")  # a name, which no browser asks for
            self.assertNotIn(b"http", outside)

    def test_nothing_is_written(self):
        self.begin([0])
        synthetic.write_fields(self.path, 0, 0.0, {"B/z": np.ones((4, 6))})
        before = self.listing()
        self.value("/state")
        self.value("/curves", name="total")
        self.value("/frame", source="fields", step=0, mesh="B/z")
        self.assertEqual(self.listing(), before)

    def listing(self):
        return {file: (file.stat().st_mtime_ns, file.stat().st_size) for file in self.path.rglob("*")}


class Command(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name)

    def start(self, directory, *options):
        process = subprocess.Popen([sys.executable, "-m", "larmor", "live", str(directory), "--no-browser", *options],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=heed_interrupts)
        self.addCleanup(process.kill)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.stdout.close)
        return process

    def refused(self, directory, message, *options):
        process = self.start(directory, *options)
        _, told = process.communicate(timeout=60)
        self.assertEqual((process.returncode, told.count("\n")), (2, 1), told)
        self.assertRegex(told, message)

    def test_bad_input(self):
        (self.path / "file").write_text("")
        (self.path / "other").mkdir()
        (self.path / "other" / "notes").write_text("")
        self.refused(self.path / "file", "is no directory")
        self.refused(self.path / "other", "holds no run")
        self.refused(self.path / "a" / "b", "neither it nor the directory above it exists")
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            self.refused(self.path / "new", "cannot be taken.*--port", "--port", str(taken.getsockname()[1]))
        self.assertEqual(sorted(file.name for file in self.path.iterdir()), ["file", "other"])

    def test_locked_files_and_ctrl_c(self):
        """Reading needs no lock, so that it works where the file system has none, or another program holds one."""
        synthetic.write_fields(self.path, 0, 0.0, {"B/z": np.ones((4, 6))})
        (self.path / "run.ini").write_text(SETTINGS)
        process = self.start(self.path)
        port = int(process.stdout.readline().split("/")[2].split(":")[1])
        with open(self.path / "fields" / "data_00000000.h5", "r+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
            connection.request("GET", "/frame?source=fields&step=0&mesh=B/z")
            self.assertEqual(connection.getresponse().status, 200)
            connection.close()
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.communicate(timeout=30)[1], "")
        self.assertEqual(process.returncode, 0)


class Dump(html.parser.HTMLParser):
    """Of the page as the browser has it: the text inside each element with an id, curves by their chart, the picture."""

    def __init__(self, text):
        super().__init__()
        self.open, self.text, self.curves, self.image = [], {}, {}, None
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        if tag not in ("meta", "link", "input"):
            self.open.append(attributes.get("id"))
        inside = [name for name in self.open if name]
        if tag == "path" and attributes.get("class") == "curve":
            self.curves.setdefault(inside[-1], {})[attributes["data-name"]] = attributes["d"]
        if tag == "image":
            self.image = attributes["href"]

    def handle_endtag(self, tag):
        self.open.pop()

    def handle_data(self, data):
        for name in filter(None, self.open):
            self.text[name] = self.text.get(name, "") + data


@unittest.skipUnless(BROWSER, "Chromium is not installed (Debian: apt-get install chromium)")
class Browser(Served):
    def dump(self):
        with tempfile.TemporaryDirectory() as profile:
            options = ["--headless", "--disable-gpu", f"--user-data-dir={profile}", "--virtual-time-budget=8000",
                       "--enable-logging=stderr", "--dump-dom"]
            options += ["--no-sandbox"] if os.geteuid() == 0 else []  # Chromium refuses to run as root with it
            done = subprocess.run([BROWSER, *options, self.server.url], capture_output=True, text=True, timeout=120)
        self.assertNotIn("Uncaught", done.stderr)
        return Dump(done.stdout)

    def test_a_run_that_goes_on(self):
        self.begin([0, 10, 20])
        ramp = np.arange(-12.0, 12.0).reshape(4, 6)
        for step in (0, 20):
            synthetic.write_fields(self.path, step, 0.1 * step, {"B/z": ramp if step else 0 * ramp, "n_p": ramp})
        (self.path / "larmor.messages").write_text("larmor: warning: dt is <large>\n")
        with lock_of(self.path):
            page = self.dump()
        self.assertEqual((page.text["status"], page.text.get("problem", "")), ("running", ""))
        self.assertIn("20 of 100 (20 %)", page.text["facts"])
        self.assertEqual(page.text["messages"], "Warning: dt is <large>")
        self.assertEqual(list(page.curves["energy"]), ["kinetic, p", "magnetic", "total"])
        self.assertEqual([page.curves[chart].keys() for chart in ("drift", "rate")], [{"energy_drift"}, {"rate"}])
        points = [tuple(map(float, point.split())) for point in page.curves["energy"]["kinetic, p"][1:].split("L")]
        self.assertEqual(len(points), 3)
        self.assertAlmostEqual(points[0][1] - points[1][1], points[1][1] - points[2][1], delta=0.2)  # up, in equal parts
        self.assertGreater(points[0][1], points[1][1])
        self.assertIn("Every residual of the ledger is 0", page.text["ledger"])
        self.assertIn("lost: leak_x_max20", page.text["ledger"])
        self.assertIn("Bz  [B0], step 20, ", page.text["frame-title"])
        image = PIL.Image.open(io.BytesIO(base64.b64decode(page.image.split(",")[1]))).convert("RGB")
        self.assertEqual(image.size, (7, 4))  # on the left half a cell more, of the nearest values
        lowest, highest = image.getpixel((0, 3)), image.getpixel((6, 0))  # y grows upwards
        self.assertTrue(lowest[2] > 2 * lowest[0] and highest[0] > 2 * highest[2], (lowest, highest))

    def test_a_run_that_has_failed(self):
        self.begin([0])
        self.add(row(10, residual=2))
        (self.path / "larmor.messages").write_text("larmor: step 11 cannot be taken\nbegin again\n")
        page = self.dump()
        self.assertEqual((page.text["status"], page.text["messages"]), ("failed", "step 11 cannot be taken\nbegin again"))
        self.assertIn("The ledger does not close: ledger_residual_p reaches 2", page.text["ledger"])
        self.assertIsNone(page.image)

    def test_before_a_run(self):
        page = self.dump()
        self.assertEqual((page.text["status"], page.text.get("problem", "")), ("waiting for a run", ""))


if __name__ == "__main__":
    unittest.main()

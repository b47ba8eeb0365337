"""A kubecoord server for tests, over TLS, with its functions below /debug/ (flag -debug).

    with Server() as server:
        fork = server.fork()  # a copy of the server, for example for each test
        leases = client.CoordinationV1Api(config.new_client_from_config_dict(fork.kubeconfig))
        fault = fork.fault(verb="update", resource="leases", first=2, answer={"code": 409})
        ...
        assert fault.hits == 2

This module needs only the standard library.
"""

import base64
import copy
import json
import os
import pathlib
import ssl
import subprocess
import tempfile
import urllib.error
import urllib.request


class Fork:
    """A server or a fork of one, for clients with its kubeconfig, with its faults, forks, fixtures and history."""

    def __init__(self, kubeconfig):
        cluster = kubeconfig["clusters"][0]["cluster"]
        self.kubeconfig, self.url = kubeconfig, cluster["server"]
        self.trust = ssl.create_default_context(cadata=base64.b64decode(cluster["certificate-authority-data"]).decode())

    def ask(self, method, path, body=None, content_type="application/json"):
        """Sends a request below /debug/ and returns the answer: decoded if it is JSON, or else as text."""
        data = None
        if body is not None:
            data = body.encode() if isinstance(body, str) else json.dumps(body).encode()
        request = urllib.request.Request(self.url + "/debug/" + path, data, method=method)
        if data is not None:
            request.add_header("Content-Type", content_type)
        try:
            handlers = urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=self.trust)
            with urllib.request.build_opener(*handlers).open(request) as response:
                text = response.read().decode()
                is_json = response.headers.get_content_type() == "application/json"
        except urllib.error.HTTPError as err:
            with err:
                raise ValueError(json.load(err)["message"]) from None
        return json.loads(text) if is_json else text

    def fault(self, **fault):
        """Activates a fault; the arguments are its members, which docs/testing.md lists."""
        return Fault(self, self.ask("POST", "faults", fault)["id"])

    def fork(self, **name):
        """Returns a fork: a server of its own with the same state."""
        kubeconfig = copy.deepcopy(self.kubeconfig)
        kubeconfig["clusters"][0]["cluster"]["server"] = self.ask("POST", "forks", name)["url"]
        return Fork(kubeconfig)

    def reset(self, **to):
        """Restores the state at the start, or with to="NAME" the state of a fork."""
        self.ask("POST", "reset", to)

    def load(self, fixture):
        """Loads YAML, all of it or nothing."""
        self.ask("POST", "fixtures", fixture, "application/yaml")

    def dump(self):
        """Returns the state as YAML, without fields that differ between runs."""
        return self.ask("GET", "fixtures?omitServerFields=true")

    def requests(self):
        """Returns a line for each request."""
        return [request["text"] for request in self.ask("GET", "requests")["requests"]]

    def history(self):
        """Returns all changes of objects."""
        return self.ask("GET", "history")["changes"]

    def forward(self, duration):
        """Moves the clock of a server with -clock, such as by "90s"."""
        self.ask("POST", "clock", {"forward": duration})

    def verdict(self):
        """Returns a text for each Lease with two holders and each lost update."""
        verdict = self.ask("GET", "verdict")
        return [finding["text"] for finding in verdict["twoHolders"] + verdict["lostUpdates"]]


class Fault:
    """An active fault."""

    def __init__(self, server, number):
        self.server, self.path = server, "faults/%d" % number

    @property
    def hits(self):
        """The number of requests that the fault has changed."""
        return self.server.ask("GET", self.path)["hits"]

    def remove(self):
        """Removes the fault."""
        self.server.ask("DELETE", self.path)


class Server(Fork):
    """A server in a new process: the program in KUBECOORD_SERVER, or one that is built.

    The arguments are further flags, such as "-clock", "2026-01-01T00:00:00Z".
    """

    def __init__(self, *flags):
        self.flags = flags

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory()
        self.file = os.path.join(self.folder.name, "kubeconfig")
        program = os.environ.get("KUBECOORD_SERVER")
        if not program:
            program = os.path.join(self.folder.name, "server")
            source = pathlib.Path(__file__).resolve().parent.parent / "server"
            subprocess.run(["go", "build", "-o", program, "."], cwd=source, check=True)
        command = [program, "-debug", "-tls", "-listen", "127.0.0.1:0", "-kubeconfig", self.file, *self.flags]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        first = self.process.stdout.readline().strip()
        if not first.startswith("serving on "):
            self.__exit__()
            raise RuntimeError("the server ended with %d" % self.process.returncode)
        with open(self.file) as file:
            super().__init__(json.load(file))
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.communicate()
        self.folder.cleanup()

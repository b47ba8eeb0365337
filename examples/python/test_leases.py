"""What the Kubernetes client for Python makes of leases, and of a server that has its bad days.

    python3 -m unittest    # with Debian's python3-kubernetes, or pip's kubernetes
"""

import unittest
from datetime import datetime, timedelta, timezone

from kubernetes import client, config, watch
from kubernetes.client.exceptions import ApiException
from urllib3.exceptions import HTTPError

from kubecoord import Server

FIXTURE = """\
apiVersion: coordination.k8s.io/v1
kind: Lease
metadata:
  name: leader
  namespace: default
spec:
  holderIdentity: me
  leaseTransitions: 0
"""


def setUpModule():
    global server
    server = unittest.enterModuleContext(Server())


class LeasesTest(unittest.TestCase):
    def setUp(self):
        self.fork = server.fork()
        self.leases = self.connect(self.fork)
        self.fork.load(FIXTURE)

    def connect(self, fork):
        """Returns a client for a server or a fork, which its kubeconfig leads to."""
        leases = client.CoordinationV1Api(config.new_client_from_config_dict(fork.kubeconfig))
        self.addCleanup(leases.api_client.rest_client.pool_manager.clear)
        return leases

    def tearDown(self):
        self.assertEqual(self.fork.verdict(), [])

    def take(self, holder):
        """Takes the lease as its holder would: again from the start where somebody else was faster."""
        while True:
            lease = self.leases.read_namespaced_lease("leader", "default")
            lease.spec.holder_identity = holder
            lease.spec.lease_transitions += 1
            try:
                return self.leases.replace_namespaced_lease("leader", "default", lease)
            except ApiException as err:
                if err.status != 409:
                    raise

    def test_leases_are_created_read_and_watched(self):
        body = client.V1Lease(metadata=client.V1ObjectMeta(name="new"), spec=client.V1LeaseSpec(holder_identity="you"))
        created = self.leases.create_namespaced_lease("default", body)
        self.assertEqual(created.spec.holder_identity, "you")
        self.take("you")
        events, w = [], watch.Watch()
        version = str(int(created.metadata.resource_version) - 1)
        for event in w.stream(self.leases.list_namespaced_lease, "default", resource_version=version):
            events.append((event["type"], event["object"].metadata.name))
            if len(events) == 2:
                w.stop()
        self.assertEqual(events, [("ADDED", "new"), ("MODIFIED", "leader")])
        self.assertIn("holderIdentity: you", self.fork.dump())
        self.assertEqual([change["type"] for change in self.fork.history()][-2:], ["ADDED", "MODIFIED"])

    def test_conflicts_are_the_callers_to_try_again(self):
        fault = self.fork.fault(verb="update", resource="leases", first=2, answer={"code": 409})
        taken = self.take("you")
        self.assertEqual(taken.spec.holder_identity, "you")
        self.assertEqual(taken.spec.lease_transitions, 1)
        self.assertEqual(fault.hits, 2)
        self.assertEqual(self.fork.requests(), [
            "get leases default/leader 200", "update leases default/leader 409",
            "get leases default/leader 200", "update leases default/leader 409",
            "get leases default/leader 200", "update leases default/leader 200",
        ])

    def test_errors_of_the_server_are_not_tried_again(self):
        fault = self.fork.fault(verb="get", answer={"code": 500, "message": "out of order"})
        with self.assertRaises(ApiException) as raised:
            self.leases.read_namespaced_lease("leader", "default")
        self.assertEqual(raised.exception.status, 500)
        self.assertIn("out of order", raised.exception.body)
        self.assertEqual(fault.hits, 1)

    def test_too_many_requests_are_tried_again_but_for_creates(self):
        answer = {"code": 429, "details": {"retryAfterSeconds": 1}}
        fault = self.fork.fault(verb="get", first=1, answer=answer)
        self.assertEqual(self.leases.read_namespaced_lease("leader", "default").spec.holder_identity, "me")
        self.assertEqual(fault.hits, 1, "urllib3 waited as it was told")
        self.fork.fault(verb="create", answer=answer)
        with self.assertRaises(ApiException) as raised:
            self.leases.create_namespaced_lease("default", client.V1Lease(metadata=client.V1ObjectMeta(name="new")))
        self.assertEqual(raised.exception.headers["Retry-After"], "1")

    def test_write_whose_answer_is_lost_conflicts_with_itself(self):
        fault = self.fork.fault(verb="update", first=1, cut="after")
        lease = self.leases.read_namespaced_lease("leader", "default")
        lease.spec.holder_identity = "you"
        with self.assertRaises(ApiException) as raised:
            self.leases.replace_namespaced_lease("leader", "default", lease)
        self.assertEqual(raised.exception.status, 409, "urllib3 sent it once more")
        self.assertEqual(fault.hits, 1)
        self.assertEqual(self.leases.read_namespaced_lease("leader", "default").spec.holder_identity, "you")

    def test_client_that_crashes_after_a_write_has_made_it(self):
        worker = self.connect(self.fork)
        worker.api_client.user_agent = "worker/1"
        fault = self.fork.fault(verb="update", userAgent="worker", crash="after")
        lease = worker.read_namespaced_lease("leader", "default")
        lease.spec.holder_identity = "you"
        with self.assertRaises(HTTPError):
            worker.replace_namespaced_lease("leader", "default", lease)
        self.assertEqual(fault.hits, 1)
        with self.assertRaises(HTTPError):  # it is refused, as if it were gone
            worker.read_namespaced_lease("leader", "default")
        self.assertEqual(self.leases.read_namespaced_lease("leader", "default").spec.holder_identity, "you")
        fault.remove()  # it starts again
        self.assertEqual(worker.read_namespaced_lease("leader", "default").spec.holder_identity, "you")
        self.assertEqual(self.fork.ask("GET", "faults"), {"faults": []})

    def test_watch_goes_on_where_it_was_torn(self):
        fault = self.fork.fault(verb="watch", first=1, tear={"after": 1})
        types, w = [], watch.Watch()
        for event in w.stream(self.leases.list_namespaced_lease, "default"):
            types.append(event["type"])
            if len(types) == 1:
                self.take("you")
            else:
                w.stop()
        self.assertEqual(types, ["ADDED", "MODIFIED"])
        self.assertEqual(fault.hits, 1)

    def test_forks_see_nothing_of_each_other(self):
        other = self.fork.fork()
        there = self.connect(other)
        there.delete_namespaced_lease("leader", "default")
        self.assertEqual(there.list_namespaced_lease("default").items, [])
        self.assertEqual(self.leases.read_namespaced_lease("leader", "default").spec.holder_identity, "me")
        other.reset()
        self.assertEqual(there.read_namespaced_lease("leader", "default").spec.holder_identity, "me")

    def test_two_holders_at_once_are_found(self):
        other = self.fork.fork()
        leases = self.connect(other)
        for holder in ["first", "second"]:  # which does not wait for the first one's time to be up
            now = datetime.now(timezone.utc).isoformat(timespec="microseconds")
            spec = {"holderIdentity": holder, "leaseDurationSeconds": 3600, "renewTime": now}
            leases.patch_namespaced_lease("leader", "default", {"spec": spec})
        self.assertRegex(other.verdict()[0], "two held the Lease default/leader at once")

    def test_time_passes_at_once(self):
        with Server("-clock", "2026-01-01T00:00:00Z") as standing:
            leases = self.connect(standing)
            created = []
            for name in ["first", "second"]:
                body = client.V1Lease(metadata=client.V1ObjectMeta(name=name))
                created.append(leases.create_namespaced_lease("default", body).metadata.creation_timestamp)
                standing.forward("36h")
        self.assertEqual(created[0], datetime(2026, 1, 1, tzinfo=timezone.utc))
        self.assertEqual(created[1] - created[0], timedelta(hours=36))

    def test_kubeconfig_is_all_that_a_client_needs(self):
        config.load_kube_config(server.file)
        leases = client.CoordinationV1Api()
        self.addCleanup(leases.api_client.rest_client.pool_manager.clear)
        self.assertEqual(leases.list_namespaced_lease("default").items, [])

    def test_nonsense_is_refused_with_what_was_expected(self):
        with self.assertRaisesRegex(ValueError, "body: fault: verb: got \"peek\", want one of get, list, watch"):
            self.fork.fault(verb="peek", hang=True)
        with self.assertRaisesRegex(ValueError, "body, document 1 .*already exists"):
            self.fork.load(FIXTURE)


if __name__ == "__main__":
    unittest.main()

// What the Kubernetes client for JavaScript makes of leases, and of a server that has its bad days.
//
//     npm ci && npm test

import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, test } from 'node:test';

import { ApiException, CoordinationV1Api, KubeConfig, setHeaderOptions, V1MicroTime, Watch } from '@kubernetes/client-node';

import { startServer } from './kubecoord.js';

const fixture = `\
apiVersion: coordination.k8s.io/v1
kind: Lease
metadata:
  name: leader
  namespace: default
spec:
  holderIdentity: me
  leaseTransitions: 0
`;
const leader = { name: 'leader', namespace: 'default' };
const path = '/apis/coordination.k8s.io/v1/namespaces/default/leases';

let server, fork, kubeconfig, leases;

before(async () => {
  server = await startServer();
});

after(() => server.stop());

beforeEach(async () => {
  fork = await server.fork();
  await fork.load(fixture);
  kubeconfig = new KubeConfig();
  kubeconfig.loadFromString(fork.kubeconfig);
  leases = kubeconfig.makeApiClient(CoordinationV1Api);
});

afterEach(async () => {
  assert.deepEqual(await fork.verdict(), []);
});

/** Takes the lease as its holder would: again from the start where somebody else was faster. */
async function take(holder) {
  for (;;) {
    const body = await leases.readNamespacedLease(leader);
    body.spec.holderIdentity = holder;
    body.spec.leaseTransitions++;
    try {
      return await leases.replaceNamespacedLease({ ...leader, body });
    } catch (err) {
      if (!(err instanceof ApiException && err.code === 409)) {
        throw err;
      }
    }
  }
}

/** Watches leases until so many events have come or the watch ends, and returns what they were and why it ended. */
function watchLeases(query, count, each = () => {}) {
  const events = [];
  return new Promise((resolve, reject) => {
    let controller;
    const receive = (type, lease) => {
      events.push(`${type} ${lease.metadata?.name ?? lease.code}`);
      Promise.resolve(each(events.length)).catch(reject);
      if (events.length === count) {
        controller.abort();
      }
    };
    const end = (err) => resolve({ events, err });
    new Watch(kubeconfig).watch(path, query, receive, end).then((c) => (controller = c), reject);
  });
}

test('leases are created, read and watched', async () => {
  const body = { metadata: { name: 'new' }, spec: { holderIdentity: 'you' } };
  const created = await leases.createNamespacedLease({ namespace: 'default', body });
  assert.equal(created.spec.holderIdentity, 'you');
  const resourceVersion = String(Number(created.metadata.resourceVersion) - 1);
  const { events } = await watchLeases({ resourceVersion }, 2, (n) => n === 1 && take('you'));
  assert.deepEqual(events, ['ADDED new', 'MODIFIED leader']);
  assert.match(await fork.dump(), /holderIdentity: you/);
  const types = (await fork.history()).map((change) => change.type);
  assert.deepEqual(types.slice(-2), ['ADDED', 'MODIFIED']);
});

test("conflicts are the caller's to try again", async () => {
  const fault = await fork.fault({ verb: 'update', resource: 'leases', first: 2, answer: { code: 409 } });
  const taken = await take('you');
  assert.equal(taken.spec.holderIdentity, 'you');
  assert.equal(taken.spec.leaseTransitions, 1);
  assert.equal(await fault.hits(), 2);
  assert.deepEqual(await fork.requests(), [
    'get leases default/leader 200', 'update leases default/leader 409',
    'get leases default/leader 200', 'update leases default/leader 409',
    'get leases default/leader 200', 'update leases default/leader 200',
  ]);
});

for (const { code, reason } of [{ code: 429, reason: 'TooManyRequests' }, { code: 500, reason: 'InternalError' }]) {
  test(`an answer of ${code} is not tried again`, async () => {
    const details = { retryAfterSeconds: 1 };
    const fault = await fork.fault({ verb: 'get', first: 1, answer: { code, details } });
    await assert.rejects(leases.readNamespacedLease(leader), (err) => {
      assert.ok(err instanceof ApiException);
      assert.equal(err.code, code);
      assert.equal(JSON.parse(err.body).reason, reason);
      assert.equal(err.headers['retry-after'], '1');
      return true;
    });
    assert.equal(await fault.hits(), 1);
    assert.equal((await leases.readNamespacedLease(leader)).spec.holderIdentity, 'me');
  });
}

test('a write whose answer is lost was made', async () => {
  const fault = await fork.fault({ verb: 'update', first: 1, cut: 'after' });
  await assert.rejects(take('you'), { code: 'ECONNRESET' });
  assert.equal(await fault.hits(), 1);
  assert.equal((await leases.readNamespacedLease(leader)).spec.holderIdentity, 'you');
});

test('a client that crashes after a write has made it', async () => {
  const worker = setHeaderOptions('User-Agent', 'worker/1');
  const fault = await fork.fault({ verb: 'update', userAgent: 'worker', crash: 'after' });
  const body = await leases.readNamespacedLease(leader, worker);
  body.spec.holderIdentity = 'you';
  await assert.rejects(leases.replaceNamespacedLease({ ...leader, body }, worker), { code: 'ECONNRESET' });
  assert.equal(await fault.hits(), 1);
  await assert.rejects(leases.readNamespacedLease(leader, worker), { code: 'ECONNRESET' }, 'as if it were gone');
  assert.equal((await leases.readNamespacedLease(leader)).spec.holderIdentity, 'you');
  await fault.remove(); // it starts again
  assert.equal((await leases.readNamespacedLease(leader, worker)).spec.holderIdentity, 'you');
  assert.deepEqual(await fork.ask('GET', 'faults'), { faults: [] });
});

test('a watch that is torn in the middle of an event ends without it', async () => {
  const fault = await fork.fault({ verb: 'watch', first: 1, tear: { after: 1, midFrame: true } });
  const { events, err } = await watchLeases({}, 2, (n) => n === 1 && take('you'));
  assert.deepEqual(events, ['ADDED leader']);
  assert.ok(err, 'and tells so');
  assert.equal(await fault.hits(), 1);
});

test('a watch from before the history is told that it expired', async () => {
  await take('you');
  await fork.ask('DELETE', 'history');
  const { events } = await watchLeases({ resourceVersion: '1' }, 1);
  assert.deepEqual(events, ['ERROR 410']);
});

test('forks see nothing of each other', async () => {
  const other = await fork.fork();
  const there = new KubeConfig();
  there.loadFromString(other.kubeconfig);
  const theirs = there.makeApiClient(CoordinationV1Api);
  await theirs.deleteNamespacedLease(leader);
  assert.deepEqual((await theirs.listNamespacedLease({ namespace: 'default' })).items, []);
  assert.equal((await leases.readNamespacedLease(leader)).spec.holderIdentity, 'me');
  await other.reset();
  assert.equal((await theirs.readNamespacedLease(leader)).spec.holderIdentity, 'me');
});

test('two holders at once are found', async () => {
  const other = await fork.fork();
  const there = new KubeConfig();
  there.loadFromString(other.kubeconfig);
  const theirs = there.makeApiClient(CoordinationV1Api);
  for (const holderIdentity of ['first', 'second']) { // which does not wait for the first one's time to be up
    const body = await theirs.readNamespacedLease(leader);
    Object.assign(body.spec, { holderIdentity, leaseDurationSeconds: 3600, renewTime: new V1MicroTime() });
    await theirs.replaceNamespacedLease({ ...leader, body });
  }
  assert.match((await other.verdict())[0], /two held the Lease default\/leader at once/);
});

test('time passes at once', async () => {
  const standing = await startServer('-clock', '2026-01-01T00:00:00Z');
  try {
    const there = new KubeConfig();
    there.loadFromFile(standing.file);
    const theirs = there.makeApiClient(CoordinationV1Api);
    const created = [];
    for (const name of ['first', 'second']) {
      const lease = await theirs.createNamespacedLease({ namespace: 'default', body: { metadata: { name } } });
      created.push(lease.metadata.creationTimestamp.toISOString());
      await standing.forward('36h');
    }
    assert.deepEqual(created, ['2026-01-01T00:00:00.000Z', '2026-01-02T12:00:00.000Z']);
  } finally {
    await standing.stop();
  }
});

test('a kubeconfig is all that a client needs', async () => {
  const kubeconfig = new KubeConfig();
  kubeconfig.loadFromFile(server.file);
  const leases = kubeconfig.makeApiClient(CoordinationV1Api);
  assert.deepEqual((await leases.listNamespacedLease({ namespace: 'default' })).items, []);
});

test('nonsense is refused with what was expected', async () => {
  await assert.rejects(fork.fault({ verb: 'peek', hang: true }), {
    message: /^body: fault: verb: got "peek", want one of get, list, watch/,
  });
  await assert.rejects(fork.load(fixture), { message: /^body, document 1 .*already exists/ });
});

// A controller of Sites with @kubernetes/client-node: an informer, and a ConfigMap for each Site, which owns it.
//
// With MISTAKE=1 it replaces the ConfigMap by what it wants whatever is there, so that what others have written is lost.

import { setTimeout as sleep } from 'node:timers/promises';

import { ApiException, CoreV1Api, CustomObjectsApi, KubeConfig, PatchStrategy, makeInformer, setHeaderOptions } from '@kubernetes/client-node';

const mistake = Boolean(process.env.MISTAKE);
const sites = { group: 'programs.test', version: 'v1', plural: 'sites' };
const merge = setHeaderOptions('Content-Type', PatchStrategy.MergePatch);

const kubeconfig = new KubeConfig();
kubeconfig.loadFromDefault();
const core = kubeconfig.makeApiClient(CoreV1Api);
const custom = kubeconfig.makeApiClient(CustomObjectsApi);

/** Returns what a request answers, or undefined for 404. */
async function unlessGone(answer) {
  try {
    return await answer;
  } catch (err) {
    if (err instanceof ApiException && err.code === 404) {
      return undefined;
    }
    throw err;
  }
}

/** Makes the ConfigMap of a Site what the Site says now, and writes the status. */
async function reconcile(namespace, name) {
  const site = await unlessGone(custom.getNamespacedCustomObject({ ...sites, namespace, name }));
  if (!site || site.metadata.deletionTimestamp) {
    return; // the garbage collector does the rest
  }
  const { uid } = site.metadata;
  const owner = { apiVersion: 'programs.test/v1', kind: 'Site', name, uid, controller: true };
  const data = { text: site.spec.text };
  const body = { metadata: { name, ownerReferences: [owner] }, data };
  const have = await unlessGone(core.readNamespacedConfigMap({ namespace, name }));
  if (!have) {
    await core.createNamespacedConfigMap({ namespace, body });
  } else if (!have.metadata.ownerReferences?.some((o) => o.uid === uid)) {
    throw new Error(`the ConfigMap ${name} belongs to something else`);
  } else if (have.data?.text !== site.spec.text) {
    if (mistake) {
      await core.replaceNamespacedConfigMap({ namespace, name, body });
    } else {
      await core.patchNamespacedConfigMap({ namespace, name, body: { data } }, merge);
    }
  }
  if (site.status?.content !== name) {
    await custom.patchNamespacedCustomObjectStatus({ ...sites, namespace, name, body: { status: { content: name } } }, merge);
  }
}

const queue = new Map(); // by name: the end of what is done for it

/** Reconciles a Site after what is done for it now, again and again until it succeeds. */
function add({ metadata: { namespace, name } }) {
  const key = `${namespace}/${name}`;
  const work = async () => {
    for (;;) {
      try {
        return await reconcile(namespace, name);
      } catch (err) {
        console.log('again:', key, String(err.message ?? err).split('\n')[0]);
        await sleep(200);
      }
    }
  };
  queue.set(key, (queue.get(key) ?? Promise.resolve()).then(work));
}

const informer = makeInformer(kubeconfig, '/apis/programs.test/v1/sites', () => custom.listClusterCustomObject(sites));
informer.on('add', add);
informer.on('update', add);
informer.on('error', async (err) => {
  console.log('the watch begins again:', String(err.message ?? err).split('\n')[0]);
  await sleep(200);
  start();
});

async function start() {
  for (;;) {
    try {
      return await informer.start();
    } catch (err) {
      console.log('the list begins again:', String(err.message ?? err).split('\n')[0]);
      await sleep(200);
    }
  }
}

process.on('SIGTERM', () => process.exit(0));
start();

#!/usr/bin/python3
"""A controller of Sites with Debian's python3-kubernetes: a ConfigMap and a Deployment for each, and their names in its status.

Nothing has an owner or a finalizer: what a Site leaves is deleted here. With MISTAKE=1 that is done when the deletion is seen, so that it is
forgotten if the controller does not run at that moment.
"""

import os
import signal
import sys

from kubernetes import client, config, watch
from kubernetes.client.rest import ApiException

GROUP, VERSION, PLURAL = 'programs.test', 'v1', 'sites'
LABEL = 'programs.test/site'
MISTAKE = bool(os.environ.get('MISTAKE'))

signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
config.load_kube_config()
sites, core, apps = client.CustomObjectsApi(), client.CoreV1Api(), client.AppsV1Api()


def ignore(code, call, *args):
    """Calls, and returns None for an answer with a code."""
    try:
        return call(*args)
    except ApiException as e:
        if e.status != code:
            raise
        return None


def keep(site):
    """Makes the children of a Site what it says, and writes its status."""
    meta, spec = site['metadata'], site['spec']
    namespace, name = meta['namespace'], meta['name']
    labels = {LABEL: name}
    own = {'name': name, 'labels': labels}
    have = ignore(404, core.read_namespaced_config_map, name, namespace)
    if have is None:
        core.create_namespaced_config_map(namespace, {'metadata': own, 'data': {'text': spec['text']}})
    elif have.data != {'text': spec['text']}:
        core.patch_namespaced_config_map(name, namespace, {'data': {'text': spec['text']}})
    have = ignore(404, apps.read_namespaced_deployment, name, namespace)
    if have is None:
        container = {'name': 'site', 'image': 'nginx:1.29'}
        template = {'metadata': {'labels': labels}, 'spec': {'containers': [container]}}
        apps.create_namespaced_deployment(namespace, {
            'metadata': own,
            'spec': {'replicas': spec['replicas'], 'selector': {'matchLabels': labels}, 'template': template},
        })
    elif have.spec.replicas != spec['replicas']:
        apps.patch_namespaced_deployment(name, namespace, {'spec': {'replicas': spec['replicas']}})
    if site.get('status', {}).get('content') != name:
        sites.patch_namespaced_custom_object_status(GROUP, VERSION, namespace, PLURAL, name, {'status': {'content': name}})


def clean(namespace, name):
    """Deletes the children of a Site that is gone."""
    ignore(404, core.delete_namespaced_config_map, name, namespace)
    ignore(404, apps.delete_namespaced_deployment, name, namespace)


def present(namespace, name):
    """Returns a Site as the server has it now, or None."""
    return ignore(404, sites.get_namespaced_custom_object, GROUP, VERSION, namespace, PLURAL, name)


def sync(namespace, name):
    site = present(namespace, name)
    if site:
        keep(site)
    else:
        clean(namespace, name)


def run():
    """Lists Sites, and follows them until the watch ends."""
    found = sites.list_cluster_custom_object(GROUP, VERSION, PLURAL)
    names = {(s['metadata']['namespace'], s['metadata']['name']) for s in found['items']}
    if not MISTAKE:
        for children in core.list_config_map_for_all_namespaces, apps.list_deployment_for_all_namespaces:
            names |= {(c.metadata.namespace, c.metadata.labels[LABEL]) for c in children(label_selector=LABEL).items}
    for namespace, name in sorted(names):
        sync(namespace, name)
    version = found['metadata']['resourceVersion']
    for event in watch.Watch().stream(sites.list_cluster_custom_object, GROUP, VERSION, PLURAL, resource_version=version, timeout_seconds=300):
        meta = event['object']['metadata']
        sync(meta['namespace'], meta['name'])


if __name__ == '__main__':
    while True:
        try:
            run()
        except Exception as e:  # from the list on again
            print('again, after', repr(e).splitlines()[0], flush=True)
            signal.sigtimedwait([], 0.2)

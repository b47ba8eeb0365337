package scheme

import corev1 "k8s.io/api/core/v1"

// A Node keeps the members of the configuration of kubelets over the API, which is gone, only if it has them already (upstream:
// registry/core/node/strategy.go, dropDisabledFields). A server of today lets none in.

func createNode(n *corev1.Node) { n.Spec.ConfigSource, n.Status.Config = nil, nil }

func updateNode(n, old *corev1.Node) {
	if old.Spec.ConfigSource == nil {
		n.Spec.ConfigSource = nil
	}
}

func nodeStatus(n, old *corev1.Node) {
	if old.Status.Config == nil {
		n.Status.Config = nil
	}
}

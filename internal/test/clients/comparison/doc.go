// Package comparison holds kubecoord against what else a test may give to a
// Kubernetes client: the fake clientset of client-go and the fake client of
// controller-runtime. The table in README.md is what its tests observe; those
// of its cells that are said to be known otherwise are envtest's, which is not
// run here, and the figures, which BenchmarkStart measures.
//
// Every scenario is written once, against the interfaces of client-go, and run
// by every subject. Those without a clientset of their own are spoken to
// through an adapter, which kubecoord is spoken to through as well: what is
// lost there would be missing in its column too.
package comparison

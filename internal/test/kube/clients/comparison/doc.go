// Package comparison compares kubecoord with the fake clientset of client-go
// and the fake client of controller-runtime. Its tests observe the table in
// docs/comparison.md, except for two parts: the column of envtest, which is not
// run here, and the figures of BenchmarkStart.
//
// Every scenario is written once, against the interfaces of client-go, and run
// against every subject. An adapter gives a clientset to subjects that have
// none. kubecoord is run through the adapter too, so that a loss in the adapter
// shows in its own column.
package comparison

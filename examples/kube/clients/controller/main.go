package main

import (
	"flag"
	"fmt"
	"os"

	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

func main() {
	namespace := flag.String("lock-namespace", "default", "`namespace` of the Lease that replicas contend for")
	metrics := flag.String("metrics", "0", "`address` to serve metrics on; 0 is none")
	flag.Parse() // -kubeconfig is a flag of controller-runtime
	ctrl.SetLogger(klog.NewKlogr())
	if err := run(*namespace, *metrics); err != nil {
		fmt.Fprintln(os.Stderr, "controller:", err)
		os.Exit(1)
	}
}

// run works until ctx ends or the lock is lost.
func run(namespace, metrics string) error {
	config, err := ctrl.GetConfig()
	if err != nil {
		return err
	}
	opts := manager.Options{}
	opts.Metrics.BindAddress = metrics
	mgr, err := newManager(config, namespace, opts)
	if err != nil {
		return err
	}
	return mgr.Start(ctrl.SetupSignalHandler())
}

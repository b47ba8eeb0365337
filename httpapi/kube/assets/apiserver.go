package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/pflag"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/klog/v2"

	"github.com/kubecoord/kubecoord/httpapi"
)

// apiserver is the program kube-apiserver: it serves until a signal ends it. Its result is the exit code.
func apiserver(args []string, out, errs io.Writer) int {
	fs, err := apiserverFlags()
	if err != nil {
		fmt.Fprintln(errs, "Error:", err)
		return 1
	}
	fs.Usage = func() {}
	err = fs.Parse(args)
	if help, _ := fs.GetBool("help"); help || errors.Is(err, pflag.ErrHelp) {
		apiserverUsage(fs, out)
		return 0
	}
	if version, _ := fs.GetString("version"); err == nil && version != "false" {
		fmt.Fprintf(out, "Kubernetes %s (kubecoord)\n", httpapi.Version)
		return 0
	}
	for _, arg := range fs.Args() {
		if err == nil && arg != "" {
			err = fmt.Errorf("%q does not take any arguments, got %q", fs.Name(), fs.Args())
		}
	}
	if err != nil {
		fmt.Fprintln(errs, "Error:", err)
		return 1
	}
	defer klog.Flush()
	if err := runAPIServer(fs); err != nil {
		klog.ErrorS(err, "command failed")
		return 1
	}
	return 0
}

// runAPIServer serves until a signal comes. A second one ends the process at once.
func runAPIServer(fs *pflag.FlagSet) error {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	go func() {
		<-signals
		stop()
		<-signals
		os.Exit(1)
	}()

	o, problems := readOptions(fs)
	if err := utilerrors.NewAggregate(problems); err != nil {
		return err
	}
	for _, flag := range idle(fs) {
		klog.Warningf("The flag %s has no effect in this server", flag)
	}
	for _, plugin := range o.rules.Idle() {
		klog.Warningf("The admission plugin %s is not in this server", plugin)
	}
	klog.Info("kubecoord, with the flags of kube-apiserver: objects are in the memory of this process, not in etcd")
	s, err := o.newServer()
	if err != nil {
		return err
	}
	return s.run(ctx)
}

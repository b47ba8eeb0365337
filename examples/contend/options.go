package main

import (
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/kubecoord/kubecoord/httpapi/client"
	"github.com/kubecoord/kubecoord/lease"
)

// options is the command line.
type options struct {
	servers    string
	caFile     string
	tokenFile  string
	kubeconfig string
	once       bool
	grace      time.Duration
	lease      lease.ContenderOptions
	command    []string // nil: only lead
	log        *slog.Logger
}

// parse reads the command line.
func parse(args []string, errs io.Writer) (*options, error) {
	o := &options{}
	f := flag.NewFlagSet("contend", flag.ContinueOnError)
	f.SetOutput(io.Discard) // the caller prints the error, without the usage
	f.StringVar(&o.servers, "server", "", "`URLs` of one service, separated by commas; without it -kubeconfig")
	f.StringVar(&o.caFile, "certificate-authority", "", "with -server: trust only servers whose certificate the ones in this `file` have signed")
	f.StringVar(&o.tokenFile, "token-file", "", "with -server: `file` with the bearer token")
	f.StringVar(&o.kubeconfig, "kubeconfig", "", "`file` with server and credentials; default as for kubectl")
	f.StringVar(&o.lease.Namespace, "namespace", "default", "`namespace` of the Lease")
	f.StringVar(&o.lease.Name, "name", "contend", "`name` of the Lease")
	f.StringVar(&o.lease.Identity, "identity", newIdentity(), "`name` of this process in the Lease; it must be unique")
	f.DurationVar(&o.lease.LeaseDuration, "lease-duration", lease.DefaultLeaseDuration, "others wait this `time` after the last renewal that they saw")
	f.DurationVar(&o.lease.RenewDeadline, "renew-deadline", lease.DefaultRenewDeadline, "lead this `time` after the last renewal that succeeded")
	f.DurationVar(&o.lease.RetryPeriod, "retry-period", lease.DefaultRetryPeriod, "renew each `time`")
	f.BoolVar(&o.once, "once", false, "exit with code 75 when a term ends before the command, instead of waiting for the Lease again")
	f.DurationVar(&o.grace, "grace", 3*time.Second, "the command has this `time` between SIGTERM and SIGKILL; it must be less than lease-duration minus renew-deadline")
	if err := f.Parse(args); errors.Is(err, flag.ErrHelp) {
		f.SetOutput(errs)
		fmt.Fprintln(errs, "usage: contend [flags] [-- command args...]")
		f.PrintDefaults()
		return nil, err
	} else if err != nil {
		return nil, err
	}
	if f.NArg() > 0 {
		o.command = f.Args()
	} else if len(args) > 0 && args[len(args)-1] == "--" {
		return nil, errors.New("--: needs a command")
	}
	empty := ""
	f.Visit(func(f *flag.Flag) {
		if f.Value.String() == "" {
			empty = f.Name
		}
	})
	if empty != "" { // of a variable that is not set: the default may be another server
		return nil, fmt.Errorf("-%s: is empty", empty)
	}
	o.lease.ReleaseOnCancel = true
	return o, o.check()
}

func (o *options) check() error {
	if err := o.checkCommand(); err != nil {
		return err
	}
	switch {
	case o.servers != "" && o.kubeconfig != "":
		return errors.New("-server and -kubeconfig: set one")
	case o.servers == "" && (o.caFile != "" || o.tokenFile != ""):
		return errors.New("-certificate-authority and -token-file: need -server; a kubeconfig has its own")
	}
	return nil
}

// checkCommand finds mistakes before the Lease is taken, which may be weeks later.
func (o *options) checkCommand() error {
	if o.command == nil {
		return nil
	}
	// If there is no margin, lease.NewContender says so.
	if margin := o.lease.LeaseDuration - o.lease.RenewDeadline; margin > 0 && (o.grace <= 0 || o.grace >= margin) {
		return fmt.Errorf("-grace %s: must be more than 0 and less than %s, which is -lease-duration minus -renew-deadline: others may start their command then", o.grace, margin)
	}
	_, err := exec.LookPath(o.command[0])
	return err
}

// newIdentity returns a name that no other process has: a process that starts again must not
// take the Lease of the one before it for its own.
func newIdentity() string {
	host, err := os.Hostname()
	if err != nil {
		host = "contend"
	}
	return host + "_" + strings.ToLower(rand.Text())
}

// config returns the servers and the credentials.
func (o *options) config() (client.Config, error) {
	if o.servers == "" {
		return client.Kubeconfig(o.kubeconfig)
	}
	c := client.Config{Servers: strings.Split(o.servers, ","), TokenFile: o.tokenFile}
	if o.caFile == "" {
		return c, nil
	}
	data, err := os.ReadFile(o.caFile)
	if err != nil {
		return c, fmt.Errorf("-certificate-authority: %w", err)
	}
	c.TLS = &tls.Config{RootCAs: x509.NewCertPool()}
	if !c.TLS.RootCAs.AppendCertsFromPEM(data) {
		return c, fmt.Errorf("-certificate-authority: %s has no certificate", o.caFile)
	}
	return c, nil
}

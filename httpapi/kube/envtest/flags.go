package envtest

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/kubecoord/kubecoord/httpapi/kube/internal/controlplane"
	"github.com/kubecoord/kubecoord/store/kind"
)

// flags are the flags of a kube-apiserver that have an effect.
type flags struct {
	clients controlplane.Authentication
	rules   controlplane.Rules
	network controlplane.Network
	gates   map[string]bool
	served  controlplane.Served
	values  map[string]string
}

// readFlags returns the flags of a server over the defaults that envtest has, and says which have no effect.
func readFlags(s *APIServer) (f flags, err error) {
	// The flags that envtest sets itself are not read, nor are they reported.
	own := strings.Fields(`allow-privileged cert-dir bind-address secure-port etcd-servers insecure-port
		advertise-address service-account-issuer service-account-key-file service-account-signing-key-file`)
	read := strings.Fields("client-ca-file token-auth-file anonymous-auth authorization-mode enable-admission-plugins disable-admission-plugins service-cluster-ip-range service-node-port-range feature-gates runtime-config default-not-ready-toleration-seconds default-unreachable-toleration-seconds")
	args := &Arguments{maps.Clone(s.Configure().values)}
	rest, err := args.addTemplates(s.Args, s)
	if err != nil {
		return f, err
	}
	fs, err := controlplane.Flags()
	if err != nil {
		return f, err
	}
	var known []string
	for _, arg := range args.AsStrings(map[string][]string{"authorization-mode": {"RBAC"}, "disable-admission-plugins": {"ServiceAccount"}, "service-cluster-ip-range": {"10.0.0.0/24"}}) {
		name, _, _ := strings.Cut(strings.TrimPrefix(arg, "--"), "=")
		if fs.Lookup(name) != nil && !slices.Contains(own, name) {
			known = append(known, arg)
		}
		if !slices.Contains(own, name) && !slices.Contains(read, name) {
			rest = append(rest, "--"+name)
		}
	}
	slices.Sort(rest)
	s.report(slices.Compact(rest))
	if err := fs.Parse(known); err != nil {
		return f, err
	}
	var wrong []error
	if f.network, wrong = controlplane.Services(fs); len(wrong) > 0 {
		return f, wrong[0]
	}
	if f.gates, err = controlplane.FeatureGates(fs); err != nil {
		return f, err
	}
	f.served, f.values = controlplane.RuntimeConfig(fs), controlplane.Values(fs)
	f.clients, f.rules, err = controlplane.Access(fs, func(text string) {
		if s.Err != nil {
			fmt.Fprintf(s.Err, "envtest: %s\n", text)
		}
	})
	return f, err
}

// report says which flags have no effect.
func (s *APIServer) report(without []string) {
	for _, flag := range without {
		if s.Err != nil {
			fmt.Fprintf(s.Err, "envtest: the flag %s has no effect in this server\n", flag)
		}
	}
}

// reportServed says which values of --runtime-config have no effect. A kube-apiserver ends with a name that it does not know; here the
// rest of a suite that names a version of another server can run.
func (s *APIServer) reportServed(served controlplane.Served, kinds []kind.Kind) {
	out := s.Err
	if out == nil {
		out = os.Stderr
	}
	for _, problem := range served.Check() {
		fmt.Fprintf(out, "envtest: --runtime-config: %v\n", problem)
	}
	for _, name := range served.Missing(kinds) {
		fmt.Fprintf(out, "envtest: --runtime-config=%s: this server does not have it\n", name)
	}
}

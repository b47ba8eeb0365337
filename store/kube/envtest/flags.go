package envtest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubecoord/kubecoord/store/kube/internal/controlplane"
)

// flags are the flags of a kube-apiserver that have an effect.
type flags struct {
	clients controlplane.Authentication
	rules   controlplane.Rules
}

// readFlags returns the flags of a server over the defaults that envtest has, and says which have no effect.
func readFlags(s *APIServer) (f flags, err error) {
	defaults := map[string][]string{
		"service-cluster-ip-range": {"10.0.0.0/24"}, "authorization-mode": {"RBAC"}, "disable-admission-plugins": {"ServiceAccount"},
		"allow-privileged": nil, "cert-dir": nil, "bind-address": nil, "secure-port": nil, "etcd-servers": nil, "insecure-port": nil,
		"advertise-address": nil, "service-account-issuer": nil, "service-account-key-file": nil, "service-account-signing-key-file": nil,
	}
	args := EmptyArguments()
	for name, value := range s.Configure().values {
		args.SetRaw(name, value)
	}
	rest, err := args.addTemplates(s.Args, s)
	if err != nil {
		return f, err
	}
	read := map[string]*string{"client-ca-file": &f.clients.ClientCAFile, "token-auth-file": &f.clients.TokenFile}
	lists := map[string]*[]string{
		"authorization-mode": &f.rules.Modes, "enable-admission-plugins": &f.rules.Enabled, "disable-admission-plugins": &f.rules.Disabled,
	}
	anonymous := "true"
	read["anonymous-auth"] = &anonymous
	for name, field := range read {
		if v := args.Get(name).Get(defaults[name]); len(v) > 0 {
			*field = v[len(v)-1]
		}
	}
	for name, field := range lists {
		for _, v := range args.Get(name).Get(defaults[name]) {
			*field = append(*field, strings.Split(v, ",")...)
		}
	}
	f.clients.Anonymous = f.rules.Anonymous(anonymous != "false", func(text string) {
		if s.Err != nil {
			fmt.Fprintf(s.Err, "envtest: %s\n", text)
		}
	})
	for name := range args.values {
		if _, known := defaults[name]; !known && read[name] == nil && lists[name] == nil {
			rest = append(rest, "--"+name)
		}
	}
	slices.Sort(rest)
	s.report(rest)
	return f, f.rules.Check()
}

// report says which flags have no effect.
func (s *APIServer) report(without []string) {
	for _, flag := range without {
		if s.Err != nil {
			fmt.Fprintf(s.Err, "envtest: the flag %s has no effect in this server\n", flag)
		}
	}
}

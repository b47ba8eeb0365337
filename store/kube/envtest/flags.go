package envtest

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/store/kube/cluster"
)

// flags are the flags of a kube-apiserver that have an effect.
type flags struct {
	clientCAFile, tokenAuthFile string
	anonymous                   bool
	authorization               []string // the modes
	enabled, disabled           []string // admission plugins
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
	read := map[string]*string{"client-ca-file": &f.clientCAFile, "token-auth-file": &f.tokenAuthFile}
	lists := map[string]*[]string{
		"authorization-mode": &f.authorization, "enable-admission-plugins": &f.enabled, "disable-admission-plugins": &f.disabled,
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
	f.anonymous = anonymous != "false"
	for name := range args.values {
		if _, known := defaults[name]; !known && read[name] == nil && lists[name] == nil {
			rest = append(rest, "--"+name)
		}
	}
	slices.Sort(rest)
	s.report(rest)
	return f, f.check()
}

// report says which flags have no effect.
func (s *APIServer) report(without []string) {
	for _, flag := range without {
		if s.Err != nil {
			fmt.Fprintf(s.Err, "envtest: the flag %s has no effect in this server\n", flag)
		}
	}
}

// check refuses values that would let requests pass which a real server refuses.
func (f flags) check() error {
	for _, mode := range f.authorization {
		if !slices.Contains([]string{"RBAC", "Node", "AlwaysAllow", "AlwaysDeny"}, mode) {
			return fmt.Errorf("--authorization-mode: got %q, want RBAC, Node, AlwaysAllow or AlwaysDeny", mode)
		}
	}
	return nil
}

// cluster returns what the server does beside keeping objects.
func (f flags) cluster(o cluster.Options) cluster.Options {
	o.Namespaces = f.plugin("NamespaceLifecycle")
	o.Webhooks = f.plugin("MutatingAdmissionWebhook") && f.plugin("ValidatingAdmissionWebhook")
	o.Policies = f.plugin("ValidatingAdmissionPolicy")
	o.Service, o.Disruptions, o.Reviews = true, true, true
	o.RBAC = f.rbac()
	return o
}

// rbac reports whether Roles and their bindings decide about requests.
func (f flags) rbac() bool {
	return slices.Contains(f.authorization, "RBAC") && !slices.Contains(f.authorization, "AlwaysAllow")
}

// plugin reports whether an admission plugin that is on by default is on.
func (f flags) plugin(name string) bool {
	return !slices.Contains(f.disabled, name) || slices.Contains(f.enabled, name)
}

// tokensOf reads a file of static tokens: token, user, uid, and optionally groups in quotes (Kubernetes documentation,
// "Static token file").
func tokensOf(name string) (map[string]httpapi.User, error) {
	file, err := os.Open(filepath.Clean(name))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	tokens := map[string]httpapi.User{}
	records := csv.NewReader(file)
	records.FieldsPerRecord = -1
	for {
		record, err := records.Read()
		switch {
		case errors.Is(err, io.EOF):
			return tokens, nil
		case err != nil:
			return nil, err
		case len(record) < 3:
			return nil, fmt.Errorf("%s: token file: want at least 3 columns: token, user, uid", name)
		}
		user := httpapi.User{Name: record[1]}
		if len(record) > 3 && record[3] != "" {
			for group := range strings.SplitSeq(record[3], ",") {
				user.Groups = append(user.Groups, strings.TrimSpace(group))
			}
		}
		tokens[record[0]] = user
	}
}

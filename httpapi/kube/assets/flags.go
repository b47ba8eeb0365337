package main

import (
	"fmt"
	"io"
	"slices"

	"github.com/spf13/pflag"

	"github.com/kubecoord/kubecoord/httpapi/kube/internal/controlplane"
)

// debugFlag is the flag that kube-apiserver does not have.
const debugFlag = "kubecoord-debug"

// effective returns the flags that have an effect here, with a sentence for --help.
func effective() map[string]string {
	return map[string]string{
		"admission-control":                      "As --enable-admission-plugins.",
		"advertise-address":                      "The address in a certificate that is made.",
		"anonymous-auth":                         "Requests without credentials come from the user system:anonymous. With AlwaysAllow they are refused.",
		"api-audiences":                          "Audiences of tokens of ServiceAccounts. Default: the issuer.",
		"authorization-mode":                     "RBAC, Node, AlwaysAllow or AlwaysDeny.",
		"bind-address":                           "An address of the loopback. This server has no other.",
		"cert-dir":                               "Where apiserver.crt and apiserver.key are, or are made, without --tls-cert-file.",
		"client-ca-file":                         "Authorities whose client certificates are users: the common name, and the organizations as groups.",
		"default-not-ready-toleration-seconds":   "How long Pods tolerate a node that is not ready.",
		"default-unreachable-toleration-seconds": "How long Pods tolerate a node that is not reachable.",
		"disable-admission-plugins":              "Admission plugins that must not run.",
		"disable-http2-serving":                  "Serve HTTP/1.1 only.",
		"enable-admission-plugins":               "Admission plugins that must run, of those that this server has.",
		"etcd-servers":                           "One of these must accept connections. Nothing is stored there: objects are in memory.",
		"feature-gates":                          "Gates that are off take their members from built-in objects. They have no other effect.",
		"http2-max-streams-per-connection":       "The streams of a connection of HTTP/2.",
		"max-mutating-requests-inflight":         "Writes at a time.",
		"max-requests-inflight":                  "Reads at a time.",
		"request-timeout":                        "The longest time of a request that is no watch.",
		"runtime-config":                         "GROUP/VERSION=false, or api/all=false, takes built-in kinds away; coordination.k8s.io/v1beta1=true adds LeaseCandidates.",
		"secure-port":                            "The port, with TLS.",
		"service-account-issuer":                 "The issuer of tokens of ServiceAccounts. Tokens of the others are accepted too.",
		"service-account-key-file":               "Keys that check tokens of ServiceAccounts.",
		"service-account-max-token-expiration":   "The longest life of a token.",
		"service-account-signing-key-file":       "The key that signs tokens of ServiceAccounts.",
		"service-cluster-ip-range":               "The range of cluster IPs, or two. Its first address is in a certificate that is made.",
		"service-node-port-range":                "The range of node ports.",
		"tls-cert-file":                          "The certificate of the server.",
		"tls-cipher-suites":                      "Cipher suites of TLS 1.2.",
		"tls-min-version":                        "The lowest version of TLS.",
		"tls-private-key-file":                   "The key of the certificate.",
		"token-auth-file":                        "Static tokens.",
		"v":                                      "The level of the log.",
		debugFlag:                                "Serve faults, forks, requests and history below /debug/, for tests in any language, to users who may. kube-apiserver has no such flag.",
		"allow-privileged":                       "Privileged containers are always allowed.",
		"watch-cache":                            "Watches and lists are served from memory in any case.",
		"service-account-lookup":                 "ServiceAccounts of tokens must exist in any case.",
		"shutdown-delay-duration":                "Wait so long after a signal before the server ends. During it /readyz fails.",
	}
}

// apiserverFlags returns the flags of a kube-apiserver, with the texts of --help.
func apiserverFlags() (*pflag.FlagSet, error) {
	fs, err := controlplane.Flags()
	if err != nil {
		return nil, err
	}
	fs.BoolP("help", "h", false, "help for kube-apiserver")
	fs.String("version", "false", "--version, --version=raw prints version information and quits")
	fs.Lookup("version").NoOptDefVal = "true"
	fs.Bool(debugFlag, false, "")
	for name, usage := range effective() {
		fs.Lookup(name).Usage = usage
	}
	return fs, nil
}

// idle returns the flags that are set and have no effect.
func idle(fs *pflag.FlagSet) (names []string) {
	known := effective()
	fs.Visit(func(f *pflag.Flag) {
		if _, is := known[f.Name]; !is {
			names = append(names, "--"+f.Name)
		}
	})
	return slices.Compact(names)
}

// apiserverUsage prints the flags. envtest looks for their names there.
func apiserverUsage(fs *pflag.FlagSet, w io.Writer) {
	fmt.Fprintf(w, "This kube-apiserver is a part of kubecoord. It serves the kinds of Kubernetes from memory, on the loopback, for tests.\n"+
		"It takes the flags of kube-apiserver. Those without a text have no effect.\n\nUsage:\n  kube-apiserver [flags]\n\nFlags:\n\n%s", fs.FlagUsages())
}

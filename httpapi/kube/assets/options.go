package main

import (
	"crypto"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/keyutil"
	cliflag "k8s.io/component-base/cli/flag"
	"k8s.io/klog/v2"

	"github.com/kubecoord/kubecoord/httpapi/kube/cluster"
	"github.com/kubecoord/kubecoord/httpapi/kube/internal/controlplane"
)

// options are the flags that have an effect.
type options struct {
	etcd      []string
	address   net.IP
	port      int64
	advertise net.IP
	network   controlplane.Network
	gates     map[string]bool

	certDir, certFile, keyFile string
	tls                        *tls.Config
	noHTTP2                    bool
	streams                    int64

	clients controlplane.Authentication
	rules   controlplane.Rules
	tokens  cluster.Tokens
	served  controlplane.Served
	values  map[string]string // of all flags

	debug                        bool
	reads, writes                int64
	requestTimeout, shutdownWait time.Duration
}

// readOptions returns what the flags say, and what is wrong with them, by the texts of kube-apiserver.
func readOptions(fs *pflag.FlagSet) (o options, problems []error) {
	refuse := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	o.etcd = controlplane.Get(fs.GetStringSlice, "etcd-servers")
	if len(o.etcd) == 0 {
		refuse("--etcd-servers must be specified")
	}
	o.port = controlplane.Get(fs.GetInt64, "secure-port")
	if o.port < 1 || o.port > 65535 {
		refuse("--secure-port %d must be between 1 and 65535, inclusive. It cannot be turned off with 0", o.port)
	}
	o.address = controlplane.Get(fs.GetIP, "bind-address")
	if !o.address.IsLoopback() {
		refuse("--bind-address %s is not an address of the loopback: this server is for tests, and has no other", o.address)
	}
	o.advertise = net.ParseIP(fs.Lookup("advertise-address").Value.String()) // nil if it is not set
	var wrong []error
	o.network, wrong = controlplane.Services(fs)
	problems = append(problems, wrong...)
	o.certDir, o.certFile, o.keyFile = controlplane.Get(fs.GetString, "cert-dir"), controlplane.Get(fs.GetString, "tls-cert-file"), controlplane.Get(fs.GetString, "tls-private-key-file")
	problems = append(problems, o.readTLS(fs)...)
	var err error
	if o.gates, err = controlplane.FeatureGates(fs); err != nil {
		problems = append(problems, err)
	}
	if o.clients, o.rules, err = controlplane.Access(fs, func(text string) { klog.Warning(text) }); err != nil {
		problems = append(problems, err)
	}
	for _, name := range []string{"authorization-config", "authentication-config"} {
		if controlplane.Get(fs.GetString, name) != "" {
			refuse("--%s is not served here: requests would be allowed that it refuses", name)
		}
	}
	problems = append(problems, o.readServiceAccounts(fs)...)
	o.served, o.values = controlplane.RuntimeConfig(fs), controlplane.Values(fs)
	problems = append(problems, o.served.Check()...)
	o.debug = controlplane.Get(fs.GetBool, debugFlag)
	delete(o.values, debugFlag) // /flagz has the flags of a kube-apiserver
	o.reads, o.writes = controlplane.Get(fs.GetInt64, "max-requests-inflight"), controlplane.Get(fs.GetInt64, "max-mutating-requests-inflight")
	o.requestTimeout, o.shutdownWait = controlplane.Get(fs.GetDuration, "request-timeout"), controlplane.Get(fs.GetDuration, "shutdown-delay-duration")
	if o.requestTimeout < 0 {
		refuse("--request-timeout can not be negative value")
	}
	return o, problems
}

func (o *options) readTLS(fs *pflag.FlagSet) (problems []error) {
	version, err := cliflag.TLSVersion(controlplane.Get(fs.GetString, "tls-min-version"))
	if err != nil {
		problems = append(problems, err)
	}
	suites, err := cliflag.TLSCipherSuites(controlplane.Get(fs.GetStringSlice, "tls-cipher-suites"))
	if err != nil {
		problems = append(problems, err)
	}
	// The authenticator verifies client certificates: a wrong one is answered 401, as by kube-apiserver.
	o.tls = &tls.Config{MinVersion: version, CipherSuites: suites, ClientAuth: tls.RequestClientCert}
	o.noHTTP2, o.streams = controlplane.Get(fs.GetBool, "disable-http2-serving"), controlplane.Get(fs.GetInt64, "http2-max-streams-per-connection")
	if (o.certFile == "") != (o.keyFile == "") {
		problems = append(problems, errors.New("missing filename for serving cert"))
	}
	return problems
}

// readServiceAccounts reads the keys of tokens.
func (o *options) readServiceAccounts(fs *pflag.FlagSet) (problems []error) {
	issuers, keys := controlplane.Get(fs.GetStringArray, "service-account-issuer"), controlplane.Get(fs.GetStringArray, "service-account-key-file")
	signing := controlplane.Get(fs.GetString, "service-account-signing-key-file")
	if len(issuers) == 0 || issuers[0] == "" {
		problems = append(problems, errors.New("service-account-issuer is a required flag"))
	}
	if len(keys) == 0 {
		problems = append(problems, errors.New("either `--service-account-key-file` or `--service-account-signing-endpoint` must be set"))
	}
	if signing == "" {
		problems = append(problems, errors.New("--service-account-signing-key-file and --service-account-issuer are required flags"))
	}
	if problems != nil {
		return problems
	}
	o.tokens = cluster.Tokens{
		Issuer: issuers[0], Issuers: issuers[1:], Audiences: controlplane.Get(fs.GetStringSlice, "api-audiences"),
		MaxExpiration: controlplane.Get(fs.GetDuration, "service-account-max-token-expiration"),
	}
	key, err := keyutil.PrivateKeyFromFile(signing)
	if err != nil {
		return []error{fmt.Errorf("failed to parse service-account-issuer-key-file: %w", err)}
	}
	signer, is := key.(crypto.Signer)
	if !is {
		return []error{fmt.Errorf("failed to parse service-account-issuer-key-file: %s: a key of type %T cannot sign", signing, key)}
	}
	o.tokens.Key = signer
	for _, name := range keys {
		public, err := keyutil.PublicKeysFromFile(name)
		if err != nil {
			return []error{err}
		}
		for _, k := range public {
			o.tokens.PublicKeys = append(o.tokens.PublicKeys, k)
		}
	}
	return nil
}

// certificate reads the certificate of the server. In the directory of --cert-dir it is made unless it is there (upstream:
// apiserver, server/options/serving.go, MaybeDefaultWithSelfSignedCerts).
func (o *options) certificate() (tls.Certificate, error) {
	if o.certFile != "" {
		return tls.LoadX509KeyPair(o.certFile, o.keyFile)
	}
	crt, key := filepath.Join(o.certDir, "apiserver.crt"), filepath.Join(o.certDir, "apiserver.key")
	there, err := cert.CanReadCertAndKey(crt, key)
	if err != nil {
		return tls.Certificate{}, err
	}
	if !there {
		host := o.advertise
		if host == nil {
			host = o.address
		}
		ips, names := []net.IP{net.IP(o.network.Ranges[0].Masked().Addr().Next().AsSlice()), o.address}, []string{"kubernetes.default.svc", "kubernetes.default", "kubernetes", "localhost"}
		crtPEM, keyPEM, err := cert.GenerateSelfSignedCertKey(host.String(), ips, names)
		if err != nil {
			return tls.Certificate{}, fmt.Errorf("unable to generate self signed cert: %w", err)
		}
		if err := errors.Join(cert.WriteCert(crt, crtPEM), keyutil.WriteKey(key, keyPEM)); err != nil {
			return tls.Certificate{}, err
		}
	}
	return tls.LoadX509KeyPair(crt, key)
}

package envtest

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"time"

	"k8s.io/client-go/rest"
)

// ListenAddr is an address of a server.
type ListenAddr struct {
	// Address is a host name or an IP address.
	Address string
	// Port is a port in decimal form.
	Port string
}

// URL returns the address with a scheme and a path.
func (l *ListenAddr) URL(scheme string, path string) *url.URL {
	return &url.URL{Scheme: scheme, Host: l.HostPort(), Path: path}
}

// HostPort returns the address in the form "host:port".
func (l *ListenAddr) HostPort() string { return net.JoinHostPort(l.Address, l.Port) }

// SecureServing says where the API server listens, and how users authenticate.
type SecureServing struct {
	// ListenAddr is the address. Without a port or an address, Start chooses a free port of 127.0.0.1.
	ListenAddr
	// CA is the certificate of the authority that signed the certificate of the server, once it runs.
	CA []byte
	// Authn adds users. Nil means client certificates.
	Authn
}

// APIServer is the API server of a ControlPlane. It runs in this process.
type APIServer struct {
	// URL is the address without TLS, which no server has since Kubernetes 1.20. It has no effect.
	//
	// Deprecated: see SecureServing.
	URL *url.URL
	// SecurePort is the port. Zero means the port of SecureServing.
	//
	// Deprecated: see SecureServing.
	SecurePort int
	// SecureServing is where the server listens. The flags bind-address and secure-port of Configure take precedence.
	SecureServing
	// InsecureServing has no effect, like URL.
	//
	// Deprecated: see SecureServing.
	InsecureServing *ListenAddr
	// Path has no effect: there is no program.
	Path string
	// Args are flags that replace the default flags. Each is a text/template that gets the APIServer.
	//
	// Deprecated: see Configure.
	Args []string
	// CertDir is a directory with apiserver.crt and apiserver.key, the certificate of the server. Start makes them if the
	// first does not exist. Default: a new directory, which Stop removes.
	CertDir string
	// EtcdURL has no effect: objects are in memory.
	EtcdURL *url.URL
	// StartTimeout and StopTimeout have no effect: there is no process to wait for.
	StartTimeout time.Duration
	StopTimeout  time.Duration
	// Out has no effect. Err, if not nil, gets a line about each flag of Configure that has no effect here.
	Out io.Writer
	Err io.Writer

	args    *Arguments
	door    door
	running *server
}

// Configure returns the flags of the server, to be changed before Start. The package documentation names the flags that have
// an effect.
func (s *APIServer) Configure() *Arguments {
	if s.args == nil {
		s.args = EmptyArguments()
	}
	return s.args
}

// Etcd stands for the etcd of a ControlPlane. There is none: objects are in memory, and end with Stop. Its fields have no
// effect.
type Etcd struct {
	// URL has no effect; in controller-runtime it is the address.
	URL *url.URL
	// Path has no effect; in controller-runtime it is the program.
	Path string
	// Args has no effect; in controller-runtime it has the flags.
	//
	// Deprecated: see Configure.
	Args []string
	// DataDir has no effect; in controller-runtime it is the directory with the data.
	DataDir string
	// StartTimeout and StopTimeout have no effect: there is no process to wait for.
	StartTimeout time.Duration
	StopTimeout  time.Duration
	// Out and Err have no effect: there is no output.
	Out io.Writer
	Err io.Writer

	args *Arguments
}

// Start does nothing.
func (e *Etcd) Start() error { return nil }

// Stop does nothing.
func (e *Etcd) Stop() error { return nil }

// Configure returns flags, which have no effect.
func (e *Etcd) Configure() *Arguments {
	if e.args == nil {
		e.args = EmptyArguments()
	}
	return e.args
}

// ControlPlane is an API server. Environment has one.
type ControlPlane struct {
	// APIServer is the server. Start makes it if it is nil.
	APIServer *APIServer
	// Etcd has no effect. Start makes it if it is nil.
	Etcd *Etcd
	// KubectlPath is the Path of KubeCtl.
	KubectlPath string

	admin *AuthenticatedUser
}

// GetAPIServer returns the API server, and makes it if it is nil.
func (f *ControlPlane) GetAPIServer() *APIServer {
	if f.APIServer == nil {
		f.APIServer = &APIServer{}
	}
	return f.APIServer
}

// Start starts the API server.
func (f *ControlPlane) Start() error {
	if f.Etcd == nil {
		f.Etcd = &Etcd{}
	}
	f.admin = nil
	return f.GetAPIServer().Start()
}

// Stop stops the API server, and removes its files. The error has what faults, or a verdict, reported; see Environment.API.
func (f *ControlPlane) Stop() error {
	if f.APIServer == nil {
		return nil
	}
	return f.APIServer.Stop()
}

// APIURL returns the URL of the server, once it runs.
//
// Deprecated: see AddUser.
func (f *ControlPlane) APIURL() *url.URL { return f.APIServer.URL }

// KubeCtl returns a kubectl with all rights, or nil if there is none.
//
// Deprecated: see AddUser and AuthenticatedUser.Kubectl.
func (f *ControlPlane) KubeCtl() *KubeCtl {
	user, err := f.legacyUser()
	if err != nil {
		return nil
	}
	k, err := user.Kubectl()
	if err != nil {
		return nil
	}
	return k
}

// RESTClientConfig returns a configuration with all rights.
//
// Deprecated: see AddUser.
func (f *ControlPlane) RESTClientConfig() (*rest.Config, error) {
	user, err := f.legacyUser()
	if err != nil {
		return nil, err
	}
	return user.Config(), nil
}

// legacyUser is the user of the deprecated methods.
func (f *ControlPlane) legacyUser() (*AuthenticatedUser, error) {
	if f.admin != nil {
		return f.admin, nil
	}
	var err error
	f.admin, err = f.AddUser(User{Name: "default", Groups: []string{systemMasters}}, nil)
	return f.admin, err
}

// AddUser adds a user. Clients with its configuration, a copy of baseConfig, make their requests in the name of the user.
// The API server must have been started, or must have an Authn.
func (f *ControlPlane) AddUser(user User, baseConfig *rest.Config) (*AuthenticatedUser, error) {
	server := f.GetAPIServer()
	if server.SecureServing.Authn == nil {
		return nil, errors.New("no authentication is configured: want Start before AddUser")
	}
	if baseConfig == nil {
		baseConfig = &rest.Config{}
	}
	cfg, err := server.SecureServing.AddUser(user, baseConfig)
	if err != nil {
		return nil, fmt.Errorf("user %s: %w", user.Name, err)
	}
	return &AuthenticatedUser{server: server, plane: f, cfg: cfg, user: user}, nil
}

const systemMasters = "system:masters"

// DefaultKubeAPIServerFlags are the default flags of an API server as the field Args has them.
//
// Deprecated: see APIServer.Configure.
var DefaultKubeAPIServerFlags = []string{
	"--advertise-address=127.0.0.1",
	"--etcd-servers={{ if .EtcdURL }}{{ .EtcdURL.String }}{{ end }}",
	"--cert-dir={{ .CertDir }}",
	"--insecure-port={{ if .URL }}{{ .URL.Port }}{{else}}0{{ end }}",
	"{{ if .URL }}--insecure-bind-address={{ .URL.Hostname }}{{ end }}",
	"--secure-port={{ if .SecurePort }}{{ .SecurePort }}{{ end }}",
	"--disable-admission-plugins=ServiceAccount",
	"--service-cluster-ip-range=10.0.0.0/24",
	"--allow-privileged=true",
}

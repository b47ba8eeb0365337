package envtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/kubecoord/kubecoord/httpapi/apitest"
)

// User is a user to be added.
type User struct {
	// Name is the name of the user.
	Name string
	// Groups are the groups of the user. A member of system:masters may do everything.
	Groups []string
}

// Authn is a method of authentication that adds users. Its methods are called in the order Configure, Start, AddUser, Stop.
// The default Authn uses client certificates.
type Authn interface {
	// Configure may write files into the directory workDir, and may set flags. Flags that have an effect on authentication here are
	// client-ca-file, token-auth-file and anonymous-auth.
	Configure(workDir string, args *Arguments) error
	// Start is called before the API server reads the files.
	Start() error
	// AddUser returns a copy of a configuration with credentials of a new user.
	AddUser(user User, baseCfg *rest.Config) (*rest.Config, error)
	// Stop is called after the end of the API server.
	Stop() error
}

// certAuthn is the default Authn: client certificates of an authority of its own.
type certAuthn struct {
	clients *authority
	file    string
}

// Configure sets the flag client-ca-file. Without a directory, in process, there are no certificates.
func (c *certAuthn) Configure(workDir string, args *Arguments) error {
	if workDir != "" {
		c.file = filepath.Join(workDir, "client-cert-auth-ca.crt")
		args.Set("client-ca-file", c.file)
	}
	return nil
}

// Start writes the certificate of the authority.
func (c *certAuthn) Start() (err error) {
	if c.file == "" {
		return nil
	}
	if c.clients, err = newAuthority("envtest-environment"); err != nil {
		return err
	}
	return os.WriteFile(c.file, c.clients.pem(), 0o640)
}

// AddUser returns a copy of a configuration with a client certificate.
func (c *certAuthn) AddUser(user User, baseCfg *rest.Config) (*rest.Config, error) {
	cfg := rest.CopyConfig(baseCfg)
	if c.clients == nil {
		return cfg, nil
	}
	var err error
	if cfg.CertData, cfg.KeyData, err = c.clients.client(user); err != nil {
		return nil, fmt.Errorf("certificate of user %s: %w", user.Name, err)
	}
	return cfg, nil
}

// Stop does nothing.
func (c *certAuthn) Stop() error { return nil }

// userTransport sends requests in process in the name of a user.
type userTransport struct {
	http.RoundTripper
	user User
}

// RoundTrip sends a request in the name of the user. The name is also the Client of the request for package apitest.
func (u userTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx := apitest.WithClient(req.Context(), u.user.Name)
	ctx = context.WithValue(ctx, userKey{}, u.user)
	return u.RoundTripper.RoundTrip(req.WithContext(ctx))
}

// CancelRequest does nothing. client-go calls it when its own timeout fires, and ends the context too.
func (u userTransport) CancelRequest(*http.Request) {}

// AuthenticatedUser is a user with credentials.
type AuthenticatedUser struct {
	server  *APIServer
	plane   *ControlPlane
	cfg     *rest.Config
	user    User
	kubectl *KubeCtl
	done    bool
}

// Config returns the configuration for clients of the user. It panics if the API server has not been started.
func (u *AuthenticatedUser) Config() *rest.Config {
	if u.done {
		return u.cfg
	}
	u.server.connect(u.cfg, u.user)
	u.done = true
	return u.cfg
}

// KubeConfig returns the content of a kubeconfig file for the user. An environment in process has none, which is an error.
func (u AuthenticatedUser) KubeConfig() ([]byte, error) {
	return kubeconfigOf(u.Config())
}

// Kubectl returns a kubectl for the user, which has to be installed: see KubeCtl.
func (u *AuthenticatedUser) Kubectl() (*KubeCtl, error) {
	if u.kubectl != nil {
		return u.kubectl, nil
	}
	content, err := u.KubeConfig()
	if err != nil {
		return nil, err
	}
	file, err := os.CreateTemp(u.server.CertDir, "*.kubecfg")
	if err != nil {
		return nil, err
	}
	_, err = file.Write(content)
	if err = errors.Join(err, file.Close()); err != nil {
		return nil, err
	}
	u.kubectl = &KubeCtl{Path: u.plane.KubectlPath, Opts: []string{"--kubeconfig=" + file.Name()}}
	return u.kubectl, nil
}

// KubeCtl runs kubectl.
type KubeCtl struct {
	// Path is the file of kubectl. Default: the environment variable TEST_ASSET_KUBECTL, then kubectl in the directory
	// KUBEBUILDER_ASSETS, then in /usr/local/kubebuilder/bin.
	Path string
	// Opts are flags for every call.
	Opts []string
}

// Run runs kubectl to its end, and returns its output.
func (k *KubeCtl) Run(args ...string) (stdout, stderr io.Reader, err error) {
	if k.Path == "" {
		k.Path = binary("kubectl", "")
	}
	var out, problems bytes.Buffer
	cmd := exec.Command(k.Path, append(k.Opts[:len(k.Opts):len(k.Opts)], args...)...)
	cmd.Stdout, cmd.Stderr = &out, &problems
	err = cmd.Run()
	return &out, &problems, err
}

// binary returns where envtest looks for a program.
func binary(name, directory string) string {
	variable := "TEST_ASSET_" + regexp.MustCompile("[^A-Z0-9]+").ReplaceAllString(strings.ToUpper(name), "_")
	if file, ok := os.LookupEnv(variable); ok {
		return file
	}
	if dir, ok := os.LookupEnv("KUBEBUILDER_ASSETS"); ok {
		directory = dir
	} else if directory == "" {
		directory = "/usr/local/kubebuilder/bin"
	}
	return filepath.Join(directory, name)
}

// kubeconfigOf returns a kubeconfig file with the server and the credentials of a configuration.
func kubeconfigOf(cfg *rest.Config) ([]byte, error) {
	if _, inProcess := cfg.Transport.(userTransport); inProcess {
		return nil, errors.New("kubeconfig: the environment runs in process, without a socket that another program could reach")
	}
	base, err := url.Parse(cfg.Host)
	if err != nil {
		return nil, fmt.Errorf("kubeconfig: %w", err)
	}
	scheme := "http"
	if rest.IsConfigTransportTLS(*cfg) {
		scheme = "https"
	}
	const name = "envtest"
	out := clientcmdapi.NewConfig()
	out.Clusters[name] = &clientcmdapi.Cluster{
		Server: (&url.URL{Scheme: scheme, Host: base.Host, Path: cfg.APIPath}).String(), CertificateAuthorityData: cfg.CAData,
	}
	out.AuthInfos[name] = &clientcmdapi.AuthInfo{
		ClientCertificateData: cfg.CertData, ClientKeyData: cfg.KeyData,
		Token: cfg.BearerToken, Username: cfg.Username, Password: cfg.Password,
	}
	out.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name}
	out.CurrentContext = name
	return clientcmd.Write(*out)
}

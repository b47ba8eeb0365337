package client

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path/filepath"

	"github.com/kubecoord/kubecoord/internal/yaml"
)

// Kubeconfig returns the Config of the current context of a kubeconfig file. For "" it takes the
// files that the environment variable KUBECONFIG lists, or else ~/.kube/config, or else the service
// account of the pod that the program runs in, as client-go does.
//
// Certificates are read now; a tokenFile is read again later. As with client-go, credentials are
// ignored if the server has no TLS. The error names the field that is wrong. These are errors too:
// credential plugins (exec, auth-provider), user names and passwords, impersonation, and proxy-url.
func Kubeconfig(file string) (Config, error) {
	files, optional := []string{file}, false
	if file == "" {
		files, optional = defaultFiles(), true
	}
	var k kubeconfig
	found := false
	for _, name := range files {
		one, err := readKubeconfig(name)
		if optional && errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return Config{}, err
		}
		found = true
		k.add(one)
	}
	if !found {
		return inCluster(serviceAccount, files)
	}
	config, err := k.config()
	if err != nil {
		return Config{}, fmt.Errorf("client: kubeconfig: %w", err)
	}
	return config, nil
}

// defaultFiles returns the files that kubectl reads.
func defaultFiles() []string {
	if list := filepath.SplitList(os.Getenv("KUBECONFIG")); len(list) > 0 {
		return list
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return nil
	}
	return []string{filepath.Join(home, ".kube", "config")}
}

// kubeconfig is a kubeconfig file (upstream: client-go, tools/clientcmd/api/v1).
type kubeconfig struct {
	CurrentContext string         `json:"current-context"`
	Contexts       []namedContext `json:"contexts"`
	Clusters       []struct {
		Name    string  `json:"name"`
		Cluster cluster `json:"cluster"`
	} `json:"clusters"`
	Users []struct {
		Name string `json:"name"`
		User user   `json:"user"`
	} `json:"users"`
}

type namedContext struct {
	Name    string `json:"name"`
	Context struct {
		Cluster string `json:"cluster"`
		User    string `json:"user"`
	} `json:"context"`
}

type cluster struct {
	Server                   string `json:"server"`
	TLSServerName            string `json:"tls-server-name"`
	InsecureSkipTLSVerify    bool   `json:"insecure-skip-tls-verify"`
	CertificateAuthority     string `json:"certificate-authority"`
	CertificateAuthorityData []byte `json:"certificate-authority-data"`
	ProxyURL                 string `json:"proxy-url"`
}

type user struct {
	Token                 string          `json:"token"`
	TokenFile             string          `json:"tokenFile"`
	ClientCertificate     string          `json:"client-certificate"`
	ClientCertificateData []byte          `json:"client-certificate-data"`
	ClientKey             string          `json:"client-key"`
	ClientKeyData         []byte          `json:"client-key-data"`
	Username              string          `json:"username"`
	As                    string          `json:"as"`
	Exec                  json.RawMessage `json:"exec"`
	AuthProvider          json.RawMessage `json:"auth-provider"`
}

// readKubeconfig reads a file. The names of files in it are relative to its folder.
func readKubeconfig(file string) (k kubeconfig, err error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return k, fmt.Errorf("client: kubeconfig: %w", err)
	}
	if k, err = parseKubeconfig(data); err != nil {
		return k, fmt.Errorf("client: kubeconfig %s: %w", file, err)
	}
	absolute := func(name *string) {
		if *name != "" && !filepath.IsAbs(*name) {
			*name = filepath.Join(filepath.Dir(file), *name)
		}
	}
	for i := range k.Clusters {
		absolute(&k.Clusters[i].Cluster.CertificateAuthority)
	}
	for i := range k.Users {
		u := &k.Users[i].User
		absolute(&u.TokenFile)
		absolute(&u.ClientCertificate)
		absolute(&u.ClientKey)
	}
	return k, nil
}

// parseKubeconfig reads the text of a file.
func parseKubeconfig(data []byte) (k kubeconfig, err error) {
	text, _, err := yaml.ToJSON(data)
	if err != nil {
		return k, err
	}
	return k, json.Unmarshal(text, &k)
}

// add adds another file. Where two have an entry of the same name, the first one counts.
func (k *kubeconfig) add(other kubeconfig) {
	k.CurrentContext = cmp.Or(k.CurrentContext, other.CurrentContext)
	k.Contexts = append(k.Contexts, other.Contexts...)
	k.Clusters = append(k.Clusters, other.Clusters...)
	k.Users = append(k.Users, other.Users...)
}

// config returns the Config of the current context.
func (k *kubeconfig) config() (Config, error) {
	if k.CurrentContext == "" {
		return Config{}, errors.New("current-context: got none, want the name of a context")
	}
	for _, c := range k.Contexts {
		if c.Name != k.CurrentContext {
			continue
		}
		config, err := k.configOf(c)
		if err != nil {
			return Config{}, fmt.Errorf("context %q: %w", c.Name, err)
		}
		return config, nil
	}
	return Config{}, fmt.Errorf("current-context: got %q, and there is no such context", k.CurrentContext)
}

func (k *kubeconfig) configOf(c namedContext) (Config, error) {
	for _, entry := range k.Clusters {
		if entry.Name != c.Context.Cluster {
			continue
		}
		config, err := entry.Cluster.config()
		if err != nil {
			return Config{}, fmt.Errorf("cluster %q: %w", entry.Name, err)
		}
		if config.TLS == nil || c.Context.User == "" {
			return config, nil
		}
		for _, entry := range k.Users {
			if entry.Name == c.Context.User {
				if err := entry.User.addTo(&config); err != nil {
					return Config{}, fmt.Errorf("user %q: %w", entry.Name, err)
				}
				return config, nil
			}
		}
		return Config{}, fmt.Errorf("user: got %q, and there is no such user", c.Context.User)
	}
	return Config{}, fmt.Errorf("cluster: got %q, and there is no such cluster", c.Context.Cluster)
}

// config returns a Config without a user. Its TLS is nil if the server has none.
func (c *cluster) config() (Config, error) {
	server, err := parseServer(c.Server)
	if err != nil {
		return Config{}, fmt.Errorf("server: %w", err)
	}
	if c.ProxyURL != "" {
		return Config{}, errors.New("proxy-url: got one, want none: set the environment variable HTTPS_PROXY")
	}
	config := Config{Server: c.Server}
	if server.Scheme == "http" {
		return config, nil
	}
	config.TLS = &tls.Config{ServerName: c.TLSServerName, InsecureSkipVerify: c.InsecureSkipTLSVerify}
	authorities, err := content("certificate-authority", c.CertificateAuthorityData, c.CertificateAuthority)
	switch {
	case err != nil:
		return Config{}, err
	case authorities == nil:
	case c.InsecureSkipTLSVerify:
		return Config{}, errors.New("insecure-skip-tls-verify: got it together with certificate-authority, want one of them")
	default:
		config.TLS.RootCAs = x509.NewCertPool()
		if !config.TLS.RootCAs.AppendCertsFromPEM(authorities) {
			return Config{}, errors.New("certificate-authority: got no certificate, want PEM")
		}
	}
	return config, nil
}

// addTo adds the credentials to a Config with TLS.
func (u *user) addTo(config *Config) error {
	for _, unsupported := range []struct {
		name string
		set  bool
	}{
		{"exec", isSet(u.Exec)}, {"auth-provider", isSet(u.AuthProvider)}, {"username", u.Username != ""}, {"as", u.As != ""},
	} {
		if unsupported.set {
			return fmt.Errorf("%s: not supported, want token, tokenFile or client-certificate", unsupported.name)
		}
	}
	config.Token, config.TokenFile = u.Token, u.TokenFile
	certificate, err := content("client-certificate", u.ClientCertificateData, u.ClientCertificate)
	if err != nil {
		return err
	}
	key, err := content("client-key", u.ClientKeyData, u.ClientKey)
	if err != nil || certificate == nil && key == nil {
		return err
	}
	pair, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		return fmt.Errorf("client-certificate and client-key: %w", err)
	}
	config.TLS.Certificates = []tls.Certificate{pair}
	return nil
}

func isSet(raw json.RawMessage) bool { return raw != nil && string(raw) != "null" }

// content returns data, or else the content of the file, or nil.
func content(field string, data []byte, file string) ([]byte, error) {
	if len(data) > 0 || file == "" {
		return data, nil
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", field, err)
	}
	return data, nil
}

// serviceAccount is where Kubernetes mounts the token and the authorities of a pod.
const serviceAccount = "/var/run/secrets/kubernetes.io/serviceaccount"

// inCluster returns the Config for a pod; files are the kubeconfigs that were not found.
func inCluster(dir string, files []string) (Config, error) {
	host, port := os.Getenv("KUBERNETES_SERVICE_HOST"), os.Getenv("KUBERNETES_SERVICE_PORT")
	if host == "" || port == "" {
		return Config{}, fmt.Errorf("client: kubeconfig: got none of %q and no pod of Kubernetes, want the name of a file", files)
	}
	server := url.URL{Scheme: "https", Host: net.JoinHostPort(host, port)}
	c := cluster{Server: server.String(), CertificateAuthority: filepath.Join(dir, "ca.crt")}
	config, err := c.config()
	if err != nil {
		return Config{}, fmt.Errorf("client: service account: %w", err)
	}
	config.TokenFile = filepath.Join(dir, "token")
	return config, nil
}

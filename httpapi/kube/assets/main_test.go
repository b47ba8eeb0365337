package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/util/keyutil"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/httpapi/kube/cluster"
	"github.com/kubecoord/kubecoord/httpapi/kube/internal/controlplane"
	"github.com/kubecoord/kubecoord/store/kind"
)

// TestMain acts as the command where the test binary has the name of a server.
func TestMain(m *testing.M) {
	switch filepath.Base(os.Args[0]) {
	case "kube-apiserver", "etcd", "kubectl":
		main()
	}
	os.Exit(m.Run())
}

// signingKey writes a key for tokens, and returns its file.
func signingKey(t *testing.T) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	data, err := keyutil.MarshalPrivateKeyToPEM(key)
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "sa.key")
	require.NoError(t, os.WriteFile(file, data, 0o600))
	return file
}

// arguments returns flags that a server needs, and more.
func arguments(t *testing.T, more ...string) []string {
	t.Helper()
	key := signingKey(t)
	return append([]string{
		"--etcd-servers=http://127.0.0.1:2379", "--service-account-issuer=https://issuer", "--service-account-key-file=" + key,
		"--service-account-signing-key-file=" + key, "--cert-dir=" + t.TempDir(), "--authorization-mode=RBAC",
	}, more...)
}

// optionsOf reads flags.
func optionsOf(t *testing.T, args ...string) (options, []error) {
	t.Helper()
	fs, err := apiserverFlags()
	require.NoError(t, err)
	require.NoError(t, fs.Parse(args))
	return readOptions(fs)
}

// The texts come from a kube-apiserver.
func TestWrongFlagsAreRefusedByTheTextsOfKubeAPIServer(t *testing.T) {
	for arg, want := range map[string]string{
		"--nonsense":          "unknown flag: --nonsense",
		"--insecure-port=0":   "unknown flag: --insecure-port",
		"-x":                  "unknown shorthand flag: 'x' in -x",
		"--secure-port":       "flag needs an argument: --secure-port",
		"--secure-port=x":     `invalid argument "x" for "--secure-port" flag: strconv.ParseInt: parsing "x": invalid syntax`,
		"--bind-address=x":    `invalid argument "x" for "--bind-address" flag: failed to parse IP: "x"`,
		"--watch-cache=maybe": `invalid argument "maybe" for "--watch-cache" flag: strconv.ParseBool: parsing "maybe": invalid syntax`,
		"--request-timeout=3": `invalid argument "3" for "--request-timeout" flag: time: missing unit in duration "3"`,
		"--v=x":               `invalid argument "x" for "-v, --v" flag: strconv.ParseUint: parsing "x": invalid syntax`,
		"true":                `"kube-apiserver" does not take any arguments, got ["true"]`,
	} {
		var out, errs bytes.Buffer
		assert.Equal(t, 1, apiserver([]string{arg}, &out, &errs), arg)
		assert.Equal(t, "Error: "+want+"\n", errs.String())
		assert.Empty(t, out.String(), arg)
	}
}

func TestWrongOptionsAreRefusedByTheTextsOfKubeAPIServer(t *testing.T) {
	for arg, want := range map[string]string{
		"--secure-port=0":                          "--secure-port 0 must be between 1 and 65535, inclusive. It cannot be turned off with 0",
		"--authorization-mode=Foo":                 `authorization-mode "Foo" is not a valid mode`,
		"--authorization-mode=RBAC":                `authorization-mode ["RBAC" "RBAC"] has mode specified more than once`,
		"--enable-admission-plugins=Foo":           `enable-admission-plugins plugin "Foo" is unknown`,
		"--disable-admission-plugins=Foo":          `disable-admission-plugins plugin "Foo" is unknown`,
		"--runtime-config=foo/v1=true":             "unknown api groups foo/v1",
		"--runtime-config=apps/v9=true":            "group version apps/v9 that has not been registered",
		"--runtime-config=api/all=maybe":           "invalid value api/all=maybe",
		"--runtime-config=api/all=false":           "invalid key with only api/all=false",
		"--service-cluster-ip-range=foo":           "service-cluster-ip-range[0] is not a valid cidr",
		"--service-cluster-ip-range=10.0.0.0/24,a": "service-cluster-ip-range[1] is not an ip net",
		"--feature-gates=Foo=true":                 "unrecognized feature gate: Foo",
		"--feature-gates=JobManagedBy=false":       "cannot set feature gate JobManagedBy to false, feature is locked to true",
		"--feature-gates=SELinuxMount":             "missing bool value for SELinuxMount",
		"--service-account-key-file=/none":         "open /none: no such file or directory",
		"--service-account-signing-key-file=/none": "failed to parse service-account-issuer-key-file: open /none: no such file or directory",
		"--tls-cert-file=/none":                    "missing filename for serving cert",
		"--bind-address=0.0.0.0":                   "--bind-address 0.0.0.0 is not an address of the loopback: this server is for tests, and has no other",
		"--authorization-config=/none":             "--authorization-config is not served here: requests would be allowed that it refuses",
	} {
		_, problems := optionsOf(t, arguments(t, arg)...)
		require.Len(t, problems, 1, arg)
		assert.EqualError(t, problems[0], want)
	}
	_, problems := optionsOf(t)
	var texts []string
	for _, p := range problems {
		texts = append(texts, p.Error())
	}
	assert.Equal(t, []string{
		"--etcd-servers must be specified", "service-account-issuer is a required flag",
		"either `--service-account-key-file` or `--service-account-signing-endpoint` must be set",
		"--service-account-signing-key-file and --service-account-issuer are required flags",
	}, texts)
	_, problems = optionsOf(t, arguments(t, "--enable-admission-plugins=Priority", "--disable-admission-plugins=Priority")...)
	require.Len(t, problems, 1)
	assert.EqualError(t, problems[0], "[Priority] in enable-admission-plugins and disable-admission-plugins overlapped")
}

func TestFilesThatCannotBeReadAreRefused(t *testing.T) {
	for _, flag := range []string{"client-ca-file", "token-auth-file"} {
		o, problems := optionsOf(t, arguments(t, "--"+flag+"=/none")...)
		require.Empty(t, problems)
		_, err := o.newServer()
		assert.EqualError(t, err, "open /none: no such file or directory", flag)
	}
}

func TestHelpNamesEachFlagAtTheBeginOfALine(t *testing.T) {
	var out, errs bytes.Buffer
	require.Zero(t, apiserver([]string{"--help"}, &out, &errs))
	assert.Empty(t, errs.String())
	fs, err := controlplane.Flags()
	require.NoError(t, err)
	fs.VisitAll(func(f *pflag.Flag) {
		if want := "--" + f.Name + " "; f.Hidden {
			assert.NotContains(t, out.String(), want)
		} else {
			assert.Regexp(t, `(?m)^\s*(-v, )?`+want, out.String())
		}
	})
	assert.NotRegexp(t, `(?m)^\s*--insecure-port\b`, out.String())
	require.Zero(t, etcd([]string{"--help"}, &out, &errs))
	assert.Regexp(t, `(?m)^\s*--unsafe-no-fsync\b`, errs.String())
}

func TestFlagsThatAreSetWithoutEffectAreReported(t *testing.T) {
	fs, err := apiserverFlags()
	require.NoError(t, err)
	require.NoError(t, fs.Parse([]string{"--profiling=true", "--secure-port=1", "--audit-log-path=x"}))
	assert.Equal(t, []string{"--audit-log-path", "--profiling"}, idle(fs))
}

func TestMissingEtcdIsAnError(t *testing.T) {
	o, problems := optionsOf(t, arguments(t)...)
	require.Empty(t, problems)
	s := &server{opts: o}
	s.opts.etcd = []string{"http://127.0.0.1:1"}
	ctx, cancel := context.WithTimeout(t.Context(), time.Nanosecond)
	defer cancel()
	assert.EqualError(t, s.awaitEtcd(ctx), "error creating storage factory: context deadline exceeded")
}

func TestCertificateIsMadeWhereThereIsNone(t *testing.T) {
	o, problems := optionsOf(t, arguments(t)...)
	require.Empty(t, problems)
	made, err := o.certificate()
	require.NoError(t, err)
	leaf, err := x509.ParseCertificate(made.Certificate[0])
	require.NoError(t, err)
	for _, name := range []string{"127.0.0.1", "10.0.0.1", "kubernetes.default.svc", "localhost"} {
		assert.NoError(t, leaf.VerifyHostname(name))
	}
	again, err := o.certificate()
	require.NoError(t, err)
	assert.Equal(t, made.Certificate, again.Certificate, "the second start uses the files")
}

func TestTheFirstServiceRangeHasTheAddressOfTheServer(t *testing.T) {
	o, problems := optionsOf(t, arguments(t, "--service-cluster-ip-range=10.1.0.0/24,fd00::/108", "--service-node-port-range=31000-31009")...)
	require.Empty(t, problems)
	does := o.network.Cluster(cluster.Options{})
	assert.Equal(t, "[10.1.0.0/24 fd00::/108]", fmt.Sprint(does.ServiceRanges))
	assert.Equal(t, "31000-31009", does.NodePorts.String())
	made, err := o.certificate()
	require.NoError(t, err)
	leaf, err := x509.ParseCertificate(made.Certificate[0])
	require.NoError(t, err)
	assert.NoError(t, leaf.VerifyHostname("10.1.0.1"))
}

func TestTokensOfEachKeyAreKnown(t *testing.T) {
	o, problems := optionsOf(t, arguments(t, "--service-account-key-file="+signingKey(t))...)
	require.Empty(t, problems)
	assert.Len(t, o.tokens.PublicKeys, 2)
}

func TestRuntimeConfigTakesKindsAway(t *testing.T) {
	has := func(resource string, config map[string]string) bool {
		serves := func(r schema.GroupVersionResource) bool { return controlplane.Served(config).Serves(r, true) }
		kinds, err := cluster.Options{Serves: serves}.API(httpapi.Options{})
		require.NoError(t, err)
		return slices.ContainsFunc(kinds.Kinds, func(k kind.Kind) bool { return k.GroupResource().String() == resource })
	}
	assert.True(t, has("deployments.apps", nil))
	assert.False(t, has("deployments.apps", map[string]string{"apps/v1": "false"}))
	assert.True(t, has("pods", map[string]string{"apps/v1": "false"}))
	assert.False(t, has("pods", map[string]string{"v1": "false"}))
	assert.False(t, has("pods", map[string]string{"api/all": "false", "apps/v1": ""}))
	assert.True(t, has("deployments.apps", map[string]string{"api/all": "false", "apps/v1": ""}))
	assert.True(t, has("deployments.apps", map[string]string{"apps/v1": "false", "apps/v1/deployments": "true"}))
	assert.True(t, has("customresourcedefinitions.apiextensions.k8s.io", nil))
	assert.False(t, has("customresourcedefinitions.apiextensions.k8s.io", map[string]string{"apiextensions.k8s.io/v1": "false"}))
}

func TestEtcdAnswersHealthChecksOnly(t *testing.T) {
	for path, want := range map[string]string{
		"/health": `{"health":"true","reason":""}`, "/livez": "ok\n", "/readyz": "ok\n", "/": "404 page not found\n",
		"/version": `{"etcdserver":"3.7.3","etcdcluster":"3.7.0","storage":"3.7.0"}`,
	} {
		w := httptest.NewRecorder()
		etcdHandler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		assert.Equal(t, want, w.Body.String(), path)
	}
	w := httptest.NewRecorder()
	etcdHandler().ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/health", nil))
	assert.Equal(t, http.StatusMethodNotAllowed, w.Code)
}

func TestEtcdRefusesWhatItCannotServe(t *testing.T) {
	for arg, want := range map[string]string{
		"--nonsense": "flag provided but not defined: -nonsense",
		"--listen-client-urls=https://127.0.0.1:0":   "want a URL with http: this etcd has no certificates",
		"--listen-client-urls=http://192.0.2.1:2379": `"192.0.2.1" is not an address of the loopback`,
	} {
		var out, errs bytes.Buffer
		assert.NotZero(t, etcd([]string{arg}, &out, &errs))
		assert.Contains(t, errs.String(), want)
	}
}

// freePort returns a port of the loopback that nothing listens at.
func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	require.NoError(t, err)
	return port
}

// start starts a program at a free port, and returns the port once the program's standard error has a line with the text. Both the
// text and the arguments have PORT in its place. Another process may take the port before the program listens at it: then the program
// is started again, twice at the most.
func start(t *testing.T, program, ready string, args ...string) (cmd *exec.Cmd, port string) {
	t.Helper()
	var said string
	for range 3 {
		port = freePort(t)
		at := slices.Clone(args)
		for i := range at {
			at[i] = strings.ReplaceAll(at[i], "PORT", port)
		}
		if cmd, said = startAt(t, program, strings.ReplaceAll(ready, "PORT", port), at); cmd != nil {
			return cmd, port
		}
		if !strings.Contains(said, "bind: address already in use") {
			break
		}
	}
	require.Fail(t, "the program has ended", said)
	return nil, ""
}

// startAt starts a program, and returns once its standard error has a line with the text. If the program ends before, startAt returns
// nil and what the program wrote.
func startAt(t *testing.T, program, ready string, args []string) (*exec.Cmd, string) {
	cmd := exec.Command(program, args...)
	errs, err := cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	var said strings.Builder
	for lines := bufio.NewScanner(errs); lines.Scan(); {
		said.WriteString(lines.Text() + "\n")
		if strings.Contains(lines.Text(), ready) {
			go func() { _, _ = io.Copy(io.Discard, errs) }()
			return cmd, ""
		}
	}
	_ = cmd.Wait()
	return nil, said.String()
}

func TestFolderServesUntilASignal(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "assets")
	var out, notes bytes.Buffer
	require.NoError(t, makeFolder(dir, &out, &notes))
	require.NoError(t, makeFolder(dir, &out, &notes), "the folder is made again")
	assert.Equal(t, dir+"\n"+dir+"\n", out.String())
	etcd, etcdPort := start(t, filepath.Join(dir, "etcd"), "the objects are in the memory of kube-apiserver",
		"--listen-client-urls=http://127.0.0.1:PORT", "--advertise-client-urls=http://127.0.0.1:PORT", "--data-dir="+t.TempDir(), "--unsafe-no-fsync=true", "--listen-peer-urls=http://127.0.0.1:0")
	args := arguments(t, "--secure-port=PORT", "--bind-address=127.0.0.1", "--etcd-servers=http://127.0.0.1:"+etcdPort)
	server, port := start(t, filepath.Join(dir, "kube-apiserver"), "Serving securely on 127.0.0.1:PORT", args...)

	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, ForceAttemptHTTP2: true}}
	get := func(path string) (int, string) {
		resp, err := client.Get("https://127.0.0.1:" + port + path)
		require.NoError(t, err)
		defer resp.Body.Close()
		assert.Equal(t, 2, resp.ProtoMajor)
		body, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		return resp.StatusCode, string(body)
	}
	for _, path := range []string{"/healthz", "/livez", "/readyz", "/readyz/shutdown", "/healthz/etcd"} {
		code, body := get(path)
		assert.Equal(t, "ok", body, path)
		assert.Equal(t, http.StatusOK, code)
	}
	_, body := get("/version")
	var version struct{ GitVersion string }
	require.NoError(t, json.Unmarshal([]byte(body), &version))
	assert.Equal(t, httpapi.Version, version.GitVersion)
	code, body := get("/api/v1/pods")
	assert.Equal(t, http.StatusForbidden, code)
	assert.Contains(t, body, `pods is forbidden: User \"system:anonymous\" cannot list resource \"pods\" in API group \"\" at the cluster scope`)

	require.NoError(t, server.Process.Signal(syscall.SIGTERM))
	assert.NoError(t, server.Wait(), "exit code 0")
	require.NoError(t, etcd.Process.Signal(syscall.SIGTERM))
	assert.ErrorContains(t, etcd.Wait(), "signal: terminated")
}

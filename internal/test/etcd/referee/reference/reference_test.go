package reference

import (
	"context"
	"flag"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/internal/test/wiretest"
	"github.com/kubecoord/kubecoord/store"
)

// recorded is where the recorded answers are.
const recorded = "../../../../../httpapi/testdata/wire"

var (
	serverFlag = flag.String("server", "", "`URL` of a server to play to, such as the URL of kubectl proxy, in place of the binary in KUBE_APISERVER")
	writeFlag  = flag.Bool("write", false, "store the answers that differ")
	allFlag    = flag.Bool("all", false, "count the differences that accepted.txt accepts, too: for another version of Kubernetes")
)

// TestKubeAPIServerGivesTheRecordedAnswers plays the recorded scenarios to the kube-apiserver that KUBE_APISERVER names,
// and to kubecoord over the network. It fails on each difference that accepted.txt does not accept, and on each stanza
// of it that was not needed. kubecoord must have no difference.
func TestKubeAPIServerGivesTheRecordedAnswers(t *testing.T) {
	binary := os.Getenv("KUBE_APISERVER")
	if binary == "" && *serverFlag == "" {
		t.Skip("KUBE_APISERVER names no binary of kube-apiserver")
	}
	accepted, err := ReadAccepted()
	require.NoError(t, err)
	if *allFlag {
		accepted = nil
	}
	t.Run("kube-apiserver", func(t *testing.T) {
		play(t, referenceRunner(t, binary), recorded, accepted, *writeFlag)
		// Failed tests, and tests that -run leaves out, may need the other stanzas.
		if !t.Failed() && !*writeFlag && flag.Lookup("test.run").Value.String() == "" {
			assert.Empty(t, accepted.Unneeded())
		}
	})
	t.Run("kubecoord", func(t *testing.T) {
		play(t, kubecoordRunner(t), recorded, nil, false)
	})
}

// referenceRunner returns a runner for the server of the flag, or of the binary.
func referenceRunner(t *testing.T, binary string) *wiretest.Runner {
	if *serverFlag != "" {
		transport := &http.Transport{DisableCompression: true}
		return &wiretest.Runner{Transport: transport, BaseURL: *serverFlag, Prepare: func(ctx context.Context, name string) error {
			return CreateNamespace(ctx, transport, *serverFlag, name)
		}}
	}
	server, err := Start(t.Context(), binary)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, server.Close()) })
	return &wiretest.Runner{Transport: server, BaseURL: server.URL(), Prepare: server.CreateNamespace}
}

func kubecoordRunner(t *testing.T) *wiretest.Runner {
	st := store.New(store.Options{})
	t.Cleanup(st.Close)
	api := httpapi.New(st, httpapi.Options{})
	t.Cleanup(api.Close)
	server := httptest.NewServer(api)
	t.Cleanup(server.Close)
	return &wiretest.Runner{BaseURL: server.URL}
}

// play plays the scenarios of a folder. It fails on each difference that is not accepted, or stores the answers.
func play(t *testing.T, runner *wiretest.Runner, dir string, accepted Accepted, write bool) {
	files, err := wiretest.LoadFiles(dir)
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, f := range files {
		stored := f.Text()
		for _, g := range f.Goldens() {
			t.Run(g.Scenario.Name, func(t *testing.T) {
				p, err := Play(t.Context(), runner, g, accepted)
				require.NoError(t, err)
				for _, d := range p.Differences {
					if write {
						t.Log(d)
					} else {
						t.Error(d)
					}
				}
				if len(p.Differences) > 0 {
					f.Replace(p.Recorded)
				}
			})
		}
		if text := f.Text(); write && text != stored {
			require.NoError(t, os.WriteFile(f.Path(), []byte(text), 0o644))
		}
	}
}

func TestAnswersAreStored(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	write("kinds.txt", `lease
  $type    "apiVersion":"coordination.k8s.io/v1","kind":"Lease"
  $all     /apis/coordination.k8s.io/v1/namespaces/{{ns}}/leases
  $Kind    Lease
  $plural  leases
  $version coordination.k8s.io/v1
`)
	write("lease-a.txt", `about a write that a watch sees
kinds lease

w = GET $all?watch=true
POST $all {$type,"metadata":{"name":"a"},"spec":{"holderIdentity":"x"}}
collect w 1
`)
	runner := kubecoordRunner(t)
	play(t, runner, dir, nil, true)
	text, err := os.ReadFile(filepath.Join(dir, "lease-a.txt"))
	require.NoError(t, err)
	assert.Equal(t, `about a write that a watch sees
kinds lease

w = GET $all?watch=true
  200
POST $all {$type,"metadata":{"name":"a"},"spec":{"holderIdentity":"x"}}
  201 sent {uid1} {rv1} by conformance Update spec{holderIdentity}
collect w 1
  ADDED @rv1
`, string(text))
	play(t, runner, dir, nil, false)
}

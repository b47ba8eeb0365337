package serve

import (
	"bytes"
	"flag"
	"io"
	"log"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/httpapi/serve"
)

func TestServerHasTheLimitsOfAKubeAPIServer(t *testing.T) {
	limited := func(flags ...string) httpapi.Options {
		var o Options
		f := flag.NewFlagSet("", flag.PanicOnError)
		o.Register(f)
		require.NoError(t, f.Parse(append(flags, "-listen=10.0.0.1:80", "-insecure")))
		front, err := o.Open()
		require.NoError(t, err)
		server, err := serve.Listen(serve.Options{})
		require.NoError(t, err)
		require.NoError(t, server.Close())
		api := (&Listener{server, front}).API()
		assert.NotNil(t, api.Log)
		assert.Len(t, api.Parts, 1)
		api.Log, api.Parts = nil, nil
		return api
	}
	o := limited()
	assert.Equal(t, httpapi.Options{Reads: 400, Writes: 200, ClientShare: 50, RequestTimeout: time.Minute, WatchStall: time.Minute, SlowClientBytes: 256 << 20, WatchesPerClient: 5000, Hosts: []string{"10.0.0.1:80", "127.0.0.1"}}, o)
	o = limited("-request-timeout=0", "-slow-client-bytes=0", "-allow-host=a.example,b.example")
	assert.EqualValues(t, -1, o.RequestTimeout)
	assert.EqualValues(t, -1, o.SlowClientBytes)
	assert.Equal(t, []string{"a.example", "b.example", "10.0.0.1:80", "127.0.0.1"}, o.Hosts)
}

func TestRefusalsAreLoggedOnceASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var lines bytes.Buffer
		log.SetOutput(&lines)
		log.SetFlags(0)
		defer func() { log.SetOutput(os.Stderr); log.SetFlags(log.LstdFlags) }()
		calm := &calmLog{}
		for range 1000 {
			for _, code := range []int{429, 403, 413, 504, 200, 404} {
				calm.refusal(httpapi.LogEntry{Method: "GET", Path: "/a\n", Code: code, UserAgent: "me"})
			}
		}
		time.Sleep(time.Second)
		_, err := io.WriteString(calm, "http: TLS handshake error\n")
		require.NoError(t, err)
		assert.Equal(t, `refused: GET "/a\n" 429 "me"`+"\nhttp: TLS handshake error (and 3999 more)\n", lines.String())
	})
}

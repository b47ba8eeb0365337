package mine

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/httpapi/client"
	"github.com/kubecoord/kubecoord/lease"
)

// In a bubble of testing/synctest a minute takes no time.
func TestAnotherLeadsWhenTheLeaderIsCutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := apitest.New(t, apitest.Options{Verify: true}) // the test fails if two lead at once
		leaders := make(chan string, 2)
		contend := func(name string) {
			c, err := client.New(client.Config{Server: api.Host(), Transport: api.TransportFor(name)})
			if err != nil {
				t.Fatal(err)
			}
			contender, err := lease.NewContender(client.In(c, lease.Kind()), lease.ContenderOptions{Namespace: "default", Name: "leader", Identity: name})
			if err != nil {
				t.Fatal(err)
			}
			go contender.Run(t.Context(), func(ctx context.Context, _ lease.Holding) {
				leaders <- name
				<-ctx.Done()
			})
			synctest.Wait()
		}
		contend("a")
		contend("b")
		if first := <-leaders; first != "a" {
			t.Fatal("the first leader is", first)
		}
		api.Fault(apitest.Refuse(), apitest.Match{Client: "a"})
		start := time.Now()
		if second := <-leaders; second != "b" || time.Since(start) > time.Minute {
			t.Fatal("the second leader is", second, "after", time.Since(start))
		}
	})
}

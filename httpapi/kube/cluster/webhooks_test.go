package cluster_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/httpapi/kube/cluster"
)

// TestServicesOfWebhooksAreResolved calls an admission webhook and a conversion webhook by service.
func TestServicesOfWebhooksAreResolved(t *testing.T) {
	const (
		service      = `{"apiVersion":"v1","kind":"Service","metadata":{"name":"hook"},"spec":{"ports":[{"name":"https","port":443}]}}`
		noEndpoints  = `no endpoints available for service "hook"`
		endpoints    = `{"metadata":{"name":"hook-1","labels":{"kubernetes.io/service-name":"hook"}},"addressType":"IPv4","ports":[{"name":"https","port":9443}],"endpoints":[{"addresses":["192.0.2.7"]}]}`
		ofAnother    = `{"metadata":{"name":"other-1","labels":{"kubernetes.io/service-name":"other"}},"addressType":"IPv4","ports":[{"name":"https","port":9443}],"endpoints":[{"addresses":["192.0.2.8"]}]}`
		externalName = `{"apiVersion":"v1","kind":"Service","metadata":{"name":"hook"},"spec":{"type":"ExternalName","externalName":"hooks.example.com"}}`
	)
	withSpec := func(more string) string { return strings.Replace(service, `"spec":{`, `"spec":{`+more+`,`, 1) }
	for name, row := range map[string]struct {
		service string   // "" for none
		slices  []string // of endpoints
		dials   string   // the address that Dial gets, "" if it is not called
		without string   // the error without Dial
		// allocated gives each service a cluster IP.
		allocated bool
	}{
		"no service":                            {"", nil, "", `service "hook" not found`, false},
		"no address":                            {service, []string{ofAnother}, "hook.default.svc:443", noEndpoints, false},
		"a load balancer":                       {withSpec(`"type":"LoadBalancer"`), nil, "hook.default.svc:443", noEndpoints, false},
		"another port":                          {strings.Replace(service, "443", "444", 1), nil, "", `no service port 443 found for service "hook"`, false},
		"headless":                              {withSpec(`"clusterIP":"None"`), nil, "", `cannot route to service with ClusterIP "None"`, false},
		"endpoints":                             {service, []string{ofAnother, endpoints}, "192.0.2.7:9443", "", false},
		"endpoints not ready":                   {service, []string{strings.Replace(endpoints, `["192.0.2.7"]`, `["192.0.2.7"],"conditions":{"ready":false}`, 1)}, "hook.default.svc:443", noEndpoints, false},
		"a cluster IP":                          {withSpec(`"clusterIP":"10.0.0.9"`), []string{endpoints}, "10.0.0.9:443", "", false},
		"an external name":                      {externalName, nil, "hooks.example.com:443", "", false},
		"an allocated address":                  {service, []string{ofAnother}, "hook.default.svc:443", noEndpoints, true},
		"an allocated address, headless":        {withSpec(`"clusterIP":"None"`), nil, "", `cannot route to service with ClusterIP "None"`, true},
		"endpoints beside an allocated address": {service, []string{ofAnother, endpoints}, "192.0.2.7:9443", "", true},
		"an external name, allocated":           {externalName, nil, "hooks.example.com:443", "", true},
	} {
		for _, dial := range []bool{true, false} {
			if !dial && row.without == "" {
				continue // the address is another machine's
			}
			t.Run(name+map[bool]string{true: " with Dial"}[dial], bubbled(func(t *testing.T) {
				var dialed []string
				o := cluster.Options{Webhooks: true}
				if dial {
					o.Dial = func(_ context.Context, _, address string) (net.Conn, error) {
						dialed = append(dialed, address)
						return nil, errors.New("dialed " + address)
					}
				}
				o.Addresses = row.allocated
				api := serve(t, o, apitest.Options{})
				post := func(path, body string) (int, string) {
					t.Helper()
					return do(t, api, request{method: http.MethodPost, path: path, body: body})
				}
				must := func(path, body string) {
					t.Helper()
					code, text := post(path, body)
					require.Equal(t, 201, code, text)
				}
				if row.service != "" {
					must("/api/v1/namespaces/default/services", row.service)
				}
				for _, slice := range row.slices {
					must("/apis/discovery.k8s.io/v1/namespaces/default/endpointslices", slice)
				}
				must("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", `{"metadata":{"name":"things.example.com"},"spec":{"group":"example.com","scope":"Cluster",
"names":{"plural":"things","kind":"Thing"},"conversion":{"strategy":"Webhook","webhook":{"conversionReviewVersions":["v1"],"clientConfig":{"service":{"name":"hook","namespace":"default"}}}},
"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}},{"name":"v2","served":true,"storage":false,"schema":{"openAPIV3Schema":{"type":"object"}}}]}}`)
				synctest.Wait() // until the definition is served
				must("/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations", `{"metadata":{"name":"hook"},"webhooks":[{"name":"hook.example.com","sideEffects":"None",
"admissionReviewVersions":["v1"],"clientConfig":{"service":{"name":"hook","namespace":"default"}},"rules":[{"apiGroups":[""],"apiVersions":["v1"],"resources":["configmaps"],"operations":["CREATE"]}]}]}`)
				want := row.without
				if dial && row.dials != "" {
					want = "dialed " + row.dials
				}
				code, text := post("/api/v1/namespaces/default/configmaps", `{"metadata":{"name":"a"}}`)
				assert.Equal(t, 500, code)
				assert.Equal(t, `Internal error occurred: failed calling webhook "hook.example.com": failed to call webhook: Post "https://hook.default.svc:443/?timeout=10s": `+want,
					member(t, text, "message"))
				code, text = post("/apis/example.com/v2/things", `{"apiVersion":"example.com/v2","kind":"Thing","metadata":{"name":"a"}}`)
				assert.Equal(t, `conversion webhook for example.com/v2, Kind=Thing failed: Post "https://hook.default.svc:443/?timeout=30s": `+want, member(t, text, "message"))
				assert.Equal(t, 500, code, text)
				for _, address := range dialed {
					assert.Equal(t, row.dials, address)
				}
				assert.Equal(t, dial && row.dials != "", len(dialed) > 0)
			}))
		}
	}
}

// bubbled returns a test that runs in a bubble of testing/synctest.
func bubbled(f func(*testing.T)) func(*testing.T) {
	return func(t *testing.T) { synctest.Test(t, f) }
}

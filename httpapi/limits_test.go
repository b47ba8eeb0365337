package httpapi_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/store"
)

// assertOverload checks the answer of a real server to one request too many.
func assertOverload(t *testing.T, a answer) {
	t.Helper()
	assert.Equal(t, http.StatusTooManyRequests, a.Code)
	assert.Equal(t, "Too many requests, please try again later.\n", a.Body)
	assert.Equal(t, "1", a.Header.Get("Retry-After"))
	assert.Equal(t, "text/plain; charset=utf-8", a.Header.Get("Content-Type"))
}

// gate is an Authorizer that holds the requests below /held until it is opened. A request has
// its slot then.
type gate chan struct{}

func (g gate) authorize(a httpapi.Attributes) (bool, string) {
	if strings.HasPrefix(a.Path, "/held") {
		<-g
	}
	return a.Path != "/metrics", ""
}

// limitedServer returns a server with users, each of whose tokens is the name.
func limitedServer(t *testing.T, opts httpapi.Options) (*server, gate) {
	g := make(gate)
	users := map[string]httpapi.User{"root": {Name: "root", Groups: []string{"system:masters"}}}
	for _, name := range []string{"alice", "bob", "carol"} {
		users[name] = httpapi.User{Name: name}
	}
	opts.Authenticate, opts.Authorize = httpapi.BearerTokens(users), g.authorize
	return newServerWith(t, store.Options{}, opts), g
}

// as returns the header of a user.
func as(user string) []string { return []string{"Authorization", "Bearer " + user} }

// inLine is how long a request waits for a slot.
const inLine = 15 * time.Second

// start returns two functions. send sends a request in a goroutine of its own. tally returns how
// many have been answered since its last call, by method and code.
func (s *server) start(t *testing.T) (send func(*http.Request), tally func() map[string]int) {
	codes := make(chan string, 100)
	send = func(req *http.Request) {
		go func() { codes <- fmt.Sprint(req.Method, " ", s.send(t, req).Code) }()
		synctest.Wait() // until it waits, or has been answered
	}
	return send, func() map[string]int {
		synctest.Wait()
		got := map[string]int{}
		for range len(codes) {
			got[<-codes]++
		}
		return got
	}
}

func TestRequestsInFlightAreLimited(t *testing.T) {
	for name, row := range map[string]struct {
		opts          httpapi.Options
		reads, writes int // that are refused
	}{
		"none":   {httpapi.Options{}, 0, 0},
		"reads":  {httpapi.Options{Reads: 2}, 3, 0},
		"writes": {httpapi.Options{Writes: 1}, 0, 4},
		"both":   {httpapi.Options{Reads: 2, Writes: 1}, 3, 4},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, gate := limitedServer(t, row.opts)
				send, tally := s.start(t)
				for range 5 {
					send(newRequest(t, "GET", "/held", "", as("alice")...))
					send(newRequest(t, "POST", "/held", "{}", as("alice")...))
				}
				assert.Empty(t, tally(), "they wait in line")
				time.Sleep(inLine)
				got := tally()
				assert.Equal(t, row.reads, got["GET 429"])
				assert.Equal(t, row.writes, got["POST 429"])
				token := as("alice")
				if row.reads > 0 {
					assertOverload(t, s.do(t, "GET", leases, "", token...))
					assertOverload(t, s.do(t, "GET", "/apis", "", token...))
					assertOverload(t, s.do(t, "GET", "/metrics", "", token...)) // before it is forbidden
					assert.Equal(t, 429, s.do(t, "HEAD", leases, "", token...).Code)
					assert.Equal(t, 200, s.do(t, "GET", leases, "", as("root")...).Code, "system:masters are never refused")
					assert.Equal(t, 401, s.do(t, "GET", leases, "").Code, "a user comes first")
					assert.Equal(t, 200, s.do(t, "GET", "/healthz", "").Code)
				}
				if row.writes > 0 {
					assertOverload(t, s.do(t, "PUT", leases+"/a", leaseNamed("a"), token...))
					assertOverload(t, s.do(t, "DELETE", leases, "", token...))
				}
				s.watch(t, leases+"?watch=true", token...)
				close(gate)
				tally()
				assert.Equal(t, 200, s.do(t, "GET", leases, "", token...).Code, "all have been answered")
				assert.Equal(t, 201, s.do(t, "POST", leases, leaseNamed("a"), token...).Code)
			})
		})
	}
}

// slowRequest returns a request that writes, of whose body one byte comes.
func slowRequest(t *testing.T, method, target string, headers ...string) *http.Request {
	req := newRequest(t, method, target, "", append(headers, "Content-Type", typeJSON)...)
	if method == "PATCH" {
		req.Header.Set("Content-Type", "application/merge-patch+json")
	}
	req.Body, req.ContentLength = newSlowBody(), 100
	return req
}

func TestSlowBodiesHoldNoSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := limitedServer(t, httpapi.Options{Reads: 1, Writes: 1})
		send, tally := s.start(t)
		for range 3 {
			send(slowRequest(t, "POST", leases, as("alice")...))
			send(slowRequest(t, "PUT", leases+"/a", as("alice")...))
			send(slowRequest(t, "PATCH", leases+"/a", as("alice")...))
			send(slowRequest(t, "DELETE", leases+"/a", as("alice")...))
			send(slowRequest(t, "DELETE", leases, as("alice")...))
		}
		assert.Empty(t, tally())
		assert.Equal(t, 201, s.do(t, "POST", leases, leaseNamed("a"), as("bob")...).Code)
		assert.Equal(t, 201, s.do(t, "POST", leases, leaseNamed("b"), as("alice")...).Code)
		time.Sleep(time.Minute)
		assert.Equal(t, map[string]int{"POST 504": 3, "PUT 504": 3, "PATCH 504": 3, "DELETE 504": 6}, tally())
		assert.Equal(t, 201, s.do(t, "POST", leases, leaseNamed("c"), as("bob")...).Code)
	})
}

// A body that has arrived needs a slot again.
func TestWriteWhoseBodyHasArrivedIsCountedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, gate := limitedServer(t, httpapi.Options{Writes: 1})
		send, tally := s.start(t)
		r, w := io.Pipe()
		slow := newRequest(t, "POST", leases, "", append(as("alice"), "Content-Type", typeJSON)...)
		slow.Body, slow.ContentLength = r, -1
		send(slow)
		tally()
		send(newRequest(t, "POST", "/held", "", as("bob")...))
		tally()
		io.WriteString(w, leaseNamed("a"))
		w.Close()
		assert.Empty(t, tally())
		assert.EqualValues(t, 1000, s.version())
		close(gate)
		assert.Equal(t, map[string]int{"POST 201": 1, "POST 404": 1}, tally())
	})
}

func TestWaitsForAVersionHoldNoSlot(t *testing.T) {
	const exact = "&resourceVersionMatch=Exact"
	for name, row := range map[string]struct{ method, target, body string }{
		"get":                 {"GET", leases + "/a?resourceVersion=1002", ""},
		"list":                {"GET", leases + "?resourceVersion=1002", ""},
		"exact list":          {"GET", allLeases + "?resourceVersion=1002" + exact, ""},
		"delete a collection": {"DELETE", leases + "?resourceVersion=1002", `{"dryRun":["All"]}`},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, gate := limitedServer(t, httpapi.Options{Reads: 1, Writes: 1})
				require.Equal(t, 201, s.do(t, "POST", leases, leaseNamed("a"), as("bob")...).Code)
				send, tally := s.start(t)
				for range 5 {
					send(newRequest(t, row.method, row.target, row.body, as("alice")...))
				}
				assert.Empty(t, tally())
				assert.Equal(t, 200, s.do(t, "GET", leases, "", as("bob")...).Code)
				assert.Equal(t, 201, s.do(t, "POST", leases, leaseNamed("b"), as("bob")...).Code)
				got := tally()
				assert.Equal(t, 5, got[row.method+" 200"]+got[row.method+" 429"], "all go on: %v", got)
				assert.NotZero(t, got[row.method+" 200"])

				target := strings.ReplaceAll(row.target, "1002", "1003")
				send(newRequest(t, row.method, target, row.body, as("alice")...))
				assert.Empty(t, tally())
				send(newRequest(t, row.method, "/held", "", as("bob")...))
				assert.Empty(t, tally())
				require.Equal(t, 201, s.do(t, "POST", leases, leaseNamed("c"), as("root")...).Code)
				assert.Empty(t, tally())
				time.Sleep(inLine)
				assert.Equal(t, map[string]int{row.method + " 429": 1}, tally(), "the slot is gone")
				close(gate)
				tally()
				time.Sleep(time.Minute)
				send(newRequest(t, row.method, strings.ReplaceAll(row.target, "1002", "5000"), row.body, as("alice")...))
				time.Sleep(3 * time.Second)
				assert.Equal(t, map[string]int{row.method + " 504": 1}, tally())
			})
		})
	}
}

// Options that are wrong are refused before any wait, and what a real server does not wait for is
// answered at once.
func TestListsThatDoNotWait(t *testing.T) {
	for target, code := range map[string]int{
		leases + "?resourceVersion=5000&shardSelector=x": 500,
		leases + "?resourceVersion=5000&limit=x":         400,
		leases + "?resourceVersion=x":                    400,
		leases + "/a?resourceVersion=x":                  500,
		leases + "?resourceVersion=5000&resourceVersionMatch=Exact&fieldSelector=metadata.name%3Da": 504,
		leases + "?resourceVersion=0": 200,
		leases + "?resourceVersion=1000&resourceVersionMatch=NotOlderThan&fieldSelector=metadata.namespace%3Dnope": 200,
	} {
		t.Run(target, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, began := newServer(t), time.Now()
				assert.Equal(t, code, s.do(t, "GET", target, "").Code)
				assert.Zero(t, time.Since(began))
			})
		})
	}
}

func TestUnreadAnswersHoldNoSlot(t *testing.T) {
	for _, accept := range listForms {
		t.Run(accept, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, _ := limitedServer(t, httpapi.Options{Reads: 1, Writes: 1, RequestTimeout: -1})
				for i := range 12 {
					s.must(t, "POST", leases, fmt.Sprintf(`{"metadata":{"name":"l%d","labels":{"a":"b"},"annotations":{"a":%q}}}`, i, strings.Repeat("x", 60_000)), as("alice")...)
				}
				list := func(user string) *http.Request {
					return newRequest(t, "GET", leases, "", append(as(user), "Accept", accept)...)
				}
				whole := s.send(t, list("bob"))
				require.Equal(t, 200, whole.Code)
				var unread []*http.Response
				for range 2 * runtime.GOMAXPROCS(0) {
					resp, err := s.api.Transport().RoundTrip(list("alice"))
					require.NoError(t, err)
					require.Equal(t, 200, resp.StatusCode)
					unread = append(unread, resp)
					synctest.Wait()
				}
				assert.Equal(t, whole.Body, s.send(t, list("bob")).Body)
				assert.Equal(t, 200, s.do(t, "DELETE", leases+"?dryRun=All", "", as("bob")...).Code)
				for i, resp := range unread {
					if i%2 == 0 { // a client that goes gives its turn back
						body, err := io.ReadAll(resp.Body)
						require.NoError(t, err)
						assert.Equal(t, whole.Body, string(body))
					}
					resp.Body.Close()
				}
				synctest.Wait()
				assert.Equal(t, whole.Body, s.send(t, list("bob")).Body)
			})
		})
	}
}

func TestOneUserHasAShare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, gate := limitedServer(t, httpapi.Options{Reads: 7, Writes: 4, ClientShare: 40})
		send, tally := s.start(t)
		for range 4 {
			for _, user := range []string{"alice", "bob"} {
				send(newRequest(t, "GET", "/held", "", as(user)...))
				send(newRequest(t, "POST", "/held", "", as(user)...))
			}
		}
		assert.Empty(t, tally())
		time.Sleep(inLine)
		assert.Equal(t, map[string]int{"GET 429": 2, "POST 429": 4}, tally(), "each gets 3 and 2")
		for _, user := range []string{"alice", "bob"} {
			assertOverload(t, s.do(t, "GET", leases, "", as(user)...))
			assertOverload(t, s.do(t, "POST", leases, leaseNamed("a"), as(user)...))
		}
		assert.Equal(t, 200, s.do(t, "GET", leases, "", as("carol")...).Code)
		assertOverload(t, s.do(t, "POST", leases, leaseNamed("a"), as("carol")...)) // all are taken
		assert.Equal(t, 201, s.do(t, "POST", leases, leaseNamed("a"), as("root")...).Code)
		close(gate)
		tally()
		assert.Equal(t, 201, s.do(t, "POST", leases, leaseNamed("b"), as("alice")...).Code)
	})
}

func TestOneAddressHasAShare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := make(gate)
		s := newServerWith(t, store.Options{}, httpapi.Options{Reads: 4, ClientShare: 1, Authorize: g.authorize})
		from := func(address, target string) int {
			w, r := httptest.NewRecorder(), httptest.NewRequest("GET", target, nil)
			r.RemoteAddr = address
			s.api.ServeHTTP(w, r)
			return w.Code
		}
		go from("10.0.0.1:1", "/held")
		synctest.Wait()
		assert.Equal(t, 429, from("10.0.0.1:2", leases), "at least one")
		assert.Equal(t, 200, from("[::1]:2", leases))
		close(g)
		synctest.Wait()
		assert.Equal(t, 200, from("10.0.0.1:2", leases))
	})
}

// Of one client only so many requests wait, for their bodies or for versions.
func TestWaitingRequestsOfAClientAreLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := limitedServer(t, httpapi.Options{WatchesPerClient: 3})
		send, tally := s.start(t)
		future := leases + "?resourceVersion=5000"
		send(slowRequest(t, "POST", leases, as("alice")...))
		send(newRequest(t, "GET", future, "", as("alice")...))
		send(slowRequest(t, "DELETE", leases, as("alice")...))
		assert.Empty(t, tally())
		assertOverload(t, s.do(t, "POST", leases, leaseNamed("a"), as("alice")...))
		assertOverload(t, s.do(t, "GET", future, "", as("alice")...))
		assert.Equal(t, 200, s.do(t, "GET", leases, "", as("alice")...).Code)
		s.watch(t, leases+"?watch=true", as("alice")...)
		assert.Equal(t, 201, s.do(t, "POST", leases, leaseNamed("a"), as("bob")...).Code)
		time.Sleep(3 * time.Second)
		assert.Equal(t, map[string]int{"GET 504": 1}, tally())
		assert.Equal(t, 201, s.do(t, "POST", leases, leaseNamed("b"), as("alice")...).Code)
		time.Sleep(time.Minute)
		assert.Equal(t, map[string]int{"POST 504": 1, "DELETE 504": 1}, tally())
	})
}

func TestEveryEndGivesTheSlotBack(t *testing.T) {
	captureLog(t)
	for name, row := range map[string]struct {
		target string
		code   int
	}{
		"forbidden":   {"/metrics", 403},
		"not known":   {"/nope", 404},
		"bad options": {leases + "?limit=x", 400},
		"a panic":     {"/panic", 500},
	} {
		t.Run(name, func(t *testing.T) {
			s := newServerWith(t, store.Options{}, httpapi.Options{Reads: 1, ClientShare: 100, Authorize: func(a httpapi.Attributes) (bool, string) {
				if a.Path == "/panic" {
					panic("no such path")
				}
				return a.Path != "/metrics", ""
			}})
			for range 3 {
				resp, err := s.api.Transport().RoundTrip(newRequest(t, "GET", row.target, ""))
				require.NoError(t, err)
				assert.Equal(t, row.code, resp.StatusCode)
				resp.Body.Close()
			}
			assert.Equal(t, 200, s.do(t, "GET", leases, "").Code)
		})
	}
}

func TestWatchesOfAClientAreLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := store.New(store.Options{})
		api := httpapi.New(st, httpapi.Options{WatchesPerClient: 2, Reads: 1})
		t.Cleanup(func() { api.Close(); st.Close() })
		watch := func(from, target string) *httptest.ResponseRecorder {
			w := httptest.NewRecorder()
			r := httptest.NewRequest("GET", target, nil)
			r.RemoteAddr = from
			go api.ServeHTTP(w, r)
			synctest.Wait()
			return w
		}
		watch("10.0.0.1:1", leases+"?watch=true")
		watch("10.0.0.1:2", "/apis/coordination.k8s.io/v1/watch/leases?timeoutSeconds=1")
		assert.Equal(t, 2, st.Watchers())
		w := watch("10.0.0.1:3", leases+"?watch=1")
		assertOverload(t, answer{Code: w.Code, Header: w.Header(), Body: w.Body.String()})
		watch("[::1]:3", leases+"?watch=true")
		assert.Equal(t, 3, st.Watchers())
		time.Sleep(2 * time.Second)
		assert.Equal(t, 2, st.Watchers())
		watch("10.0.0.1:4", leases+"?watch=true")
		assert.Equal(t, 3, st.Watchers())
	})
}

func TestForbiddenRequestsAreNotInFlightAnyMore(t *testing.T) {
	const forbidden = "/apis/coordination.k8s.io/v1/namespaces/forbidden/leases"
	opts := httpapi.Options{Reads: 1, Writes: 1, WatchesPerClient: 1, Authorize: func(a httpapi.Attributes) (bool, string) {
		return a.Namespace != "forbidden", ""
	}}
	for _, row := range []struct{ method, query, body string }{
		{"GET", "", ""}, {"GET", "?watch=true&timeoutSeconds=1", ""}, {"POST", "", leaseNamed("a")}, {"DELETE", "", ""},
	} {
		t.Run(row.method+row.query, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newServerWith(t, store.Options{}, opts)
				for range 3 {
					w := httptest.NewRecorder()
					s.api.ServeHTTP(w, newRequest(t, row.method, forbidden+row.query, row.body))
					require.Equal(t, http.StatusForbidden, w.Code, w.Body)
				}
				assert.Less(t, s.do(t, row.method, leases+row.query, row.body).Code, 300)
			})
		})
	}
}

// What is taken for a watch is refused here.
func TestFalseAsksForAList(t *testing.T) {
	s := newServerWith(t, store.Options{}, httpapi.Options{WatchesPerClient: 1})
	s.watch(t, leases+"?watch=true")
	for _, target := range []string{leases + "?watch=true", leases + "?%77atch=true"} {
		assertOverload(t, s.do(t, "GET", target, ""))
	}
	for _, target := range []string{leases + "?watch=0", leases + "?watch=False", leases + "?watch=false", leases} {
		assert.Contains(t, s.do(t, "GET", target, "").Body, `"kind":"LeaseList"`, target)
	}
}

func TestARequestOverItsShareWaitsInLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, gate := limitedServer(t, httpapi.Options{Writes: 4, ClientShare: 50})
		send, tally := s.start(t)
		for range 2 {
			send(newRequest(t, "POST", "/held", "", as("alice")...))
		}
		for i := range 20 {
			send(newRequest(t, "POST", leases, leaseNamed(fmt.Sprint("a", i)), append(as("alice"), "Content-Type", typeJSON)...))
		}
		assert.Empty(t, tally())
		assert.Equal(t, 201, s.do(t, "POST", leases, leaseNamed("b"), as("bob")...).Code, "another client does not wait")
		time.Sleep(inLine - time.Millisecond)
		close(gate)
		assert.Equal(t, map[string]int{"POST 404": 2, "POST 201": 20}, tally())
	})
}

func TestTheLineOfAClientIsLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, gate := limitedServer(t, httpapi.Options{Writes: 1, WatchesPerClient: 2})
		send, tally := s.start(t)
		for range 4 {
			send(newRequest(t, "POST", "/held", "", as("alice")...))
		}
		assert.Equal(t, map[string]int{"POST 429": 1}, tally(), "one is in flight, and two in line")
		close(gate)
		assert.Equal(t, map[string]int{"POST 404": 3}, tally())
	})
}

func TestAWaitInLineEndsWithTheRequest(t *testing.T) {
	for name, row := range map[string]struct {
		query string
		end   func(s *server, hangUp func())
		after time.Duration
		code  int // 0: the client gets no answer
	}{
		"by its deadline": {"?timeout=2s", func(*server, func()) {}, 2 * time.Second, http.StatusGatewayTimeout},
		"by the client":   {"", func(_ *server, hangUp func()) { hangUp() }, 0, 0},
		"by Close":        {"", func(s *server, _ func()) { go s.api.Close() }, 0, http.StatusTooManyRequests},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, gate := limitedServer(t, httpapi.Options{Writes: 1})
				send, tally := s.start(t)
				send(newRequest(t, "POST", "/held", "", as("alice")...))
				ctx, hangUp := context.WithCancel(t.Context())
				defer hangUp()
				began, done := time.Now(), make(chan int)
				go func() {
					req := newRequest(t, "POST", leases+row.query, leaseNamed("a"), append(as("bob"), "Content-Type", typeJSON)...)
					resp, err := s.api.Transport().RoundTrip(req.WithContext(ctx))
					if err != nil {
						done <- 0
						return
					}
					resp.Body.Close()
					done <- resp.StatusCode
				}()
				synctest.Wait()
				row.end(s, hangUp)
				assert.Equal(t, row.code, <-done)
				assert.Equal(t, row.after, time.Since(began))
				close(gate)
				tally()
			})
		})
	}
}

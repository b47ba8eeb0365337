package floors

// defence gives one reason for names that no example uses.
type defence struct {
	reason string
	names  []string
}

// defended lists the exported names that no example uses, with the reason why users need them all the same.
func defended() []defence {
	return []defence{
		{"an API Status as clients receive it: kinds and Middleware make one, tests read one", []string{
			"store/meta.ObjectMeta.GetObjectMeta",
			"store/meta.TypeMeta.GetTypeMeta",
		}},
		{"a type or value of the API reference, reached through ObjectMeta or an option", []string{
			"store/meta.ListMeta", "store/meta.ShardInfo",
		}},
		{"the interface of a clock and what it returns: Options.Clock takes any clock", []string{
			"store/clock.Clock.AfterFunc", "store/clock.Forker", "store/clock.Forker.Fork",
			"store/clock.Func.AfterFunc", "store/clock.Func.Now", "store/clock.Manual.AfterFunc", "store/clock.Manual.Fork", "store/clock.Real.Now",
			"store/clock.Timer.Reset", "store/clock.Timer.Stop",
			"store/clock.Waiting", "store/clock.WithDeadline",
		}},
		{"the error of a load and its place, and the limits that the doc names", []string{
			"store/fixture.DefaultMaxBytes", "store/fixture.Error", "store/fixture.FormList", "store/fixture.Place",
		}},
		{"a method of store.Collection, so that code for a store works over HTTP, and an option of a connection", []string{
			"store.Collection.Clock", "httpapi/client.Client", "httpapi/client.Collection.Clock", "httpapi/client.Collection.Status",
		}},
		{"describes a kind or a list: reached through a field or a result", []string{
			"store.ConfigKeyName", "store.DNSSubdomainName",
			"store.Store.Watchers",
		}},
		{"a type of the API, of a field, or of an observation", []string{
			"lease.Client.Clock", "lease.Client.Create",
			"lease.Client.Watch", "lease.Contender.Acquire",
			"lease.Overlap",
		}},
		{"a type of the API", []string{
			"candidate.Coordinator",
		}},
		{"the methods of testing.TB that New needs: *testing.T has them", []string{
			"httpapi/apitest.TB.Cleanup", "httpapi/apitest.TB.Errorf", "httpapi/apitest.TB.Fatalf",
			"httpapi/apitest.TB.Helper", "httpapi/apitest.TB.Logf", "httpapi/apitest.TB.TempDir",
		}},
		{"authentication, authorization and Middleware of the user", []string{
			"httpapi.API.ErrorEvent", "httpapi.API.Fork"}},
		{"the type of an event, which every watch yields", []string{
			"watch.Error",
		}},
	}
}

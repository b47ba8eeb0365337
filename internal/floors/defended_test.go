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
			"store/meta.NewAlreadyExists", "store/meta.NewBadRequest",
			"store/meta.NewConflict", "store/meta.NewExpired", "store/meta.NewInternalError", "store/meta.ObjectMeta.GetObjectMeta",
			"store/meta.ParseGroupVersion", "store/meta.ReasonExpired",
			"store/meta.ReasonInternalError", "store/meta.ReasonInvalid", "store/meta.ReasonMethodNotAllowed",
			"store/meta.ReasonNotAcceptable", "store/meta.ReasonTimeout", "store/meta.ReasonTooManyRequests",
			"store/meta.ReasonUnauthorized", "store/meta.StatusCause", "store/meta.StatusDetails",
			"store/meta.StatusFailure", "store/meta.StatusSuccess",
			"store/meta.TypeMeta.GetTypeMeta",
		}},
		{"a type or value of the API reference, reached through ObjectMeta or an option", []string{
			"store/meta.DeletePropagationForeground",
			"store/meta.DeletePropagationOrphan", "store/meta.DeletionPropagation", "store/meta.FinalizerDeleteDependents", "store/meta.FinalizerOrphanDependents", "store/meta.GroupVersion", "store/meta.ListMeta", "store/meta.ManagedFieldsEntry",
			"store/meta.ManagedFieldsOperationApply", "store/meta.ManagedFieldsOperationType",
			"store/meta.ManagedFieldsOperationUpdate", "store/meta.MicroTime.Equal", "store/meta.OwnerReference",
			"store/meta.ShardInfo", "store/meta.Time", "store/meta.Time.Equal",
		}},
		{"validation of kinds: a Kind.Validate of a user makes the errors that upstream makes", []string{
			"store/field.Error", "store/field.Error.Body", "store/field.ErrorType",
			"store/field.TypeDuplicate", "store/field.TypeForbidden", "store/field.TypeInvalid",
			"store/field.TypeNotSupported", "store/field.TypeRequired", "store/field.TypeTooLong",
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
		{"sentinel for errors.Is", []string{
			"store.ErrBadRequest", "store.ErrExpired", "store.ErrTimeout",
		}},
		{"a verb of the API through Go, or its option", []string{
			"store.PatchType", "store.StrategicMergePatch",
		}},
		{"a method of store.Collection, so that code for a store works over HTTP, and an option of a connection", []string{
			"store.Collection.Clock", "httpapi/client.Client", "httpapi/client.Collection.Clock", "httpapi/client.Collection.Status",
		}},
		{"describes a kind or a list: reached through a field or a result", []string{
			"store.ConfigKeyName", "store.DNSSubdomainName", "store.List",
			"store.MatchExact", "store.MatchNotOlderThan", "store.Store.Watchers",
		}},
		{"a type of the API, of a field, or of an observation", []string{
			"lease.Client.Clock", "lease.Client.Create",
			"lease.Client.Watch", "lease.Contender.Acquire",
			"lease.LeaseList", "lease.Overlap",
		}},
		{"a type of the API", []string{
			"candidate.Elector", "candidate.LeaseCandidateList", "endpoints.EndpointsList", "endpoints.Kind", "endpoints.ObjectReference", "endpoints.ProtocolSCTP",
			"endpoints.ProtocolUDP", "endpoints.Target",
		}},
		{"a fault, a limit or a finding that a test may name", []string{
			"httpapi/apitest.CutBefore", "httpapi/apitest.Finding", "httpapi/apitest.Requests", "httpapi/apitest.Silent",
		}},
		{"the methods of testing.TB that New needs: *testing.T has them", []string{
			"httpapi/apitest.TB.Cleanup", "httpapi/apitest.TB.Errorf", "httpapi/apitest.TB.Fatalf",
			"httpapi/apitest.TB.Helper", "httpapi/apitest.TB.Logf", "httpapi/apitest.TB.TempDir",
		}},
		{"authentication, authorization and Middleware of the user", []string{
			"httpapi.API.ErrorEvent", "httpapi.API.Fork"}},
		{"the type of an event, which every watch yields", []string{
			"watch.Bookmark", "watch.Error", "watch.Event",
		}},
	}
}

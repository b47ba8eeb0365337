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
			"store/meta.DryRunAll", "store/meta.MaxFieldManager", "store/meta.NewAlreadyExists", "store/meta.NewBadRequest",
			"store/meta.NewConflict", "store/meta.NewExpired", "store/meta.NewInternalError", "store/meta.NewNotFound",
			"store/meta.NewTime", "store/meta.NewTimeout", "store/meta.ObjectMeta.GetObjectMeta",
			"store/meta.ParseGroupVersion", "store/meta.Printable", "store/meta.ReasonExpired",
			"store/meta.ReasonInternalError", "store/meta.ReasonInvalid", "store/meta.ReasonMethodNotAllowed",
			"store/meta.ReasonNotAcceptable", "store/meta.ReasonTimeout", "store/meta.ReasonTooManyRequests",
			"store/meta.ReasonUnauthorized", "store/meta.Status", "store/meta.StatusCause", "store/meta.StatusDetails",
			"store/meta.StatusError", "store/meta.StatusFailure", "store/meta.StatusOf", "store/meta.StatusSuccess",
			"store/meta.TypeMeta.GetTypeMeta",
		}},
		{"a type or value of the API reference, reached through ObjectMeta or an option", []string{
			"store/meta.DeleteOptions", "store/meta.DeletePropagationBackground", "store/meta.DeletePropagationForeground",
			"store/meta.DeletePropagationOrphan", "store/meta.DeletionPropagation", "store/meta.FieldsV1",
			"store/meta.FinalizerDeleteDependents", "store/meta.FinalizerOrphanDependents", "store/meta.GroupKind",
			"store/meta.GroupResource", "store/meta.GroupVersion", "store/meta.ListMeta", "store/meta.ManagedFieldsEntry",
			"store/meta.ManagedFieldsOperationApply", "store/meta.ManagedFieldsOperationType",
			"store/meta.ManagedFieldsOperationUpdate", "store/meta.MicroTime.Equal", "store/meta.OwnerReference",
			"store/meta.Preconditions", "store/meta.ShardInfo", "store/meta.Time", "store/meta.Time.Equal",
		}},
		{"validation of kinds: a Kind.Validate of a user makes the errors that upstream makes", []string{
			"store/field.Duplicate", "store/field.Error", "store/field.Error.Body", "store/field.ErrorType",
			"store/field.Errors.Status", "store/field.Forbidden", "store/field.InvalidEach", "store/field.NotSupported",
			"store/field.Path.Child", "store/field.Path.Index", "store/field.Required", "store/field.TooLong",
			"store/field.TypeDuplicate", "store/field.TypeForbidden", "store/field.TypeInvalid",
			"store/field.TypeNotSupported", "store/field.TypeRequired", "store/field.TypeTooLong",
		}},
		{"the interface of a clock and what it returns: Options.Clock takes any clock", []string{
			"store/clock.Clock.AfterFunc", "store/clock.Clock.NewTimer", "store/clock.Forker", "store/clock.Forker.Fork",
			"store/clock.Func.AfterFunc", "store/clock.Func.NewTimer", "store/clock.Func.Now", "store/clock.Manual.AfterFunc",
			"store/clock.Manual.Fork", "store/clock.Manual.Hold", "store/clock.Manual.NewTimer", "store/clock.Manual.Now",
			"store/clock.Real", "store/clock.Real.AfterFunc", "store/clock.Real.NewTimer", "store/clock.Real.Now",
			"store/clock.Timer", "store/clock.Timer.C", "store/clock.Timer.Reset", "store/clock.Timer.Stop",
			"store/clock.Waiting", "store/clock.WithDeadline",
		}},
		{"the error of a load and its place, and the limits that the doc names", []string{
			"store/fixture.DefaultMaxBytes", "store/fixture.Error", "store/fixture.FormList", "store/fixture.Place",
		}},
		{"sentinel for errors.Is", []string{
			"store.ErrBadRequest", "store.ErrExpired", "store.ErrInvalid", "store.ErrTimeout",
		}},
		{"a verb of the API through Go, or its option", []string{
			"store.ApplyOptions", "store.Collection.Apply", "store.Collection.Clock", "store.Collection.DeleteCollection",
			"store.Collection.Follow", "store.Collection.Patch", "store.JSONPatch", "store.MergePatch", "store.PatchOptions",
			"store.PatchType", "store.StrategicMergePatch",
		}},
		{"describes a kind or a list: reached through a field or a result", []string{
			"store.ConfigKeyName", "store.DNSLabelName", "store.DNSSubdomainName", "store.Form", "store.FormOf", "store.List",
			"store.MatchExact", "store.MatchNotOlderThan", "store.NewKind", "store.SelectableField", "store.Store.Watchers",
		}},
		{"the parsed form of a selector, which a Parse function returns", []string{
			"selector.FieldEquals", "selector.Fields", "selector.Fields.Empty", "selector.Fields.Unknown", "selector.Labels",
			"selector.Labels.Empty", "selector.Shards", "selector.Shards.Empty",
		}},
		{"a type of the API, of a field, or of an observation", []string{
			"lease.Audit", "lease.Audit.See", "lease.Client", "lease.Client.Clock", "lease.Client.Create", "lease.Client.Get",
			"lease.Client.Update", "lease.Client.Watch", "lease.Contender.Acquire", "lease.CoordinatedLeaseStrategy",
			"lease.CoordinatedLeaseStrategy.Validate", "lease.DefaultLeaseDuration", "lease.DefaultRenewDeadline",
			"lease.DefaultRetryPeriod", "lease.ErrLost", "lease.LeaseList", "lease.Overlap",
		}},
		{"a type of the API, or an event of an Elector", []string{
			"candidate.Collected", "candidate.ErrConflictingStrategies", "candidate.ErrNoCandidates", "candidate.Failed",
			"candidate.LeaseCandidateList", "candidate.Missed", "candidate.Silent", "candidate/v1alpha1.LeaseCandidate",
			"candidate/v1alpha1.LeaseCandidateSpec",
		}},
		{"a type of the API", []string{
			"endpoints.EndpointsList", "endpoints.Kind", "endpoints.ObjectReference", "endpoints.ProtocolSCTP",
			"endpoints.ProtocolUDP", "endpoints.Target",
		}},
		{"a fault, a limit or a finding that a test may name", []string{
			"httpapi/apitest.API.Adversary", "httpapi/apitest.API.CA", "httpapi/apitest.API.Dump", "httpapi/apitest.API.Load",
			"httpapi/apitest.API.OpenFork", "httpapi/apitest.API.TLSKubeconfig", "httpapi/apitest.API.TLSURL",
			"httpapi/apitest.CutBefore", "httpapi/apitest.DefaultKeepBody", "httpapi/apitest.DefaultKeepHistory",
			"httpapi/apitest.DefaultKeepRequests", "httpapi/apitest.DefaultMaxDelay", "httpapi/apitest.DefaultPercent",
			"httpapi/apitest.Expired", "httpapi/apitest.Fault.Validate", "httpapi/apitest.FindingKind",
			"httpapi/apitest.GatewayTimeout", "httpapi/apitest.IntermediateState", "httpapi/apitest.InternalError",
			"httpapi/apitest.KubeconfigToken", "httpapi/apitest.Requests", "httpapi/apitest.Requests.Where",
			"httpapi/apitest.Silent", "httpapi/apitest.StalePattern", "httpapi/apitest.StaleState", "httpapi/apitest.Tear",
			"httpapi/apitest.TooManyRequests", "httpapi/apitest.TwoHolders", "httpapi/apitest.UnobservedState",
			"httpapi/apitest.Write",
		}},
		{"authentication, authorization and Middleware of the user", []string{
			"httpapi.API.ErrorEvent", "httpapi.API.Fork", "httpapi.AnyOf", "httpapi.Attributes", "httpapi.AttributesOf",
			"httpapi.Authenticator", "httpapi.Authorizer", "httpapi.ClientCertificates",
		}},
		{"the type of an event, which every watch yields", []string{
			"watch.Error", "watch.Event",
		}},
	}
}

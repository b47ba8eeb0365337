package floors

// defence gives one reason for names that no example uses.
type defence struct {
	reason string
	names  []string
}

// defended lists the exported names that no example uses, with the reason why users need them all the same.
func defended() []defence {
	return []defence{
		{"makes a type that embeds it an object", []string{
			"store/meta.ObjectMeta.GetObjectMeta",
			"store/meta.TypeMeta.GetTypeMeta",
		}},
		{"a type or value of the API reference, reached through ObjectMeta or an option", []string{
			"store/meta.ListMeta", "store/meta.ShardInfo",
		}},
		{"a clock of the user's own, as Options.Clock takes any; Waiting and WithDeadline are for packages of this module", []string{
			"store/clock.Clock.AfterFunc", "store/clock.Forker", "store/clock.Forker.Fork",
			"store/clock.Func.AfterFunc", "store/clock.Func.Now", "store/clock.Manual.AfterFunc", "store/clock.Manual.Fork", "store/clock.Real.Now",
			"store/clock.Timer.Reset", "store/clock.Timer.Stop",
			"store/clock.Waiting", "store/clock.WithDeadline",
		}},
		{"the error of a load and its place", []string{
			"store/fixture.Error", "store/fixture.FormList", "store/fixture.Place",
		}},
		{"a type or method that lets code for a store work over HTTP", []string{
			"store.Collection.Clock", "store.CollectionOf", "httpapi/client.Client",
		}},
		{"what httpapi/kube and store/etcd are made of, modules of their own", []string{
			"store.Store.CheckContact", "store.Store.SetClaims", "httpapi.Attributes.Forbidden", "store/admission.Malformed",
		}},
		{"what httpapi/kube makes kinds of the types of k8s.io/api of, a module of its own", []string{
			"store/kind.Custom", "store/kind.CustomFuncs", "store/kind.NewLibrary", "store.Objects.State",
			"store/kind.Opaque", "store/kind.Scalar", "store/kind.Shape", "store/kind.Untyped",
			"store/kind.Library", "store/kind.Library.Compile", "store/kind.Member", "store/kind.Connection", "store/kind.Through",
			"store/kind.Type.Copy", "store/kind.Type.CopyMember", "store/kind.Type.EqualMember", "store/kind.Type.New",
		}},
		{"what httpapi/kube asks of kinds to answer as CustomResourceDefinitions, webhooks and aggregated servers do", []string{
			"store.Objects.SetTerminating", "store/kind.BuiltInGroup", "store/kind.Warn",
			"store/kind.NativeSubresource", "store/kind.NativeVersion",
			"store/kind.Kind.InternalType", "store/kind.Kind.Object", "store/kind.Kind.Untyped",
		}},
		{"a count for tests: a watch has ended", []string{
			"store.Store.Watchers",
		}},
		{"the methods of an interface that a user implements, and the calls that one without a connection need not make", []string{
			"store/admission.Interface.Admit", "store/admission.Interface.Validate", "store/admission.Connect",
			"store/admission.Claims", "store/admission.Claims.Claim", "store/admission.Claims.Release",
			"store/backend.Backend.Commit", "store/backend.Backend.Follow", "store/backend.Backend.Get", "store/backend.Backend.List",
			"store/backend.Backend.Progress", "store/backend.Backend.Version", "store/backend.Follower.Contact", "store/backend.Follower.Reached",
		}},
		{"the methods of an interface that a user may implement, and a single step of a Contender", []string{
			"lease.Client.Clock", "lease.Client.Create",
			"lease.Client.Watch", "lease.Contender.Acquire",
		}},
		{"the type of a result, which examples use without its name", []string{
			"candidate.Coordinator", "lease.Overlap",
		}},
		{"the methods of testing.TB that New needs: *testing.T has them", []string{
			"httpapi/apitest.TB.Cleanup", "httpapi/apitest.TB.Errorf", "httpapi/apitest.TB.Fatalf",
			"httpapi/apitest.TB.Helper", "httpapi/apitest.TB.Logf", "httpapi/apitest.TB.TempDir",
		}},
		{"for Middleware that ends a watch, and for tests that fork a store with its API", []string{
			"httpapi.API.ErrorEvent", "httpapi.API.Fork",
		}},
		{"a World in place of Workloads, by which httpapi/kube/explore, a module of its own, tests operators that list Pods", []string{
			"httpapi/apitest/explore.StatefulPods",
		}},
		{"an event of a watch over HTTP", []string{
			"watch.Error",
		}},
	}
}

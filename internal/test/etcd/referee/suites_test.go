package referee

import (
	"context"
	"path"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"k8s.io/apiserver/pkg/features"
	"k8s.io/apiserver/pkg/storage"
	storagetesting "k8s.io/apiserver/pkg/storage/testing"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	featuregatetesting "k8s.io/component-base/featuregate/testing"
)

// suites are the suites of upstream that need only a storage, in the order of upstream's files store_tests.go and
// watcher_tests.go in storage/testing.
var suites = []func(context.Context, *testing.T, storage.Interface){
	storagetesting.RunTestCreateWithKeyExist,
	storagetesting.RunTestGet,
	storagetesting.RunTestUnconditionalDelete,
	storagetesting.RunTestConditionalDelete,
	storagetesting.RunTestDeleteWithSuggestion,
	storagetesting.RunTestDeleteWithSuggestionAndConflict,
	storagetesting.RunTestDeleteWithConflict,
	storagetesting.RunTestDeleteWithSuggestionOfDeletedObject,
	storagetesting.RunTestValidateDeletionWithSuggestion,
	storagetesting.RunTestValidateDeletionWithOnlySuggestionValid,
	storagetesting.RunTestPreconditionalDeleteWithSuggestion,
	storagetesting.RunTestPreconditionalDeleteWithOnlySuggestionPass,
	storagetesting.RunTestGetListRecursivePrefix,
	storagetesting.RunTestGuaranteedUpdateWithConflict,
	storagetesting.RunTestGuaranteedUpdateWithSuggestionAndConflict,
	storagetesting.RunTestListPaging,
	storagetesting.RunTestNamespaceScopedList,
	storagetesting.RunTestKeySchema,

	storagetesting.RunTestWatch,
	storagetesting.RunTestDeleteTriggerWatch,
	storagetesting.RunTestWatchFromNonZero,
	storagetesting.RunTestDelayedWatchDelivery,
	storagetesting.RunTestWatchContextCancel,
	storagetesting.RunTestWatcherTimeout,
	storagetesting.RunTestWatchDeleteEventObjectHaveLatestRV,
	storagetesting.RunTestWatchInitializationSignal,
	storagetesting.RunTestClusterScopedWatch,
	storagetesting.RunTestNamespaceScopedWatch,
	storagetesting.RunTestOptionalWatchBookmarksWithCorrectResourceVersion,
	storagetesting.RunSendInitialEventsBackwardCompatibility,
	storagetesting.RunWatchSemantics,
	storagetesting.RunWatchSemanticInitialEventsExtended,
	storagetesting.RunWatchListMatchSingle,
}

func TestSuites(t *testing.T) {
	for _, suite := range suites {
		name := path.Ext(runtime.FuncForPC(reflect.ValueOf(suite).Pointer()).Name())
		t.Run(strings.TrimPrefix(strings.TrimPrefix(name[1:], "Run"), "Test"), func(t *testing.T) {
			onBoth(t, func(t *testing.T, f *fixture) { suite(t.Context(), t, f) })
		})
	}
}

// The functions that the other suites take are in their names: they check what is stored, increase the version of the
// store, or count the requests to etcd, of which there are none.
func TestSuitesWithMoreThanAStorage(t *testing.T) {
	for name, suite := range map[string]func(context.Context, *testing.T, *fixture){
		"Create": func(ctx context.Context, t *testing.T, f *fixture) {
			storagetesting.RunTestCreate(ctx, t, f, f.checkStored)
		},
		"DeleteWithSuggestionAndMissingExpectedTransformOrDecodeError": func(ctx context.Context, t *testing.T, f *fixture) {
			storagetesting.RunTestDeleteWithSuggestionAndMissingExpectedTransformOrDecodeError(ctx, t, f)
		},
		"ConsistentList": func(ctx context.Context, t *testing.T, f *fixture) {
			storagetesting.RunTestConsistentList(ctx, t, f, f.increaseRV, false, true, false)
		},
		"GetListNonRecursive": func(ctx context.Context, t *testing.T, f *fixture) {
			storagetesting.RunTestGetListNonRecursive(ctx, t, f.increaseRV, f)
		},
		"ListContinuation": func(ctx context.Context, t *testing.T, f *fixture) {
			storagetesting.RunTestListContinuation(ctx, t, f, nil)
		},
		"ListPaginationRareObject": func(ctx context.Context, t *testing.T, f *fixture) {
			storagetesting.RunTestListPaginationRareObject(ctx, t, f, nil)
		},
		"ListContinuationWithFilter": func(ctx context.Context, t *testing.T, f *fixture) {
			storagetesting.RunTestListContinuationWithFilter(ctx, t, f, nil)
		},
		"ListResourceVersionMatch": func(ctx context.Context, t *testing.T, f *fixture) {
			storagetesting.RunTestListResourceVersionMatch(ctx, t, f)
		},
		"GuaranteedUpdate": func(ctx context.Context, t *testing.T, f *fixture) {
			storagetesting.RunTestGuaranteedUpdate(ctx, t, f, f.checkStored)
		},
		"GuaranteedUpdateChecksStoredData": func(ctx context.Context, t *testing.T, f *fixture) {
			storagetesting.RunTestGuaranteedUpdateChecksStoredData(ctx, t, f)
		},
		"Stats": func(ctx context.Context, t *testing.T, f *fixture) {
			storagetesting.RunTestStats(ctx, t, f, f.codec, noTransformer, false)
		},
		"WatchDispatchBookmarkEvents": func(ctx context.Context, t *testing.T, f *fixture) {
			storagetesting.RunTestWatchDispatchBookmarkEvents(ctx, t, f, true)
		},
	} {
		t.Run(name, func(t *testing.T) { onBoth(t, func(t *testing.T, f *fixture) { suite(t.Context(), t, f) }) })
	}
}

// These compact the history, which a fixture can do in memory only.
func TestSuitesThatCompact(t *testing.T) {
	featuregatetesting.SetFeatureGateDuringTest(t, utilfeature.DefaultFeatureGate, features.ListFromCacheSnapshot, true)
	for name, suite := range map[string]func(context.Context, *testing.T, *fixture){
		"List as the watch cache": func(ctx context.Context, t *testing.T, f *fixture) {
			storagetesting.RunTestList(ctx, t, f, f.compact, true, storagetesting.NewKubernetesRecorder(nil))
		},
		"List as etcd's store, whose lists at version 0 keep their limit": func(ctx context.Context, t *testing.T, f *fixture) {
			f.PageAnyVersion = true
			storagetesting.RunTestList(ctx, t, f, f.compact, false, nil)
		},
		"ListInconsistentContinuation": func(ctx context.Context, t *testing.T, f *fixture) {
			f.PageAnyVersion = true // the suite pages from version 0
			storagetesting.RunTestListInconsistentContinuation(ctx, t, f, f.compact)
		},
		"CompactRevision": func(ctx context.Context, t *testing.T, f *fixture) {
			storagetesting.RunTestCompactRevision(ctx, t, f, f.increaseRV, f.compact)
		},
		"WatchFromZero": func(ctx context.Context, t *testing.T, f *fixture) {
			storagetesting.RunTestWatchFromZero(ctx, t, f, f.compact)
		},
	} {
		t.Run(name, func(t *testing.T) { suite(t.Context(), t, newAgingFixture(t)) })
	}
}

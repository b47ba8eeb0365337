package referee

import (
	"testing"

	storagetesting "k8s.io/apiserver/pkg/storage/testing"
)

// The tests are in the order of upstream's file storage/testing/watcher_tests.go.

func TestWatch(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) { storagetesting.RunTestWatch(t.Context(), t, f) })
}

func TestWatchFromZero(t *testing.T) {
	f := newAgingFixture(t)
	storagetesting.RunTestWatchFromZero(t.Context(), t, f, f.compact)
}

func TestDeleteTriggerWatch(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) { storagetesting.RunTestDeleteTriggerWatch(t.Context(), t, f) })
}

func TestWatchFromNonZero(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) { storagetesting.RunTestWatchFromNonZero(t.Context(), t, f) })
}

func TestDelayedWatchDelivery(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) { storagetesting.RunTestDelayedWatchDelivery(t.Context(), t, f) })
}

func TestWatchContextCancel(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) { storagetesting.RunTestWatchContextCancel(t.Context(), t, f) })
}

func TestWatcherTimeout(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) { storagetesting.RunTestWatcherTimeout(t.Context(), t, f) })
}

func TestWatchDeleteEventObjectHaveLatestRV(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) {
		storagetesting.RunTestWatchDeleteEventObjectHaveLatestRV(t.Context(), t, f)
	})
}

func TestWatchInitializationSignal(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) { storagetesting.RunTestWatchInitializationSignal(t.Context(), t, f) })
}

func TestClusterScopedWatch(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) { storagetesting.RunTestClusterScopedWatch(t.Context(), t, f) })
}

func TestNamespaceScopedWatch(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) { storagetesting.RunTestNamespaceScopedWatch(t.Context(), t, f) })
}

func TestWatchDispatchBookmarkEvents(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) {
		storagetesting.RunTestWatchDispatchBookmarkEvents(t.Context(), t, f, true)
	})
}

func TestWatchBookmarksWithCorrectResourceVersion(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) {
		storagetesting.RunTestOptionalWatchBookmarksWithCorrectResourceVersion(t.Context(), t, f)
	})
}

func TestSendInitialEventsBackwardCompatibility(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) {
		storagetesting.RunSendInitialEventsBackwardCompatibility(t.Context(), t, f)
	})
}

func TestWatchSemantics(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) { storagetesting.RunWatchSemantics(t.Context(), t, f) })
}

func TestWatchSemanticInitialEventsExtended(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) {
		storagetesting.RunWatchSemanticInitialEventsExtended(t.Context(), t, f)
	})
}

func TestWatchListMatchSingle(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) { storagetesting.RunWatchListMatchSingle(t.Context(), t, f) })
}

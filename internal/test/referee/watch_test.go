package referee

import (
	"testing"

	storagetesting "k8s.io/apiserver/pkg/storage/testing"

	"github.com/kubecoord/kubecoord/internal/registry"
)

// The tests are in the order of upstream's file storage/testing/watcher_tests.go.

func TestWatch(t *testing.T) {
	storagetesting.RunTestWatch(t.Context(), t, newFixture(t, registry.Options{}))
}

func TestWatchFromZero(t *testing.T) {
	f := newAgingFixture(t)
	storagetesting.RunTestWatchFromZero(t.Context(), t, f, f.compact)
}

func TestDeleteTriggerWatch(t *testing.T) {
	storagetesting.RunTestDeleteTriggerWatch(t.Context(), t, newFixture(t, registry.Options{}))
}

func TestWatchFromNonZero(t *testing.T) {
	storagetesting.RunTestWatchFromNonZero(t.Context(), t, newFixture(t, registry.Options{}))
}

func TestDelayedWatchDelivery(t *testing.T) {
	storagetesting.RunTestDelayedWatchDelivery(t.Context(), t, newFixture(t, registry.Options{}))
}

func TestWatchContextCancel(t *testing.T) {
	storagetesting.RunTestWatchContextCancel(t.Context(), t, newFixture(t, registry.Options{}))
}

func TestWatcherTimeout(t *testing.T) {
	storagetesting.RunTestWatcherTimeout(t.Context(), t, newFixture(t, registry.Options{}))
}

func TestWatchDeleteEventObjectHaveLatestRV(t *testing.T) {
	storagetesting.RunTestWatchDeleteEventObjectHaveLatestRV(t.Context(), t, newFixture(t, registry.Options{}))
}

func TestWatchInitializationSignal(t *testing.T) {
	storagetesting.RunTestWatchInitializationSignal(t.Context(), t, newFixture(t, registry.Options{}))
}

func TestClusterScopedWatch(t *testing.T) {
	storagetesting.RunTestClusterScopedWatch(t.Context(), t, newFixture(t, registry.Options{}))
}

func TestNamespaceScopedWatch(t *testing.T) {
	storagetesting.RunTestNamespaceScopedWatch(t.Context(), t, newFixture(t, registry.Options{}))
}

func TestWatchDispatchBookmarkEvents(t *testing.T) {
	storagetesting.RunTestWatchDispatchBookmarkEvents(t.Context(), t, newFixture(t, registry.Options{}), true)
}

func TestWatchBookmarksWithCorrectResourceVersion(t *testing.T) {
	storagetesting.RunTestOptionalWatchBookmarksWithCorrectResourceVersion(t.Context(), t, newFixture(t, registry.Options{}))
}

func TestSendInitialEventsBackwardCompatibility(t *testing.T) {
	storagetesting.RunSendInitialEventsBackwardCompatibility(t.Context(), t, newFixture(t, registry.Options{}))
}

func TestWatchSemantics(t *testing.T) {
	storagetesting.RunWatchSemantics(t.Context(), t, newFixture(t, registry.Options{}))
}

func TestWatchSemanticInitialEventsExtended(t *testing.T) {
	storagetesting.RunWatchSemanticInitialEventsExtended(t.Context(), t, newFixture(t, registry.Options{}))
}

func TestWatchListMatchSingle(t *testing.T) {
	storagetesting.RunWatchListMatchSingle(t.Context(), t, newFixture(t, registry.Options{}))
}

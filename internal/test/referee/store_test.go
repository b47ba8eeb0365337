package referee

import (
	"testing"

	"k8s.io/apiserver/pkg/features"
	storagetesting "k8s.io/apiserver/pkg/storage/testing"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	featuregatetesting "k8s.io/component-base/featuregate/testing"

	"github.com/kubecoord/kubecoord/internal/registry"
)

// The tests bear the names of upstream's, in the order of its file
// storage/testing/store_tests.go.

func TestCreate(t *testing.T) {
	f := newFixture(t, registry.Options{})
	storagetesting.RunTestCreate(t.Context(), t, f, f.checkStored)
}

func TestCreateWithKeyExist(t *testing.T) {
	storagetesting.RunTestCreateWithKeyExist(t.Context(), t, newFixture(t, registry.Options{}))
}

func TestGet(t *testing.T) {
	storagetesting.RunTestGet(t.Context(), t, newFixture(t, registry.Options{}))
}

func TestUnconditionalDelete(t *testing.T) {
	storagetesting.RunTestUnconditionalDelete(t.Context(), t, newFixture(t, registry.Options{}))
}

func TestConditionalDelete(t *testing.T) {
	storagetesting.RunTestConditionalDelete(t.Context(), t, newFixture(t, registry.Options{}))
}

func TestDeleteWithSuggestion(t *testing.T) {
	storagetesting.RunTestDeleteWithSuggestion(t.Context(), t, newFixture(t, registry.Options{}))
}

func TestDeleteWithSuggestionAndConflict(t *testing.T) {
	storagetesting.RunTestDeleteWithSuggestionAndConflict(t.Context(), t, newFixture(t, registry.Options{}))
}

func TestDeleteWithConflict(t *testing.T) {
	storagetesting.RunTestDeleteWithConflict(t.Context(), t, newFixture(t, registry.Options{}))
}

func TestDeleteWithSuggestionOfDeletedObject(t *testing.T) {
	storagetesting.RunTestDeleteWithSuggestionOfDeletedObject(t.Context(), t, newFixture(t, registry.Options{}))
}

func TestValidateDeletionWithSuggestion(t *testing.T) {
	storagetesting.RunTestValidateDeletionWithSuggestion(t.Context(), t, newFixture(t, registry.Options{}))
}

func TestValidateDeletionWithOnlySuggestionValid(t *testing.T) {
	storagetesting.RunTestValidateDeletionWithOnlySuggestionValid(t.Context(), t, newFixture(t, registry.Options{}))
}

func TestPreconditionalDeleteWithSuggestion(t *testing.T) {
	storagetesting.RunTestPreconditionalDeleteWithSuggestion(t.Context(), t, newFixture(t, registry.Options{}))
}

func TestPreconditionalDeleteWithOnlySuggestionPass(t *testing.T) {
	storagetesting.RunTestPreconditionalDeleteWithOnlySuggestionPass(t.Context(), t, newFixture(t, registry.Options{}))
}

// TestList runs the cases of the watch cache unchanged, and the cases of etcd's
// store with lists at version 0 that keep their limit.
func TestList(t *testing.T) {
	featuregatetesting.SetFeatureGateDuringTest(t, utilfeature.DefaultFeatureGate, features.ListFromCacheSnapshot, true)
	t.Run("as the watch cache", func(t *testing.T) {
		f := newAgingFixture(t)
		storagetesting.RunTestList(t.Context(), t, f, f.compact, true, storagetesting.NewKubernetesRecorder(nil))
	})
	t.Run("as etcd's store", func(t *testing.T) {
		f := newAgingFixture(t)
		f.PageAnyVersion = true
		storagetesting.RunTestList(t.Context(), t, f, f.compact, false, nil)
	})
}

func TestDeleteWithSuggestionAndMissingExpectedTransformOrDecodeError(t *testing.T) {
	storagetesting.RunTestDeleteWithSuggestionAndMissingExpectedTransformOrDecodeError(t.Context(), t, newFixture(t, registry.Options{}))
}

func TestConsistentList(t *testing.T) {
	f := newFixture(t, registry.Options{})
	storagetesting.RunTestConsistentList(t.Context(), t, f, f.increaseRV, false, true, false)
}

func TestGetListNonRecursive(t *testing.T) {
	f := newFixture(t, registry.Options{})
	storagetesting.RunTestGetListNonRecursive(t.Context(), t, f.increaseRV, f)
}

func TestGetListRecursivePrefix(t *testing.T) {
	storagetesting.RunTestGetListRecursivePrefix(t.Context(), t, newFixture(t, registry.Options{}))
}

func TestListContinuation(t *testing.T) {
	storagetesting.RunTestListContinuation(t.Context(), t, newFixture(t, registry.Options{}), nil)
}

func TestListPaginationRareObject(t *testing.T) {
	storagetesting.RunTestListPaginationRareObject(t.Context(), t, newFixture(t, registry.Options{}), nil)
}

func TestListContinuationWithFilter(t *testing.T) {
	storagetesting.RunTestListContinuationWithFilter(t.Context(), t, newFixture(t, registry.Options{}), nil)
}

func TestListInconsistentContinuation(t *testing.T) {
	f := newAgingFixture(t)
	f.PageAnyVersion = true // the suite pages from version 0
	storagetesting.RunTestListInconsistentContinuation(t.Context(), t, f, f.compact)
}

func TestListResourceVersionMatch(t *testing.T) {
	storagetesting.RunTestListResourceVersionMatch(t.Context(), t, newFixture(t, registry.Options{}))
}

func TestGuaranteedUpdate(t *testing.T) {
	f := newFixture(t, registry.Options{})
	storagetesting.RunTestGuaranteedUpdate(t.Context(), t, f, f.checkStored)
}

func TestGuaranteedUpdateChecksStoredData(t *testing.T) {
	storagetesting.RunTestGuaranteedUpdateChecksStoredData(t.Context(), t, newFixture(t, registry.Options{}))
}

func TestGuaranteedUpdateWithConflict(t *testing.T) {
	storagetesting.RunTestGuaranteedUpdateWithConflict(t.Context(), t, newFixture(t, registry.Options{}))
}

func TestGuaranteedUpdateWithSuggestionAndConflict(t *testing.T) {
	storagetesting.RunTestGuaranteedUpdateWithSuggestionAndConflict(t.Context(), t, newFixture(t, registry.Options{}))
}

func TestStats(t *testing.T) {
	f := newFixture(t, registry.Options{})
	storagetesting.RunTestStats(t.Context(), t, f, f.codec, noTransformer, false)
}

func TestListPaging(t *testing.T) {
	storagetesting.RunTestListPaging(t.Context(), t, newFixture(t, registry.Options{}))
}

func TestNamespaceScopedList(t *testing.T) {
	storagetesting.RunTestNamespaceScopedList(t.Context(), t, newFixture(t, registry.Options{}))
}

func TestCompactRevision(t *testing.T) {
	f := newAgingFixture(t)
	storagetesting.RunTestCompactRevision(t.Context(), t, f, f.increaseRV, f.compact)
}

func TestKeySchema(t *testing.T) {
	storagetesting.RunTestKeySchema(t.Context(), t, newFixture(t, registry.Options{}))
}

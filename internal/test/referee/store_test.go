package referee

import (
	"testing"

	"k8s.io/apiserver/pkg/features"
	storagetesting "k8s.io/apiserver/pkg/storage/testing"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	featuregatetesting "k8s.io/component-base/featuregate/testing"
)

// The tests bear the names of upstream's, in the order of its file
// storage/testing/store_tests.go.

func TestCreate(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) {
		storagetesting.RunTestCreate(t.Context(), t, f, f.checkStored)
	})
}

func TestCreateWithKeyExist(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) { storagetesting.RunTestCreateWithKeyExist(t.Context(), t, f) })
}

func TestGet(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) { storagetesting.RunTestGet(t.Context(), t, f) })
}

func TestUnconditionalDelete(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) { storagetesting.RunTestUnconditionalDelete(t.Context(), t, f) })
}

func TestConditionalDelete(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) { storagetesting.RunTestConditionalDelete(t.Context(), t, f) })
}

func TestDeleteWithSuggestion(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) { storagetesting.RunTestDeleteWithSuggestion(t.Context(), t, f) })
}

func TestDeleteWithSuggestionAndConflict(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) {
		storagetesting.RunTestDeleteWithSuggestionAndConflict(t.Context(), t, f)
	})
}

func TestDeleteWithConflict(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) { storagetesting.RunTestDeleteWithConflict(t.Context(), t, f) })
}

func TestDeleteWithSuggestionOfDeletedObject(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) {
		storagetesting.RunTestDeleteWithSuggestionOfDeletedObject(t.Context(), t, f)
	})
}

func TestValidateDeletionWithSuggestion(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) {
		storagetesting.RunTestValidateDeletionWithSuggestion(t.Context(), t, f)
	})
}

func TestValidateDeletionWithOnlySuggestionValid(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) {
		storagetesting.RunTestValidateDeletionWithOnlySuggestionValid(t.Context(), t, f)
	})
}

func TestPreconditionalDeleteWithSuggestion(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) {
		storagetesting.RunTestPreconditionalDeleteWithSuggestion(t.Context(), t, f)
	})
}

func TestPreconditionalDeleteWithOnlySuggestionPass(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) {
		storagetesting.RunTestPreconditionalDeleteWithOnlySuggestionPass(t.Context(), t, f)
	})
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
	onBoth(t, func(t *testing.T, f *fixture) {
		storagetesting.RunTestDeleteWithSuggestionAndMissingExpectedTransformOrDecodeError(t.Context(), t, f)
	})
}

func TestConsistentList(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) {
		storagetesting.RunTestConsistentList(t.Context(), t, f, f.increaseRV, false, true, false)
	})
}

func TestGetListNonRecursive(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) {
		storagetesting.RunTestGetListNonRecursive(t.Context(), t, f.increaseRV, f)
	})
}

func TestGetListRecursivePrefix(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) { storagetesting.RunTestGetListRecursivePrefix(t.Context(), t, f) })
}

func TestListContinuation(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) { storagetesting.RunTestListContinuation(t.Context(), t, f, nil) })
}

func TestListPaginationRareObject(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) { storagetesting.RunTestListPaginationRareObject(t.Context(), t, f, nil) })
}

func TestListContinuationWithFilter(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) {
		storagetesting.RunTestListContinuationWithFilter(t.Context(), t, f, nil)
	})
}

func TestListInconsistentContinuation(t *testing.T) {
	f := newAgingFixture(t)
	f.PageAnyVersion = true // the suite pages from version 0
	storagetesting.RunTestListInconsistentContinuation(t.Context(), t, f, f.compact)
}

func TestListResourceVersionMatch(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) { storagetesting.RunTestListResourceVersionMatch(t.Context(), t, f) })
}

func TestGuaranteedUpdate(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) {
		storagetesting.RunTestGuaranteedUpdate(t.Context(), t, f, f.checkStored)
	})
}

func TestGuaranteedUpdateChecksStoredData(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) {
		storagetesting.RunTestGuaranteedUpdateChecksStoredData(t.Context(), t, f)
	})
}

func TestGuaranteedUpdateWithConflict(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) { storagetesting.RunTestGuaranteedUpdateWithConflict(t.Context(), t, f) })
}

func TestGuaranteedUpdateWithSuggestionAndConflict(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) {
		storagetesting.RunTestGuaranteedUpdateWithSuggestionAndConflict(t.Context(), t, f)
	})
}

func TestStats(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) {
		storagetesting.RunTestStats(t.Context(), t, f, f.codec, noTransformer, false)
	})
}

func TestListPaging(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) { storagetesting.RunTestListPaging(t.Context(), t, f) })
}

func TestNamespaceScopedList(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) { storagetesting.RunTestNamespaceScopedList(t.Context(), t, f) })
}

func TestCompactRevision(t *testing.T) {
	f := newAgingFixture(t)
	storagetesting.RunTestCompactRevision(t.Context(), t, f, f.increaseRV, f.compact)
}

func TestKeySchema(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) { storagetesting.RunTestKeySchema(t.Context(), t, f) })
}

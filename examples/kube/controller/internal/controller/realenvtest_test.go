//go:build realenvtest

package controller_test

// The module keeps the checksums of what controller-runtime's envtest imports, for TestSuiteIsOneImportLineFromEnvtest.
import _ "sigs.k8s.io/controller-runtime/pkg/envtest"

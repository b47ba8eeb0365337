// Package virtualtime prepares apimachinery for tests in a testing/synctest bubble.
package virtualtime

import utilruntime "k8s.io/apimachinery/pkg/util/runtime"

// HandleErrorsAtOnce removes the apimachinery error handler that limits the rate
// of errors. That handler keeps the time of the last error for the whole process:
// in a bubble with an earlier clock it would sleep for years. The first handler,
// which logs, stays. Call it from TestMain before the tests.
func HandleErrorsAtOnce() { utilruntime.ErrorHandlers = utilruntime.ErrorHandlers[:1] }

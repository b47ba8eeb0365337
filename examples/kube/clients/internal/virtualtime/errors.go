package virtualtime

import utilruntime "k8s.io/apimachinery/pkg/util/runtime"

// HandleErrorsAtOnce takes out the handler that slows down whoever reports errors
// to apimachinery: it remembers when the last error was for the whole process, and
// in a bubble whose clock is behind the clock of another bubble it would sleep for years.
// The first handler, which logs, stays. It is to be called before anything else.
func HandleErrorsAtOnce() { utilruntime.ErrorHandlers = utilruntime.ErrorHandlers[:1] }

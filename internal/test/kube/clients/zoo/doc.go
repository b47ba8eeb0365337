// Package zoo has small controllers with the classic mistakes of controllers, and the same controllers mended. Its tests check that package
// explore finds each mistake, and nothing in the mended ones.
//
// A file is a controller. Its constructor takes wrong, which puts the mistake in, and the lines that look at wrong are the mistake. Some
// controllers are managers of controller-runtime, some have informers of client-go with a workqueue, some are plain loops with lists.
package zoo

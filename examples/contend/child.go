package main

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"runtime"
	"time"
)

// child is a command that runs until a context ends.
type child struct {
	args      []string
	env       []string // in addition to the environment of this process
	out, errs io.Writer
	grace     time.Duration // between SIGTERM and SIGKILL
}

// run runs the command, with an empty standard input. When ctx ends, the command and the
// processes of its group get SIGTERM. After the grace the command gets SIGKILL. When it has
// ended, the rest of its group gets SIGKILL: nothing of it may outlive the term.
func (c child) run(ctx context.Context) term {
	// On Linux the command is killed when the thread ends that has started it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd := exec.CommandContext(ctx, c.args[0], c.args[1:]...)
	cmd.Env = append(os.Environ(), c.env...)
	cmd.Stdout, cmd.Stderr = c.out, c.errs
	cmd.SysProcAttr = ownGroup()
	cmd.Cancel = func() error { return terminate(cmd.Process) }
	cmd.WaitDelay = c.grace
	err := cmd.Run()
	if cmd.Process != nil {
		killGroup(cmd.Process)
	}
	t := term{finished: ctx.Err() == nil}
	if _, ok := errors.AsType[*exec.ExitError](err); ok || err == nil || cmd.ProcessState != nil {
		t.code = exitCode(cmd.ProcessState)
		return t
	}
	t.code, t.err = exitFailed, err // it could not be started
	return t
}

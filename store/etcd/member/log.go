package member

import (
	"errors"
	"fmt"
	"runtime"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// logger returns the logger of the member. Where etcd would end the process, it ends the
// goroutine, and the member has failed.
func (m *Member) logger(to zapcore.Core) *zap.Logger {
	if to == nil {
		to = zapcore.NewNopCore()
	}
	return zap.New(to, zap.WithFatalHook(hook{m}), zap.WithPanicHook(hook{m}))
}

// hook is called in place of the end of the process.
type hook struct{ member *Member }

// OnWrite implements zapcore.CheckWriteHook.
func (h hook) OnWrite(entry *zapcore.CheckedEntry, fields []zapcore.Field) {
	err := errors.New(entry.Message)
	for _, f := range fields {
		if cause, ok := f.Interface.(error); ok && f.Type == zapcore.ErrorType {
			err = fmt.Errorf("%s: %w", entry.Message, cause)
		}
	}
	h.member.fails(err)
	runtime.Goexit()
}

// fails notes the first reason why the member cannot go on.
func (m *Member) fails(err error) {
	m.fail.Do(func() {
		m.failure = err
		close(m.failed)
	})
}

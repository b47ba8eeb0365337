package exact

import (
	"errors"
	"sync"
	"sync/atomic"
)

// Verb is the verb of an operation.
type Verb string

// The verbs.
const (
	Create Verb = "create"
	Get    Verb = "get"
	Update Verb = "update"
	Patch  Verb = "patch"
	Delete Verb = "delete"
	List   Verb = "list"
)

// Operation is one operation of a client, except a watch.
type Operation struct {
	Client string
	Verb   Verb
	// Begin and End are when the operation began and ended, in ticks of the Log.
	Begin, End uint64
	In         State // the written state; its key is the object of the operation
	List       ListOptions
	// Before is the page before this one, nil on the first.
	Before *Operation
	Out    State
	Page   Page
	Err    error
}

// Watched is one watch of a client.
type Watched struct {
	Client  string
	Options WatchOptions
	// Begin, First and End are when the watch began, had its first event, and ended.
	Begin, First, End uint64
	Events            []Event
	Err               error
	// Complete, if not 0, is a version: the client had time to read all events up to it.
	Complete uint64
}

// Log has the operations of the clients of one store.
type Log struct {
	ticks      *atomic.Uint64 // shared with the logs of forks
	mu         sync.Mutex
	Operations []*Operation
	Watches    []*Watched
	Swaps      []Swap
}

// NewLog returns an empty log.
func NewLog() *Log { return &Log{ticks: &atomic.Uint64{}} }

// do runs an operation and logs it.
func (l *Log) do(o *Operation, run func()) *Operation {
	o.Begin = l.ticks.Add(1)
	run()
	o.End = l.ticks.Add(1)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.Operations = append(l.Operations, o)
	return o
}

// Swap is a change of the kind.
type Swap struct {
	// Begin and End are when the change began and was answered, in ticks of the Log.
	Begin, End uint64
	Kind       int // the number of the new kind
}

// Swap runs a change to a kind and logs it.
func (l *Log) Swap(number int, run func() error) error {
	s := Swap{Begin: l.ticks.Add(1), Kind: number}
	err := run()
	s.End = l.ticks.Add(1)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.Swaps = append(l.Swaps, s)
	return err
}

// Others runs something by which others may delete any object of a namespace. For the log these are deletions without an answer.
func (l *Log) Others(run func(), namespace string) {
	l.do(&Operation{Client: "others", Verb: Delete, In: State{Namespace: namespace, Name: names[0]}, Err: errOthers}, run)
	for _, name := range names[1:] {
		l.do(&Operation{Client: "others", Verb: Delete, In: State{Namespace: namespace, Name: name}, Err: errOthers}, func() {})
	}
}

// errOthers is the error of operations of others, whose answer is not known.
var errOthers = errors.New("done by others")

func (l *Log) watched(w *Watched) {
	w.End = l.ticks.Add(1)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.Watches = append(l.Watches, w)
}

// Fork returns an empty log for a fork of the store. Its ticks go on.
func (l *Log) Fork() *Log { return &Log{ticks: l.ticks} }

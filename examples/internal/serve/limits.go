package serve

import (
	"flag"
	"strings"
	"time"

	"github.com/kubecoord/kubecoord/httpapi"
)

// limits is the part of the command line that bounds what clients can use. 0 means no
// limit.
type limits struct {
	reads, writes  int
	share          int
	timeout        time.Duration
	watchStall     time.Duration
	slowBytes      int64
	watchesPer     int
	connectionsPer int
	hosts          string
}

// register adds the flags. Those that a kube-apiserver or etcd has too are named as there.
func (l *limits) register(f *flag.FlagSet) {
	f.IntVar(&l.reads, "max-requests-inflight", 400, "answer 429 to more `reads` than this at a time, watches not counted; 0: no limit")
	f.IntVar(&l.writes, "max-mutating-requests-inflight", 200, "answer 429 to more `writes` than this at a time; 0: no limit")
	f.IntVar(&l.share, "max-inflight-share", 50, "answer 429 to one user, or one address without users, that has more `percent` of the reads or of the writes than this; 0: no limit")
	f.DurationVar(&l.timeout, "request-timeout", time.Minute, "answer 504 to a request, other than a watch, after this `time`; 0: no limit")
	f.DurationVar(&l.watchStall, "watch-stall", time.Minute, "cut a watch whose client does not read for this `time`; 0: no limit")
	f.Int64Var(&l.slowBytes, "slow-client-bytes", 256<<20, "cut the slowest clients that do not read if more `bytes` than this wait for them; 0: no limit")
	f.IntVar(&l.watchesPer, "max-watches-per-client", 5000, "answer 429 to more `watches` of one address; 0: no limit")
	f.IntVar(&l.connectionsPer, "max-connections-per-client", 10000, "close more `connections` of one address; 0: no limit")
	f.StringVar(&l.hosts, "allow-host", "", "further `names`, separated by commas, by which clients may call this server, besides localhost, loopback addresses and the address of -listen")
}

// options sets the limits of an API that listens at an address.
func (l *limits) options(o *httpapi.Options, listen string) {
	o.Reads, o.Writes, o.ClientShare, o.WatchesPerClient, o.WatchStall = l.reads, l.writes, l.share, l.watchesPer, l.watchStall
	if o.RequestTimeout = l.timeout; o.RequestTimeout <= 0 {
		o.RequestTimeout = -1
	}
	if o.SlowClientBytes = l.slowBytes; o.SlowClientBytes <= 0 {
		o.SlowClientBytes = -1
	}
	o.Hosts = append(strings.FieldsFunc(l.hosts, func(r rune) bool { return r == ',' }), listen)
}

package main

// The control port: what the members were asked, what changed when, and how long workloads take.

import (
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
	"k8s.io/apiserver/pkg/endpoints/request"

	api "k8s.io/kubernetes/pkg/apis/core"
)

// counting is an answer whose bytes are counted.
type counting struct {
	http.ResponseWriter
	sent int64
	code int
}

func (c *counting) Write(content []byte) (int, error) {
	written, err := c.ResponseWriter.Write(content)
	c.sent += int64(written)
	return written, err
}

func (c *counting) WriteHeader(code int) {
	c.code = code
	c.ResponseWriter.WriteHeader(code)
}

func (c *counting) Flush() {
	if flusher, can := c.ResponseWriter.(http.Flusher); can {
		flusher.Flush()
	}
}

func (c *counting) Unwrap() http.ResponseWriter { return c.ResponseWriter }

// told is what happened since the last mark.
var told struct {
	sync.Mutex
	requests       map[string]int64
	connections    int64
	sent, received int64
	changes        []change
}

// change is one change of a stored object: when, on the clock that Python calls monotonic.
type change struct {
	Member string  `json:"member"`
	Key    string  `json:"key"`
	At     float64 `json:"at"`
	What   string  `json:"what"`
}

func monotonic() float64 {
	var at unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &at)
	return float64(at.Sec) + float64(at.Nsec)/1e9
}

func count(_ *space, r *http.Request, info *request.RequestInfo, answer *counting) {
	what := r.URL.Path
	if info.IsResourceRequest {
		what = info.Resource
		if info.Subresource != "" {
			what += "/" + info.Subresource
		}
	}
	told.Lock()
	told.requests[fmt.Sprintf("%s %s", info.Verb, what)]++
	told.sent += answer.sent
	told.received += max(r.ContentLength, 0)
	told.Unlock()
}

func countConnection(_ net.Conn, state http.ConnState) {
	if state == http.StateNew {
		told.Lock()
		told.connections++
		told.Unlock()
	}
}

func note(of *space, each event) {
	what := "written"
	switch {
	case each.now == nil:
		what = "deleted"
	case isByController(each.now):
		what = "healthy"
	}
	at := monotonic()
	told.Lock()
	told.changes = append(told.changes, change{of.name, each.key, at, what})
	told.Unlock()
}

// isByController says whether the last to change an object was what plays the controllers.
func isByController(each *entry) bool {
	object, can := each.object.(interface{ GetGeneration() int64 })
	if !can {
		return false
	}
	return observedGeneration(each.object) == object.GetGeneration() && object.GetGeneration() > 0
}

func serveControl(all []*member) (int, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	reset()
	routes := http.NewServeMux()
	routes.HandleFunc("GET /told", func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, summary(all)) })
	routes.HandleFunc("GET /changes", func(w http.ResponseWriter, _ *http.Request) {
		told.Lock()
		found := told.changes
		told.Unlock()
		writeJSON(w, found)
	})
	routes.HandleFunc("POST /mark", func(w http.ResponseWriter, _ *http.Request) { reset() })
	routes.HandleFunc("POST /healthy-after", func(w http.ResponseWriter, r *http.Request) {
		after, err := time.ParseDuration(r.URL.Query().Get("after"))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		healthyAfter.Store(int64(after))
	})
	routes.HandleFunc("POST /clone", func(w http.ResponseWriter, r *http.Request) {
		if err := clone(all, r.URL.Query().Get("from")); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
		}
	})
	go func() { _ = http.Serve(listener, routes) }()
	return listener.Addr().(*net.TCPAddr).Port, nil
}

func reset() {
	told.Lock()
	told.requests, told.connections, told.sent, told.received, told.changes = map[string]int64{}, 0, 0, 0, nil
	told.Unlock()
}

func summary(all []*member) map[string]any {
	var used unix.Rusage
	_ = unix.Getrusage(unix.RUSAGE_SELF, &used)
	objects := 0
	for _, each := range all {
		each.mu.RLock()
		for _, kind := range each.objects {
			objects += len(kind)
		}
		each.mu.RUnlock()
	}
	told.Lock()
	defer told.Unlock()
	return map[string]any{
		"cpu":      seconds(used.Utime) + seconds(used.Stime),
		"memory":   used.Maxrss * 1024,
		"requests": told.requests, "connections": told.connections, "sent": told.sent, "received": told.received,
		"changes": len(told.changes), "objects": objects,
	}
}

func seconds(of unix.Timeval) float64 { return float64(of.Sec) + float64(of.Usec)/1e6 }

// clone gives all members what one of them holds, except what tells a cluster from others.
func clone(all []*member, from string) error {
	var origin *member
	for _, each := range all {
		if each.name == from {
			origin = each
		}
	}
	if origin == nil {
		return fmt.Errorf("no member is called %q", from)
	}
	origin.mu.RLock()
	defer origin.mu.RUnlock()
	for _, each := range all {
		if each == origin {
			continue
		}
		each.mu.Lock()
		each.revision = max(each.revision, origin.revision)
		for prefix, objects := range origin.objects {
			if strings.HasSuffix(prefix, "/leases") {
				continue
			}
			if each.objects[prefix] == nil {
				each.objects[prefix] = make(map[string]*entry, len(objects))
			}
			for key, found := range objects {
				if space, is := found.object.(*api.Namespace); is && each.objects[prefix][key] != nil && space.Name != "" {
					continue
				}
				each.objects[prefix][key] = found
			}
		}
		each.mu.Unlock()
	}
	return nil
}

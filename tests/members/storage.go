package main

// The storage of all members: what etcd is to a kube-apiserver, in memory, and apart for each member.
//
// A request carries its member in its context. Objects are kept as they come back from being encoded and decoded, as
// etcd's would, and are never changed in place: members may share them.

import (
	"context"
	"fmt"
	"hash/maphash"
	"reflect"
	"sort"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/conversion"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/storage"
)

const (
	rememberedEvents = 256
	mostTries        = 1000
)

var hashSeed = maphash.MakeSeed()

type memberKey struct{}

// space is what one member holds.
type space struct {
	name, uid string
	mu        sync.RWMutex
	revision  uint64
	objects   map[string]map[string]*entry
	events    []event
	watchers  map[*watcher]struct{}
}

// entry is one stored object; hash is that of its encoded form.
type entry struct {
	object   runtime.Object
	revision uint64
	hash     uint64
}

type event struct {
	prefix, key string
	revision    uint64
	before, now *entry
}

func newSpace(name, uid string) *space {
	return &space{name: name, uid: uid, objects: map[string]map[string]*entry{}, watchers: map[*watcher]struct{}{}}
}

func spaceOf(ctx context.Context) *space {
	found, _ := ctx.Value(memberKey{}).(*space)
	if found == nil {
		panic("a request without a member")
	}
	return found
}

func inSpace(ctx context.Context, of *space) context.Context {
	return context.WithValue(ctx, memberKey{}, of)
}

// entryAt returns the stored object of a key.
func (s *space) entryAt(prefix, key string) *entry {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.objects[prefix][key]
}

// exchange puts now in the place of before, if it is still there; nil is no object. It returns the revision, or 0.
func (s *space) exchange(prefix, key string, before, now *entry) uint64 {
	s.mu.Lock()
	if s.objects[prefix][key] != before {
		s.mu.Unlock()
		return 0
	}
	s.revision++
	if now == nil {
		delete(s.objects[prefix], key)
	} else {
		now.revision = s.revision
		setRevision(now.object, now.revision)
		if s.objects[prefix] == nil {
			s.objects[prefix] = map[string]*entry{}
		}
		s.objects[prefix][key] = now
	}
	told := event{prefix: prefix, key: key, revision: s.revision, before: before, now: now}
	if len(s.events) >= 2*rememberedEvents {
		s.events = append([]event(nil), s.events[rememberedEvents:]...)
	}
	s.events = append(s.events, told)
	for each := range s.watchers {
		each.tell(told)
	}
	s.mu.Unlock()
	changed(s, told)
	return told.revision
}

func setRevision(object runtime.Object, revision uint64) {
	if err := (storage.APIObjectVersioner{}).UpdateObject(object, revision); err != nil {
		panic(err)
	}
}

// store is the storage of one resource in all members.
type store struct {
	storage.APIObjectVersioner
	prefix  string
	codec   runtime.Codec
	newFunc func() runtime.Object
}

func (s *store) Versioner() storage.Versioner { return s.APIObjectVersioner }

func (s *store) Stats(context.Context) (storage.Stats, error)        { return storage.Stats{}, nil }
func (s *store) ReadinessCheck() error                               { return nil }
func (s *store) RequestWatchProgress(context.Context) error          { return nil }
func (s *store) EnableResourceSizeEstimation(storage.KeysFunc) error { return nil }
func (s *store) CompactRevision() int64                              { return 0 }
func (s *store) GetCurrentResourceVersion(c context.Context) (uint64, error) {
	of := spaceOf(c)
	of.mu.RLock()
	defer of.mu.RUnlock()
	return of.revision, nil
}

// stored returns an object as it is once it was written and read again.
func (s *store) stored(object runtime.Object) (*entry, error) {
	if err := s.PrepareObjectForStorage(object); err != nil {
		return nil, err
	}
	data, err := runtime.Encode(s.codec, object)
	if err != nil {
		return nil, err
	}
	decoded, _, err := s.codec.Decode(data, nil, s.newFunc())
	if err != nil {
		return nil, err
	}
	return &entry{object: decoded, hash: maphash.Bytes(hashSeed, data)}, nil
}

func copyInto(from, into runtime.Object) error {
	value, err := conversion.EnforcePtr(into)
	if err != nil {
		return err
	}
	value.Set(reflect.ValueOf(from.DeepCopyObject()).Elem())
	return nil
}

func (s *store) Create(ctx context.Context, key string, object, out runtime.Object, _ uint64) error {
	if revision, err := s.ObjectResourceVersion(object); err == nil && revision != 0 {
		return storage.ErrResourceVersionSetOnCreate
	}
	made, err := s.stored(object.DeepCopyObject())
	if err != nil {
		return err
	}
	if spaceOf(ctx).exchange(s.prefix, key, nil, made) == 0 {
		return storage.NewKeyExistsError(key, 0)
	}
	if out == nil {
		return nil
	}
	return copyInto(made.object, out)
}

func (s *store) Get(ctx context.Context, key string, options storage.GetOptions, out runtime.Object) error {
	found := spaceOf(ctx).entryAt(s.prefix, key)
	if found != nil {
		return copyInto(found.object, out)
	}
	if options.IgnoreNotFound {
		return runtime.SetZeroValue(out)
	}
	return storage.NewKeyNotFoundError(key, 0)
}

func (s *store) Delete(
	ctx context.Context, key string, out runtime.Object, preconditions *storage.Preconditions,
	validate storage.ValidateObjectFunc, _ runtime.Object, _ storage.DeleteOptions,
) error {
	of := spaceOf(ctx)
	for range mostTries {
		found := of.entryAt(s.prefix, key)
		if found == nil {
			return storage.NewKeyNotFoundError(key, 0)
		}
		if preconditions != nil {
			if err := preconditions.Check(key, found.object); err != nil {
				return err
			}
		}
		if err := validate(ctx, found.object); err != nil {
			return err
		}
		if revision := of.exchange(s.prefix, key, found, nil); revision > 0 {
			if err := copyInto(found.object, out); err != nil {
				return err
			}
			return s.UpdateObject(out, revision)
		}
	}
	return fmt.Errorf("%s keeps changing", key)
}

func (s *store) GuaranteedUpdate(
	ctx context.Context, key string, out runtime.Object, ignoreNotFound bool, preconditions *storage.Preconditions,
	update storage.UpdateFunc, _ runtime.Object,
) error {
	of := spaceOf(ctx)
	for range mostTries {
		found := of.entryAt(s.prefix, key)
		if found == nil && !ignoreNotFound {
			return storage.NewKeyNotFoundError(key, 0)
		}
		current, revision := s.newFunc(), uint64(0)
		if found != nil {
			current, revision = found.object.DeepCopyObject(), found.revision
		}
		if preconditions != nil {
			if err := preconditions.Check(key, current); err != nil {
				return err
			}
		}
		updated, _, err := update(current, storage.ResponseMeta{ResourceVersion: revision})
		if err != nil {
			return err
		}
		made, err := s.stored(updated.DeepCopyObject())
		if err != nil {
			return err
		}
		if found != nil && found.hash == made.hash {
			return copyInto(found.object, out)
		}
		if of.exchange(s.prefix, key, found, made) > 0 {
			return copyInto(made.object, out)
		}
	}
	return fmt.Errorf("%s keeps changing", key)
}

func (s *store) GetList(ctx context.Context, key string, options storage.ListOptions, list runtime.Object) error {
	pointer, err := meta.GetItemsPtr(list)
	if err != nil {
		return err
	}
	items, err := conversion.EnforcePtr(pointer)
	if err != nil {
		return err
	}
	items.Set(reflect.MakeSlice(items.Type(), 0, 0))
	of, prefix := spaceOf(ctx), key
	if options.Recursive && !strings.HasSuffix(prefix, "/") {
		prefix += "/"
	}
	from := ""
	if options.Recursive && options.Predicate.Continue != "" {
		if from, _, err = storage.DecodeContinue(options.Predicate.Continue, prefix); err != nil {
			return apierrors.NewBadRequest(fmt.Sprintf("invalid continue token: %v", err))
		}
	}
	found, revision := s.listed(of, key, prefix, from, options)
	last, limit := "", options.Predicate.Limit
	for number, each := range found {
		if limit > 0 && int64(items.Len()) >= limit {
			token, remaining, err := storage.PrepareContinueToken(
				last, prefix, int64(revision), int64(len(found)-number+items.Len()), true, options)
			if err != nil {
				return err
			}
			return s.UpdateList(list, revision, token, remaining)
		}
		last = each.key
		matches, err := options.Predicate.Matches(each.entry.object)
		if err != nil {
			return err
		}
		if matches {
			items.Set(reflect.Append(items, reflect.ValueOf(each.entry.object).Elem()))
		}
	}
	return s.UpdateList(list, revision, "", nil)
}

type keyed struct {
	key   string
	entry *entry
}

// listed returns what is at a key, or below it from a key on, sorted, and the member's revision.
func (s *store) listed(of *space, key, prefix, from string, options storage.ListOptions) ([]keyed, uint64) {
	of.mu.RLock()
	defer of.mu.RUnlock()
	if !options.Recursive {
		if found := of.objects[s.prefix][key]; found != nil {
			return []keyed{{key, found}}, of.revision
		}
		return nil, of.revision
	}
	all := of.objects[s.prefix]
	found := make([]keyed, 0, len(all))
	for name, each := range all {
		if strings.HasPrefix(name, prefix) && name >= from {
			found = append(found, keyed{name, each})
		}
	}
	sort.Slice(found, func(one, other int) bool { return found[one].key < found[other].key })
	return found, of.revision
}

// watcher is one watch; what comes faster than it is taken away ends it, as a server's does.
type watcher struct {
	of      *space
	store   *store
	key     string
	options storage.ListOptions
	result  chan watch.Event
	once    sync.Once
}

func (s *store) Watch(ctx context.Context, key string, options storage.ListOptions) (watch.Interface, error) {
	of := spaceOf(ctx)
	since, err := s.ParseResourceVersion(options.ResourceVersion)
	if err != nil {
		return nil, err
	}
	if options.Recursive && !strings.HasSuffix(key, "/") {
		key += "/"
	}
	made := &watcher{of: of, store: s, key: key, options: options}
	of.mu.Lock()
	defer of.mu.Unlock()
	var first []watch.Event
	isInitial := since == 0 || (options.SendInitialEvents != nil && *options.SendInitialEvents)
	if isInitial {
		for name, each := range of.objects[s.prefix] {
			if made.covers(name) && made.matches(each) {
				first = append(first, watch.Event{Type: watch.Added, Object: each.object.DeepCopyObject()})
			}
		}
	} else {
		if len(of.events) > 0 && since+1 < of.events[0].revision {
			return nil, apierrors.NewResourceExpired(fmt.Sprintf("too old resource version: %d (%d)", since, of.revision))
		}
		for _, each := range of.events {
			if each.revision > since {
				first = append(first, made.eventsOf(each)...)
			}
		}
	}
	if options.SendInitialEvents != nil && *options.SendInitialEvents && options.Predicate.AllowWatchBookmarks {
		end := s.newFunc()
		setRevision(end, of.revision)
		if err := storage.AnnotateInitialEventsEndBookmark(end); err != nil {
			return nil, err
		}
		first = append(first, watch.Event{Type: watch.Bookmark, Object: end})
	}
	made.result = make(chan watch.Event, len(first)+1000)
	for _, each := range first {
		made.result <- each
	}
	of.watchers[made] = struct{}{}
	context.AfterFunc(ctx, made.Stop)
	return made, nil
}

func (w *watcher) covers(key string) bool {
	return key == w.key || (w.options.Recursive && strings.HasPrefix(key, w.key))
}

func (w *watcher) matches(each *entry) bool {
	if each == nil {
		return false
	}
	matches, err := w.options.Predicate.Matches(each.object)
	return err == nil && matches
}

func (w *watcher) eventsOf(each event) []watch.Event {
	if each.prefix != w.store.prefix || !w.covers(each.key) {
		return nil
	}
	was, is := w.matches(each.before), w.matches(each.now)
	switch {
	case is && was:
		return []watch.Event{{Type: watch.Modified, Object: each.now.object.DeepCopyObject()}}
	case is:
		return []watch.Event{{Type: watch.Added, Object: each.now.object.DeepCopyObject()}}
	case was:
		gone := each.before.object.DeepCopyObject()
		setRevision(gone, each.revision)
		return []watch.Event{{Type: watch.Deleted, Object: gone}}
	}
	return nil
}

// tell is called with the member's lock held.
func (w *watcher) tell(each event) {
	for _, one := range w.eventsOf(each) {
		select {
		case w.result <- one:
		default:
			go w.Stop()
			return
		}
	}
}

func (w *watcher) Stop() {
	w.once.Do(func() {
		w.of.mu.Lock()
		delete(w.of.watchers, w)
		close(w.result)
		w.of.mu.Unlock()
	})
}

func (w *watcher) ResultChan() <-chan watch.Event { return w.result }

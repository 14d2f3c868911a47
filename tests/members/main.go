// Members of a fleet in one process: each is an API server on a port of its own, with Kubernetes' own code for all that
// decides (apply, ownership of fields, validation, defaults), and with storage in memory instead of an etcd.
//
//	members --folder FOLDER --count 1000
//
// writes FOLDER/kubeconfigs/NAME.yaml for each, prints one line of JSON about them, and serves until its standard input
// ends. What they were asked and what changed is told at the control port (control.go).
package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"flag"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	genericfilters "k8s.io/apiserver/pkg/endpoints/filters"
	"k8s.io/klog/v2"

	api "k8s.io/kubernetes/pkg/apis/core"
)

const version = `{"major":"1","minor":"36","gitVersion":"v1.36.3","platform":"linux/amd64"}`

// member is one cluster: its objects, and its address.
type member struct {
	*space
	server *server
	token  string
	port   int
}

func main() {
	folder := flag.String("folder", "", "where the kubeconfigs are written")
	count := flag.Int("count", 3, "how many members there are")
	prefix := flag.String("prefix", "member", "the names of members: this and a number from 1 on")
	after := flag.Duration("healthy-after", 0, "how long workloads take to become healthy")
	token := flag.String("token", random(16), "the administrator's token")
	flag.Parse()
	healthyAfter.Store(int64(*after))
	klog.SetLogger(logr.Discard())
	if err := run(*folder, *prefix, *token, *count); err != nil {
		log.Fatal(err)
	}
}

func run(folder, prefix, token string, count int) error {
	shared, err := newServer()
	if err != nil {
		return err
	}
	controllers = &shared.stores
	authority, certificate, err := certificates()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(folder, "kubeconfigs"), 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(folder, "ca.crt"), authority, 0o600); err != nil {
		return err
	}
	config := &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12}
	var all []*member
	for number := range count {
		made := &member{
			space: newSpace(fmt.Sprintf("%s%d", prefix, number+1), random(16)), server: shared, token: token}
		if err := made.start(config); err != nil {
			return err
		}
		if err := made.writeKubeconfig(folder, authority); err != nil {
			return err
		}
		all = append(all, made)
	}
	control, err := serveControl(all)
	if err != nil {
		return err
	}
	if err := json.NewEncoder(os.Stdout).Encode(described(all, token, control)); err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

func described(all []*member, token string, control int) map[string]any {
	var list []map[string]any
	for _, each := range all {
		list = append(list, map[string]any{"name": each.name, "port": each.port, "uid": each.uid})
	}
	return map[string]any{"token": token, "control": control, "members": list}
}

func random(bytes int) string {
	made := make([]byte, bytes)
	_, _ = rand.Read(made)
	return hex.EncodeToString(made)
}

// start makes the namespaces that every cluster has, and listens.
func (m *member) start(config *tls.Config) error {
	spaces := m.server.stores[spacesResource]
	for _, name := range []string{"default", "kube-system", "kube-public", "kube-node-lease"} {
		uid := random(16)
		if name == "kube-system" {
			uid = m.uid
		}
		made := &api.Namespace{
			ObjectMeta: metav1.ObjectMeta{
				Name: name, UID: types.UID(uid), CreationTimestamp: now(),
				Labels: map[string]string{"kubernetes.io/metadata.name": name},
			},
			Spec:   api.NamespaceSpec{Finalizers: []api.FinalizerName{api.FinalizerKubernetes}},
			Status: api.NamespaceStatus{Phase: api.NamespaceActive},
		}
		if err := spaces.Create(inSpace(context.Background(), m.space), "/namespaces/"+name, made, nil, 0); err != nil {
			return err
		}
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	m.port = listener.Addr().(*net.TCPAddr).Port
	quiet := log.New(io.Discard, "", 0)
	serving := &http.Server{
		Handler: genericfilters.WithWarningRecorder(m), ErrorLog: quiet, ReadHeaderTimeout: time.Minute,
		ConnState: countConnection,
	}
	go func() { _ = serving.Serve(tls.NewListener(listener, config)) }()
	return nil
}

func (m *member) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	counted := &counting{ResponseWriter: w}
	request, info, err := m.server.asMember(r, m.space)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	defer func() { count(m.space, r, info, counted) }()
	switch token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "); {
	case token == m.token+"-nobody":
		refuse(counted, http.StatusForbidden, metav1.StatusReasonForbidden, "forbidden: User \"nobody\" may not")
		return
	case token != m.token:
		refuse(counted, http.StatusUnauthorized, metav1.StatusReasonUnauthorized, "Unauthorized")
		return
	}
	switch r.URL.Path {
	case "/version":
		counted.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(counted, version)
	case "/readyz", "/livez", "/healthz":
		_, _ = io.WriteString(counted, "ok")
	default:
		if !m.server.crds.serve(counted, request, info, m.space) {
			m.server.handler.ServeHTTP(counted, request)
		}
	}
}

func refuse(w http.ResponseWriter, code int32, reason metav1.StatusReason, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(int(code))
	_ = json.NewEncoder(w).Encode(metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusFailure, Message: message,
		Reason: reason, Code: code, Details: &metav1.StatusDetails{},
	})
}

func (m *member) writeKubeconfig(folder string, authority []byte) error {
	content, err := json.Marshal(map[string]any{
		"apiVersion": "v1", "kind": "Config", "current-context": m.name,
		"clusters": []any{map[string]any{"name": m.name, "cluster": map[string]any{
			"server":                     fmt.Sprintf("https://127.0.0.1:%d", m.port),
			"certificate-authority-data": base64.StdEncoding.EncodeToString(authority)}}},
		"users":    []any{map[string]any{"name": m.name, "user": map[string]any{"token": m.token}}},
		"contexts": []any{map[string]any{"name": m.name, "context": map[string]any{"cluster": m.name, "user": m.name}}},
	})
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, "kubeconfigs", m.name+".yaml"), content, 0o600)
}

// certificates makes an authority, and the certificate of all members.
func certificates() ([]byte, tls.Certificate, error) {
	signer, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, tls.Certificate{}, err
	}
	top := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "members"}, NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().AddDate(1, 0, 0), IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	content, err := x509.CreateCertificate(rand.Reader, top, top, &signer.PublicKey, signer)
	if err != nil {
		return nil, tls.Certificate{}, err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, tls.Certificate{}, err
	}
	leaf := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "member"}, NotBefore: top.NotBefore,
		NotAfter: top.NotAfter, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, DNSNames: []string{"localhost"},
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	signed, err := x509.CreateCertificate(rand.Reader, leaf, top, &key.PublicKey, signer)
	if err != nil {
		return nil, tls.Certificate{}, err
	}
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: content})
	return authority, tls.Certificate{Certificate: [][]byte{signed}, PrivateKey: key}, nil
}

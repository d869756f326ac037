package upgrade_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"stig/fault"
	"stig/upgrade"
)

// TestLatest has a real server answer, and counts what it is asked.
func TestLatest(t *testing.T) {
	for name, c := range map[string]struct {
		status   int
		location string
		body     string
		want     upgrade.Release
		err      string
	}{
		"release": {status: 200, body: `{"tag_name":"v1.2.3","html_url":"https://stig.example/v1.2.3","published_at":"2026-12-01T08:00:00Z","body":"- a\r\n- b\r\n","id":7}`,
			want: upgrade.Release{Version: "1.2.3", Date: "2026-12-01", Page: "https://stig.example/v1.2.3", Notes: "- a\n- b"}},
		"tag alone":   {status: 200, body: `{"tag_name":"2"}`, want: upgrade.Release{Version: "2"}},
		"no release":  {status: 404, body: `{}`, err: "answered 404 Not Found"},
		"no tag":      {status: 200, body: `{"message":"hello"}`, err: `with a "tag_name"`},
		"no JSON":     {status: 200, body: `<html>`, err: `with a "tag_name"`},
		"too much":    {status: 200, body: `{"tag_name":"` + strings.Repeat("v", 2<<20), err: "larger than 1 MiB"},
		"redirect":    {status: 302, location: "https://user:secret@stig.example/latest", err: "redirects to https://user:xxxxx@stig.example/latest, which is not followed"},
		"server ends": {status: 500, err: "answered 500"},
	} {
		t.Run(name, func(t *testing.T) {
			var asked []*http.Request
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked = append(asked, r)
				if c.location != "" {
					w.Header().Set("Location", c.location)
				}
				w.WriteHeader(c.status)
				_, _ = w.Write([]byte(c.body))
			}))
			defer server.Close()
			got, err := upgrade.Latest(t.Context(), server.URL+"/latest?token=mine")
			if got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
			if c.err == "" && err != nil || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err) || !fault.Is(err, fault.Store)) {
				t.Errorf("error %v, want %q", err, c.err)
			}
			if err != nil && strings.Contains(err.Error(), "mine") {
				t.Errorf("the error repeats the token: %v", err)
			}
			if len(asked) != 1 || asked[0].Method != http.MethodGet || asked[0].ContentLength != 0 {
				t.Fatalf("%d requests, want one GET without a body", len(asked))
			}
			for key, values := range asked[0].Header {
				if want := map[string]string{"Accept": "application/json", "User-Agent": "stig", "Accept-Encoding": "gzip"}[key]; strings.Join(values, " ") != want {
					t.Errorf("sends %s: %q, want %q", key, values, want)
				}
			}
		})
	}
}

func TestLatestUnreachable(t *testing.T) {
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	if _, err := upgrade.Latest(t.Context(), gone.URL); !fault.Is(err, fault.Store) || !strings.Contains(err.Error(), "connection refused") {
		t.Error(err)
	}
	done := make(chan struct{})
	slow := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-r.Context().Done():
		case <-done:
		}
	}))
	defer slow.Close()
	defer close(done)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := upgrade.Latest(ctx, slow.URL); !fault.Is(err, fault.Store) || !strings.Contains(err.Error(), "no answer") {
		t.Error(err)
	}
	for _, at := range []string{"", "stig.example/latest", "file:///etc/passwd", "https://", "https://%zz/secret"} {
		if _, err := upgrade.Latest(t.Context(), at); !fault.Is(err, fault.Usage) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v", at, err)
		}
	}
}

func TestIsNewer(t *testing.T) {
	order := []string{"latest", "0.1.0-pre1", "0.1.0", "0.1.1", "0.2", "0.10.0", "1.0.0-rc.1", "1.0.0+build", "2"}
	for i, a := range order {
		for j, b := range order {
			if upgrade.IsNewer(a, b) != (i > j) {
				t.Errorf("IsNewer(%q, %q) = %t", a, b, !(i > j))
			}
		}
	}
	if upgrade.IsNewer("1.0.0-rc.2", "1.0.0-rc.1") {
		t.Error("a pre-release is newer than another of the same version")
	}
}

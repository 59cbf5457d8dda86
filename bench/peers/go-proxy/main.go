// Go's own reverse proxy in front of one server: go-proxy LISTEN ORIGIN.
package main

import (
	"log"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
)

func main() {
	origin, err := url.Parse(os.Args[2])
	if err != nil {
		log.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(origin)
	proxy.Transport = &http.Transport{MaxIdleConnsPerHost: 256}
	log.Fatal(http.ListenAndServe(os.Args[1], proxy))
}

#!/usr/bin/env bash
# The health check of the image: ends with 0 if the gateway in this container is alive. Bash asks for some milliseconds of processor
# time, which matters every five seconds; TLS it leaves to health.mjs.
set -u
if [[ -n "${TLS_CERT:-}" ]]; then exec node "${BASH_SOURCE[0]%.sh}.mjs"; fi
case "${HOST:-}" in
  '' | 0.0.0.0 | ::) host=127.0.0.1 ;;
  *) host=$HOST ;;
esac
exec 3<>"/dev/tcp/$host/${PORT:-8080}" || exit 1
printf 'GET /health/live HTTP/1.1\r\nHost: health\r\nConnection: close\r\n\r\n' >&3
read -r -t 4 -u 3 _ status _ && [[ $status == 200 ]]

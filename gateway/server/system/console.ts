/**
 * `/console`: the console's page and files, built by set-up (ops/setup/console-build.mjs). The page's policy lets it load
 * nothing from other hosts and run no inline scripts; it sends HTTP requests only to us. Calls may be on another host, so it
 * may open sockets to any host.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CHECKOUT } from '../../../contracts/places.js';
import type { Reply, Route } from '../port.js';
import { withoutSlash } from '../replies.js';
import { takesGzip } from './built-file.js';

const BUILT = fileURLToPath(new URL('client/console/dist/', CHECKOUT));
const PAGE = 'index.html';

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
};

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "media-src 'self' blob:",
  "connect-src 'self' ws: wss:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** File names contain a hash of the content, except the page's. */
const KEPT = { 'cache-control': 'public, max-age=31536000, immutable' };
const FRESH = { 'cache-control': 'no-cache', 'content-security-policy': POLICY };

/** Reads the file once: a console that is rebuilt while this gateway runs has other file names, which need a restart. */
function route(path: string, name: string): Route {
  const plain = readFileSync(join(BUILT, name));
  const zipped = readFileSync(join(BUILT, `${name}.gz`));
  const headers = {
    'content-type': TYPES[extname(name)] ?? 'application/octet-stream',
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    vary: 'Accept-Encoding',
    ...(name === PAGE ? FRESH : KEPT),
  };
  const small: Reply = { status: 200, headers: { ...headers, 'content-encoding': 'gzip' }, body: zipped };
  const large: Reply = { status: 200, headers, body: plain };
  return {
    method: 'GET',
    path,
    permission: 'open',
    handler: async (request) => (takesGzip(request) ? small : large),
  };
}

/** Empty if the console is not built. */
export function consoleRoutes(): readonly Route[] {
  try {
    const files = readdirSync(BUILT).filter((name) => name !== PAGE && TYPES[extname(name)] !== undefined);
    return [
      route('/console', PAGE),
      withoutSlash('/console'),
      ...files.map((name) => route(`/console/${name}`, name)),
    ];
  } catch {
    return [];
  }
}

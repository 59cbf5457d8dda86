/**
 * `/console`: a page on which an account owner talks to his agents, built on the session SDK. Page and scripts come from
 * `client/`, LiveKit's from its package; the page's policy lets it load nothing from elsewhere, and talk HTTP to us
 * alone. Calls may be on another host, so it may open sockets anywhere.
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CHECKOUT } from '../../contracts/places.js';
import type { Reply, Route } from './port.js';

const CLIENT = fileURLToPath(new URL('client/', CHECKOUT));
const LIVEKIT = 'livekit-client';

const HTML = 'text/html; charset=utf-8';
const CSS = 'text/css; charset=utf-8';
const SCRIPT = 'text/javascript; charset=utf-8';

/** The one script in the page itself: which file `livekit-client` is. */
const IMPORT_MAP = /<script type="importmap">(.*?)<\/script>/s;

function policyOf(page: string): string {
  const map = IMPORT_MAP.exec(page)?.[1] ?? '';
  const hash = createHash('sha256').update(map).digest('base64');
  return [
    "default-src 'none'",
    `script-src 'self' 'sha256-${hash}'`,
    "style-src 'self'",
    'img-src data:',
    "connect-src 'self' ws: wss:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

const reply = (type: string, body: string | Uint8Array, more: Readonly<Record<string, string>>): Reply => ({
  status: 200,
  headers: {
    'content-type': type,
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    ...more,
  },
  body,
});

const fileRoute = (name: string, type: string, file: string): Route => ({
  method: 'GET',
  path: `/console/${name}`,
  handler: async () => reply(type, await readFile(file), { 'cache-control': 'no-cache' }),
});

/** The browser's build of the package, beside what Node would load. */
function livekitFile(): string {
  const found = createRequire(join(CLIENT, 'package.json')).resolve(LIVEKIT);
  return join(dirname(found), `${LIVEKIT}.esm.mjs`);
}

/** None where the client is not built or its package is not there. */
export function consoleRoutes(): readonly Route[] {
  try {
    const built = join(CLIENT, 'dist');
    const scripts = readdirSync(built).filter((name) => name.endsWith('.js'));
    const page = readFileSync(join(CLIENT, 'console', 'index.html'), 'utf8');
    const headers = { 'cache-control': 'no-cache', 'content-security-policy': policyOf(page) };
    return [
      { method: 'GET', path: '/console', handler: async () => reply(HTML, page, headers) },
      fileRoute('console.css', CSS, join(CLIENT, 'console', 'console.css')),
      fileRoute(`${LIVEKIT}.js`, SCRIPT, livekitFile()),
      ...scripts.map((name) => fileRoute(name, SCRIPT, join(built, name))),
    ];
  } catch {
    return [];
  }
}

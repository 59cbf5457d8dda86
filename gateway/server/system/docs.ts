/**
 * `/docs`: the interface description as a page, made by Swagger UI from its package. Everything comes from this server;
 * the page's policy lets it load from and call no other, so that a key typed into it cannot leak.
 */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { Reply, Route } from '../port.js';
import { withoutSlash } from '../replies.js';

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const HEADERS = {
  'content-security-policy': POLICY,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
};

/** URLs are relative, so that the page works behind a proxy's path prefix as well. */
const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Speech gateway</title>
<link rel="stylesheet" href="docs/swagger-ui.css">
<link rel="icon" href="docs/favicon-32x32.png">
</head>
<body>
<div id="docs"></div>
<script src="docs/swagger-ui-bundle.js"></script>
<script src="docs/start.js"></script>
</body>
</html>
`;

const START = `window.SwaggerUIBundle({
  url: 'openapi.json',
  dom_id: '#docs',
  deepLinking: true,
  defaultModelsExpandDepth: -1,
  validatorUrl: null,
});
`;

const FILES: Readonly<Record<string, string>> = {
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'swagger-ui.css': 'text/css; charset=utf-8',
  'favicon-32x32.png': 'image/png',
};

const PACKAGE = 'swagger-ui-dist/package.json';

/** Reads the file at its first request and keeps it. */
function packageFile(name: string): () => Promise<Buffer> {
  let reading: Promise<Buffer> | undefined;
  const read = (): Promise<Buffer> =>
    readFile(join(dirname(createRequire(import.meta.url).resolve(PACKAGE)), name));
  return () =>
    (reading ??= (async () => read())().catch((error: unknown) => {
      reading = undefined;
      throw error;
    }));
}

const reply = (type: string, body: string | Uint8Array, cache: string): Reply => ({
  status: 200,
  headers: { ...HEADERS, 'content-type': type, 'cache-control': cache },
  body,
});

const AN_HOUR = 'public, max-age=3600';

function fileRoute([name, type]: readonly [string, string]): Route {
  const contents = packageFile(name);
  return {
    method: 'GET',
    path: `/docs/${name}`,
    handler: async () => reply(type, await contents(), AN_HOUR),
  };
}

export const docsRoutes = (): readonly Route[] => [
  {
    method: 'GET',
    path: '/docs',
    handler: async () => reply('text/html; charset=utf-8', PAGE, 'no-cache'),
  },
  withoutSlash('/docs'),
  {
    method: 'GET',
    path: '/docs/start.js',
    handler: async () => reply('text/javascript; charset=utf-8', START, AN_HOUR),
  },
  ...Object.entries(FILES).map(fileRoute),
];

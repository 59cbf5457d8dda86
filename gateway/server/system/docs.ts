/**
 * `/docs`: the interface description as a page, made by Swagger UI, whose files the build puts into the bundle (ops/setup/bundle.mjs).
 * Everything comes from this server; the page's policy lets it load from and call no other, so that a key typed into it cannot leak.
 */
import { CHECKOUT } from '../../../contracts/places.js';
import type { Reply, Route } from '../port.js';
import { withoutSlash } from '../replies.js';
import { builtFile } from './built-file.js';

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

const FOLDER = new URL('bundle/swagger-ui/', CHECKOUT);

const reply = (type: string, body: string | Uint8Array, cache: string): Reply => ({
  status: 200,
  headers: { ...HEADERS, 'content-type': type, 'cache-control': cache },
  body,
});

const AN_HOUR = 'public, max-age=3600';

function fileRoute([name, type]: readonly [string, string]): Route {
  const contents = builtFile(new URL(name, FOLDER));
  return {
    method: 'GET',
    path: `/docs/${name}`,
    permission: 'open',
    handler: async () => reply(type, await contents(), AN_HOUR),
  };
}

export const docsRoutes = (): readonly Route[] => [
  {
    method: 'GET',
    path: '/docs',
    permission: 'open',
    handler: async () => reply('text/html; charset=utf-8', PAGE, 'no-cache'),
  },
  withoutSlash('/docs'),
  {
    method: 'GET',
    path: '/docs/start.js',
    permission: 'open',
    handler: async () => reply('text/javascript; charset=utf-8', START, AN_HOUR),
  },
  ...Object.entries(FILES).map(fileRoute),
];

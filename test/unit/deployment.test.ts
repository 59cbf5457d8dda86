/** The files for operators name settings that exist: the chart, compose.yaml, the Dockerfile, the unit. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { SECTIONS } from '../../gateway/config/settings.js';
import { CHECKOUT } from '../../contracts/places.js';

const root = fileURLToPath(CHECKOUT);
const read = (file: string): string => readFileSync(join(root, file), 'utf8');
const chart = readdirSync(join(root, 'ops/deploy/helm'), { recursive: true, encoding: 'utf8' })
  .filter((file) => /\.(yaml|tpl|txt)$/i.test(file))
  .map((file) => `ops/deploy/helm/${file}`);

/** Variables that are no settings of the gateway. */
const OTHERS = new Set([
  // For the S3 client.
  ...['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_REGION', 'AWS_ENDPOINT_URL_S3'],
  // For the other programs in compose.yaml.
  ...['POSTGRES_USER', 'POSTGRES_PASSWORD', 'LIVEKIT_CONFIG', 'ROOT_ACCESS_KEY', 'ROOT_SECRET_KEY'],
  // The pod's address, from which NODE_URL is made.
  'POD_IP',
]);
const SETTINGS = new Set(SECTIONS.flatMap(({ settings }) => settings.map(({ env }) => env)));

/** Names of two words and more in capitals: nothing else in these files looks like that. */
const namesIn = (text: string): string[] => text.match(/\b[A-Z][A-Z\d]*(?:_[A-Z\d]+)+\b/g) ?? [];

for (const file of ['compose.yaml', 'ops/deploy/speech-gateway.service', ...chart])
  t.test(`${file} names settings that exist`, async (t) => {
    const unknown = namesIn(read(file)).filter((name) => !SETTINGS.has(name) && !OTHERS.has(name));
    t.strictSame(unknown, []);
  });

t.test('the alert on late first bytes is about routes that stream speech', (t) => {
  const [, taken = '', left = ''] =
    /route=~"([^"]+)", route!~"([^"]+)"/.exec(read('ops/monitoring/alerts.yaml').replaceAll('\\"', '"')) ??
    [];
  const matches = (pattern: string, route: string): boolean => new RegExp(`^(?:${pattern})$`).test(route);
  const table = read('docs/keys-and-workspaces.md').matchAll(/^\| `(?:[A-Z]+|WebSocket) (\S+)` \|/gm);
  const routes = [...table].map(([, route = '']) => route);
  const speak = routes.filter((route) => matches(taken, route) && !matches(left, route));
  t.strictSame(speak, [
    '/v1/tts',
    '/v1/tts/stream/with-timestamp',
    ...['/compat', '/compat/api', '/compat/openai', ''].map((base) => `${base}/v1/audio/speech`),
    '/compat/elevenlabs/v1/text-to-speech/{voice_id?}',
    '/compat/elevenlabs/v1/text-to-speech/{voice_id?}/stream',
    '/compat/elevenlabs/v1/text-to-speech/{voice_id?}/stream/with-timestamps',
  ]);
  t.end();
});

t.test('the proxies of the handbook close idle connections before the gateway does', (t) => {
  const seconds = (pattern: RegExp, file: string): number[] =>
    [...read(file).matchAll(pattern)].map(([, number]) => Number(number));
  const [shortest] = seconds(/^\| idle connections are kept.*\| (\d+) s \|$/gm, 'docs/http-stacks.md');
  const proxies = seconds(/^\s*keepalive(?:_timeout)? (\d+)s;?$/gm, 'docs/operate/network.md');
  t.equal(proxies.length, 2, 'nginx and Caddy');
  for (const kept of proxies) t.ok(kept < Number(shortest), `${kept} s`);
  t.end();
});

/** Paths of the values in a chart's file, such as `gateway.port`: one line each, two spaces deeper than their parent. */
function placesIn(file: string): string[] {
  const above: string[] = [];
  const lines = [...read(file).matchAll(/^((?: {2})*)([A-Za-z][\w./-]*):/gm)];
  return lines.map(([, indent = '', key = '']) => {
    above.splice(indent.length / 2, Infinity, key);
    return above.join('.');
  });
}
const VALUES = placesIn('ops/deploy/helm/values.yaml');
/** The values that an operator fills in. */
const LEAVES = new Set(VALUES.filter((value) => !VALUES.some((other) => other.startsWith(`${value}.`))));
const isValue = (place: string): boolean =>
  VALUES.some((value) => value === place || (LEAVES.has(value) && place.startsWith(`${value}.`)));

t.test('templates use the values that there are, and all of them', async (t) => {
  const templates = chart
    .filter((file) => file.includes('/templates/'))
    .map(read)
    .join('\n');
  const used = [...templates.matchAll(/\.Values\.([A-Za-z.]+[A-Za-z])/g)].map(([, place]) => place ?? '');
  t.strictSame(
    used.filter((place) => !isValue(place)),
    [],
    'each that is used',
  );
  const isUsed = (value: string): boolean =>
    used.some((place) => value === place || value.startsWith(`${place}.`) || place.startsWith(`${value}.`));
  t.strictSame(
    VALUES.filter((value) => !isUsed(value)),
    [],
    'each that there is',
  );
});

t.test('the handbook and the examples name values that there are', async (t) => {
  const tops = [...new Set(VALUES.map((value) => value.split('.')[0] ?? ''))].join('|');
  const named = new RegExp(`\\b(?:${tops})\\.[A-Za-z.]*[A-Za-z]`, 'g');
  const inHandbook = read('docs/operate/kubernetes.md').match(named) ?? [];
  t.not(inHandbook.length, 0);
  const inExamples = ['embedded', 'livekit'].flatMap((name) =>
    placesIn(`ops/deploy/helm/examples/${name}.yaml`),
  );
  t.strictSame(
    [...inHandbook, ...inExamples].filter((place) => !isValue(place)),
    [],
  );
});

/** These features need more packages (ops/setup/parts.mjs). */
t.test('the image can be built for recordings in a bucket, for LiveKit and for tracing', async (t) => {
  for (const name of ['RECORDINGS_URL', 'LIVEKIT_URL', 'OTEL_EXPORTER_OTLP_ENDPOINT'])
    t.match(read('Dockerfile'), `${name}="`);
});

t.test('the files that the image runs exist', async (t) => {
  const run = [...read('Dockerfile').matchAll(/CMD \["node", "([\w/.-]+)"\]/g)].map(([, file]) => file ?? '');
  t.strictSame(run, ['ops/deploy/health.mjs', 'ops/setup/start.mjs']);
  for (const file of run) t.not(read(file), '');
});

t.test('the chart gives pods no secret but by reference', async (t) => {
  const values = read('ops/deploy/helm/values.yaml');
  const secrets = SECTIONS.flatMap(({ settings }) => settings.filter(({ secret }) => secret)).map(
    ({ env }) => env,
  );
  const referred = [...values.matchAll(/^ {4}- ([A-Z_]+)$/gm)].map(([, name]) => name ?? '');
  const required = namesIn(/^ {2}required: \[(.*)\]$/m.exec(values)?.[1] ?? '');
  t.strictSame(
    secrets.filter((name) => !referred.includes(name) && !required.includes(name)),
    [],
    'every secret that exists can be given',
  );
});

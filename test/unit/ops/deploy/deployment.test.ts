/** The files for operators name settings that exist: the chart, compose.yaml, the Dockerfile, the unit. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from '../../../fixtures/tap.js';
import { checkContradictions } from '../../../../gateway/config/contradictions.js';
import { NUMBERED_NAMES } from '../../../../gateway/config/remotes.js';
import { SECTIONS } from '../../../../gateway/config/settings.js';
import { CHECKOUT } from '../../../../contracts/places.js';
import { LIKE_NPM } from '../../../fixtures/gateway.js';

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
const SETTINGS = new Set([
  ...SECTIONS.flatMap(({ settings }) => settings.map(({ env }) => env)),
  ...NUMBERED_NAMES.flat(),
]);

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

/** Recordings in a bucket, LiveKit and tracing need more packages (ops/setup/parts.mjs), which npm knows as peers. */
t.test('the one image has all extras, and no build arguments', async (t) => {
  t.match(read('Dockerfile'), /^RUN npm ci .*--include=peer$/m);
  for (const file of ['Dockerfile', 'compose.yaml']) t.notMatch(read(file), /^\s*(ARG|args:)|args: {/m, file);
});

/** The lines of a service in compose.yaml, or of what several share. */
function partOf(name: string): string {
  const lines = read('compose.yaml').split('\n');
  const from = lines.findIndex((line) => line.startsWith(`  ${name}:`) || line.startsWith(`x-${name}:`));
  const isDeeper = /^x-/.test(lines[from] ?? '') ? /^ / : /^ {3}/;
  const rest = lines.slice(from + 1);
  const end = rest.findIndex((line) => !isDeeper.test(line));
  return rest.slice(0, end).join('\n');
}

t.test('compose: places in a container hold whatever .env says, and each volume has a name', async (t) => {
  t.match(partOf('places'), /DATA_DIR: \/data\n {2}HOST: 0\.0\.0\.0\n {2}PORT: '8080'$/);
  t.match(partOf('image'), 'healthcheck: { test: [CMD, bash, ops/deploy/health.sh]');
  t.match(partOf('image'), 'init: true');
  for (const [service, volume] of Object.entries({
    gateway: 'data',
    'gateway-1': 'data-1',
    'gateway-2': 'data-2',
  }))
    t.match(partOf(service), `volumes: [${volume}:/data]`, service);
  t.equal(read('compose.yaml').match(/<<: \*places/g)?.length, 2, 'alone and in a cluster');
  t.match(partOf('clustered'), /TRUSTED_PROXIES: 10\.0\.0\.0\/8,/);
  for (const service of ['gateway', 'gateway-1']) t.match(partOf(service), 'build: .', service);
  t.match(partOf('gateway-2'), 'pull_policy: never', 'it has the image that gateway-1 builds');
});

t.test('compose: the balancer sends nobody to a gateway that is away or not ready', async (t) => {
  t.match(partOf('balancer'), './ops/deploy/Caddyfile:/etc/caddy/Caddyfile:ro');
  const caddyfile = read('ops/deploy/Caddyfile');
  for (const line of [
    'health_uri /health?exclude=database',
    'health_interval 1s',
    'lb_try_duration 5s',
    'lb_policy least_conn',
    'request_buffers 4MiB',
    'lb_retry_match {',
  ])
    t.match(caddyfile, line);
});

t.test('large buffers go back to the system however the gateway is started', (t) => {
  const starts = ['package.json', 'Dockerfile', 'ops/deploy/speech-gateway.service'];
  const bounds = starts.map((file) => /MALLOC_MMAP_THRESHOLD_=[^\d\n]*(\d+)/.exec(read(file))?.[1]);
  t.strictSame(
    bounds,
    starts.map(() => LIKE_NPM.MALLOC_MMAP_THRESHOLD_),
  );
  t.end();
});

t.test('the files that the image runs exist', async (t) => {
  const run = [...read('Dockerfile').matchAll(/CMD \["\w+", "([\w/.-]+)"\]/g)].map(([, file]) => file ?? '');
  t.strictSame(run, ['ops/deploy/health.sh', 'ops/setup/start.mjs']);
  for (const file of run) t.not(read(file), '');
});

t.test('the chart gives pods no secret but by reference', async (t) => {
  const values = read('ops/deploy/helm/values.yaml');
  const secrets = SECTIONS.flatMap(({ settings }) => settings.filter(({ secret }) => secret)).map(
    ({ env }) => env,
  );
  const { required, optional, bySetting } = secretOf(values);
  const referred = new Set([...required, ...optional, ...bySetting.values()].flat());
  t.strictSame(
    secrets.filter((name) => !referred.has(name)),
    [],
    'every secret that exists can be given',
  );
});

/** The chart's keys of the Secret: those that are needed, those that may be there, and by setting those that need it. */
function secretOf(values: string) {
  return {
    required: namesIn(/^ {2}required: \[(.*)\]$/m.exec(values)?.[1] ?? ''),
    optional: [...values.matchAll(/^ {4}- ([A-Z\d_]+)$/gm)].map(([, name]) => name ?? ''),
    bySetting: new Map(
      [...values.matchAll(/^ {4}([A-Z\d_]+): \[(.*)\]$/gm)].map(([, setting = '', keys = '']) => [
        setting,
        keys.split(', '),
      ]),
    ),
  };
}

t.test('no key of the Secret stops a gateway whose part is off', async (t) => {
  const { required, optional, bySetting } = secretOf(read('ops/deploy/helm/values.yaml'));
  const env = Object.fromEntries([...required, ...optional].map((name) => [name, 'set']));
  t.doesNotThrow(() => checkContradictions(env), 'those that every pod has');
  t.ok(bySetting.size > 4);
  const keys = [...bySetting.values()].flat().filter((name) => SETTINGS.has(name));
  for (const key of keys)
    t.throws(() => checkContradictions({ [key]: 'set' }), / needs? /, `${key} needs its part`);
  const allOn = [...bySetting.keys(), ...keys].map((name) => [name, 'set']);
  t.doesNotThrow(() => checkContradictions(Object.fromEntries(allOn)));
});

t.test('a pod waits for its database for less than the time that its start may take', async (t) => {
  const helpers = read('ops/deploy/helm/templates/_helpers.tpl');
  const [, seconds] = /define "gateway.startSeconds" -}}\n(\d+)/.exec(helpers) ?? [];
  const [, less] = /sub \(include "gateway.startSeconds" \. \| int\) (\d+)/.exec(helpers) ?? [];
  t.ok(Number(less) >= 30 && Number(less) < Number(seconds));
  t.match(
    read('ops/deploy/helm/templates/gateway.yaml'),
    '"DATABASE_WAIT_SECONDS" (include "gateway.databaseWait" . | int)',
  );
  const [, minutes] = /away waits (\w+) minutes/.exec(read('docs/operate/kubernetes.md')) ?? [];
  t.equal(minutes, { 540: 'nine' }[Number(seconds) - Number(less)]);
});

/** The table of settings: its description of each variable, and that variables are read as described. */
import { execFileSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CHECKOUT } from '../../../../contracts/places.js';
import t from '../../../fixtures/tap.js';
import { ConfigError, readConfig } from '../../../../gateway/config.js';
import { helpPage, helpText } from '../../../../gateway/config/help.js';
import { misspeltSettings, unusedSettings } from '../../../../gateway/config/suspicions.js';
import { SECTIONS } from '../../../../gateway/config/settings.js';
import { nodeUrl, ownAddress } from '../../../../gateway/wiring/nodes.js';
import { checkSettings } from '../../../../gateway/wiring/check-settings.js';
import { exactly, rejectsExactly } from '../../../fixtures/exactly.js';
import { temporaryFolder } from '../../../fixtures/folders.js';
import { standIn } from '../../../fixtures/stand-in.js';

const all = SECTIONS.flatMap(({ settings }) => settings);

/** The message with which a configuration is refused; undefined if it is accepted. */
function refusal(env: Record<string, string>): string | undefined {
  try {
    readConfig(env);
    return undefined;
  } catch (error) {
    return error instanceof ConfigError ? error.message : String(error);
  }
}

t.test('each variable stands once, with a sentence about it', async (t) => {
  t.equal(new Set(all.map(({ env }) => env)).size, all.length);
  for (const { env, meaning, kind, shown } of all) {
    t.match(env, /^[A-Z][A-Z0-9_]+$/);
    t.match(meaning, /^\S.*\.$/, env);
    t.ok(kind !== '' && shown !== '', env);
  }
});

t.test('what is a key, a secret or may hold a password is marked as a secret', async (t) => {
  const secrets = all.filter(({ secret }) => secret).map(({ env }) => env);
  for (const env of ['API_KEY', 'SECRETS_KEY', 'DATABASE_URL', 'LLM_API_KEY', 'LIVEKIT_API_SECRET'])
    t.ok(secrets.includes(env), env);
  const named = all.filter(({ env, secret }) => /_(KEY|SECRET|TOKEN|PASSWORD)$/.test(env) && !secret);
  t.strictSame(
    named.map(({ env }) => env),
    ['TLS_KEY', 'LIVEKIT_API_KEY'],
    'a path and a public id',
  );
});

t.test('help and page name each variable; help fits 100 columns', async (t) => {
  const [help, page] = [helpText(), helpPage()];
  for (const { env } of all) {
    t.match(help, new RegExp(`^  ${env}\\b`, 'm'));
    t.match(page, `| \`${env}\` |`);
  }
  for (const line of help.split('\n')) t.ok(line.length <= 100, line);
});

t.test('--help is answered without set-up, in any folder', async (t) => {
  const start = fileURLToPath(new URL('ops/setup/start.mjs', CHECKOUT));
  const help = execFileSync(process.execPath, [start, '--help'], { cwd: t.testdir(), encoding: 'utf8' });
  t.equal(help, helpText());
});

t.test('defaults, values and bounds', async (t) => {
  const { port, dataDir, livekit, remotes, vocabulary, apiKey } = readConfig({ API_KEY: '', PORT: '' });
  t.strictSame([port, dataDir, livekit, remotes], [8080, resolve('data'), undefined, {}]);
  t.strictSame([vocabulary.vendor, apiKey], ['svc', undefined], 'an empty variable is one that is not set');
  t.equal(readConfig({ PUBLIC_URL: 'https://a.example/' }).publicUrl, 'https://a.example');
  t.strictSame(readConfig({ TRUSTED_PROXIES: ' 10.0.0.1, ,::1' }).trustedProxies, ['10.0.0.1', '::1']);
  const { remotes: set } = readConfig({ REMOTE_OPENAI_URL: 'http://a/v1', REMOTE_OPENAI_RATE: '16000' });
  exactly(t, set['openai-compatible']?.settings, { urls: ['http://a/v1'], rate: 16_000, ttsModel: 'tts-1' });

  const wrong: [name: string, value: string, said: string][] = [
    ['PORT', '65536', 'PORT must be a whole number from 0 to 65535'],
    ['PORT', '8080x', 'PORT must be'],
    ['WORKERS', '1.5', 'WORKERS must be a whole number from 1 to 64'],
    ['HTTP_STACK', 'express', 'HTTP_STACK must be one of auto, uws, node'],
    ['PUBLIC_URL', 'a.example', 'PUBLIC_URL must be an http(s) address'],
    ['LIVEKIT_URL', 'wss://a', 'LIVEKIT_URL needs LIVEKIT_API_KEY to be set'],
    ['MODEL_ROUTES', '[]', 'MODEL_ROUTES must be a JSON object'],
    ['ICE_SERVERS', '{', 'ICE_SERVERS must be a JSON list'],
    ['SHERPA_TTS_LANGUAGES', 'xx', 'SHERPA_TTS_LANGUAGES must be'],
    ['LLM_MODEL', 'a', 'LLM_MODEL needs LLM_BASE_URL to be set'],
    ['EMBEDDING_API_KEY', 'a', 'EMBEDDING_API_KEY needs EMBEDDING_MODEL to be set'],
    ['EMBEDDING_MODEL', 'a', 'EMBEDDING_MODEL needs EMBEDDING_BASE_URL or LLM_BASE_URL to be set'],
    ['REMOTE_NATIVE_KEY', 'a', 'REMOTE_NATIVE_KEY needs REMOTE_NATIVE_URL to be set'],
    ['SHERPA_STT_LANGUAGES', 'en', 'SHERPA_STT_LANGUAGES needs SHERPA_STT to be set'],
    ['TLS_CERT', 'a.pem', 'TLS_CERT needs TLS_KEY to be set'],
    // Blanks are no number: 0 would mean "for ever" here, and "nothing" there.
    ['SESSION_DAYS', ' ', 'SESSION_DAYS must be a whole number from 0 to 36500'],
    ['QUOTA_SYNTHESIS_CHARACTERS', ' ', 'QUOTA_SYNTHESIS_CHARACTERS must be a whole number'],
    ['PORT', '1e3', 'PORT must be a whole number'],
    ['PORT', '0x1F90', 'PORT must be a whole number'],
    ['PUBLIC_URL', 'https://voice example.com', 'PUBLIC_URL must be an http(s) address'],
    ['LLM_BASE_URL', 'http://localhost:99999/v1', 'LLM_BASE_URL must be an http(s) address'],
    ['LLM_BASE_URL', 'http://localhost:11434/v1\n', 'LLM_BASE_URL must be an http(s) address'],
    ['MEDIA_PUBLIC_ADDRESS', 'http://192.0.2.1', 'MEDIA_PUBLIC_ADDRESS must be an IP address or a host name'],
    ['MEDIA_PUBLIC_ADDRESS', '192.0.2.1:7882', 'MEDIA_PUBLIC_ADDRESS must be'],
    ['MEDIA_PUBLIC_ADDRESS', '192.0.2.999', 'MEDIA_PUBLIC_ADDRESS must be'],
    ['MEDIA_PUBLIC_ADDRESS', 'two words', 'MEDIA_PUBLIC_ADDRESS must be'],
    ['MODEL_ROUTES', '{"*":[]}', 'MODEL_ROUTES must be a JSON object'],
    // Browsers refuse these, and with them the whole call.
    ['ICE_SERVERS', '[{"urls":[]}]', 'ICE_SERVERS must be a JSON list'],
    ['ICE_SERVERS', '[{"urls":["stun:"]}]', 'ICE_SERVERS must be a JSON list'],
    ['ICE_SERVERS', '[{"urls":["turn:a"]}]', '"username" and "credential" for turn:'],
    [
      'ICE_SERVERS',
      '[{"urls":["turns:a"],"username":"b","credential":5}]',
      'ICE_SERVERS must be a JSON list',
    ],
    // Its own packages would send spans nowhere, and say nothing.
    [
      'OTEL_EXPORTER_OTLP_ENDPOINT',
      'localhost:4318',
      'OTEL_EXPORTER_OTLP_ENDPOINT must be an http(s) address',
    ],
    ['LIVEKIT_URL', 'https://a', 'LIVEKIT_URL must be a ws(s) address'],
    ['METRICS_TOKEN', 'sk-…', 'METRICS_TOKEN must be printable ASCII without blanks'],
    ['METRICS_TOKEN', ' ', 'METRICS_TOKEN must be printable ASCII'],
    ['VENDOR', 'a/b', 'VENDOR must be letters, digits, _, . and -'],
    ['VENDOR_HEADER_PREFIX', 'X Svc', 'VENDOR_HEADER_PREFIX must be the name of a header'],
    [
      'VENDOR_TRANSPORT_URL_FIELD',
      'token',
      'VENDOR_TRANSPORT_URL_FIELD must be the name of a field, other than',
    ],
    ['PROTOCOL_A_SEGMENT', 'a/b', 'PROTOCOL_A_SEGMENT must be letters'],
    ['PROTOCOL_B_SEGMENT', 'v1', 'PROTOCOL_B_SEGMENT must be letters, digits, _, . and -, other than v1'],
    ['PROTOCOL_A_SEGMENT', 'elevenlabs', 'PROTOCOL_A_SEGMENT and PROTOCOL_B_SEGMENT must differ'],
    ['PROTOCOL_B_KEY_HEADER', 'Authorization', 'PROTOCOL_B_KEY_HEADER must be the name of a header'],
  ];
  for (const [name, value, said] of wrong) {
    t.match(refusal({ [name]: value }), said, `${name}=${value}`);
  }
  t.equal(readConfig({ PORT: ' 9000 ' }).port, 9000);
  const model = readConfig({ LLM_BASE_URL: 'http://a/v1', LLM_API_KEY: 'sk-1\n' });
  t.equal(model.llmKey, 'sk-1', 'as from a file, whose line break no header can hold');
  t.ok(readConfig({ TTS_ENGINES: ' , ' }).ttsEngines.length > 0, 'an empty list is one that is not set');
  const turn = { urls: ['turn:a:3478?transport=tcp'], username: 'b', credential: 'c' };
  t.strictSame(readConfig({ ICE_SERVERS: JSON.stringify([turn]) }).iceServers, [turn]);
  for (const address of ['192.0.2.1', '2001:db8::1', 'voice.example.com', 'gateway-1'])
    t.equal(readConfig({ MEDIA_PUBLIC_ADDRESS: address }).mediaPublicAddress, address);
});

const fixture = (name: string): string => fileURLToPath(new URL(`test/fixtures/${name}`, CHECKOUT));
const TLS = { TLS_CERT: fixture('edge-cert.pem'), TLS_KEY: fixture('edge-key.pem') };

t.test('NODE_URL may have an IPv6 address without brackets, as Kubernetes gives it', async (t) => {
  const nodeUrlOf = (url: string) => readConfig({ NODE_URL: url }).nodeUrl;
  t.equal(nodeUrlOf('http://2001:db8::5:8080'), 'http://[2001:db8::5]:8080');
  t.equal(nodeUrlOf('http://[2001:db8::5]:8080'), 'http://[2001:db8::5]:8080');
  t.equal(nodeUrlOf('http://192.0.2.5:8080'), 'http://192.0.2.5:8080');
  t.match(refusal({ NODE_URL: 'http://2001:db8::5' }), /^NODE_URL must be an http\(s\) address$/);
});

t.test('other nodes reach a machine that has IPv6 only by an address of it, if that is bound', async (t) => {
  const on = (...given: [address: string, family: 'IPv4' | 'IPv6', internal?: boolean][]) => ({
    eth0: given.map(([address, family, internal = false]) => ({ address, family, internal })),
  });
  const of = (host: string, interfaces: object) => ownAddress(host, standIn(interfaces));
  const loopback = ['::1', 'IPv6', true] as const;
  const own = on([...loopback], ['fe80::1', 'IPv6'], ['2001:db8::5', 'IPv6']);
  t.equal(of('::', own), '2001:db8::5');
  t.equal(of('0.0.0.0', own), '127.0.0.1');
  t.equal(of('::', on(['2001:db8::5', 'IPv6'], ['192.0.2.5', 'IPv4'])), '192.0.2.5');
  t.equal(
    nodeUrl({ nodeUrl: undefined, host: '2001:db8::5', tlsCert: undefined }, 8080),
    'http://[2001:db8::5]:8080',
  );
});

const PRICES = '{"currency":"EUR","engines":{"tone":{"speech_minute":0.1}}}';

t.test('what settings name is looked for before anything starts', async (t) => {
  const usable = { TTS_ENGINES: 'tone', STT_ENGINES: 'tone', HOST: '127.0.0.1', PORT: '0' };
  await checkSettings(readConfig({ ...usable, ...TLS, MODEL_ROUTES: '{"s1":["tone"]}', PRICES }));
  const ofAnotherKind = join(temporaryFolder(), 'key.pem');
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  writeFileSync(ofAnotherKind, privateKey.export({ type: 'pkcs8', format: 'pem' }));
  const cases: [Record<string, string>, RegExp][] = [
    [{ TTS_ENGINES: 'no-such-engine' }, /^TTS_ENGINES names "no-such-engine"; there are /],
    [{ MODELS_DIR: '/nowhere' }, /^\/nowhere\/.* is missing: "npm start"/],
    [{ MODEL_ROUTES: '{"s1":["flitte"]}' }, /^MODEL_ROUTES names "flitte"; the engines in use are tone$/],
    [
      { PRICES: '{"currency":"EUR","engines":{"tome":{"characters":1}}}' },
      /^PRICES names "tome"; the engines in use are tone$/,
    ],
    [
      { PRICES: '{"currency":"EUR","engines":{"tone":{"models":{"low":{"characters":1}}}}}' },
      /^PRICES names the model "low" of "tone", which has but one$/,
    ],
    [
      {
        TTS_ENGINES: 'tone,openai-compatible',
        REMOTE_OPENAI_URL: 'http://127.0.0.1:1/v1',
        PRICES:
          '{"currency":"EUR","engines":{"openai-compatible":{"models":{"tts-1":{},"tts-2":{"characters":1}}}}}',
      },
      /^PRICES names the model "tts-2" of "openai-compatible", which works with tts-1$/,
    ],
    [{ OUTBOUND_ALLOW: 'http://crm' }, /^OUTBOUND_ALLOW: "http:\/\/crm" is no host/],
    [{ TRUSTED_PROXIES: 'nonsense' }, /^TRUSTED_PROXIES: "nonsense" is neither an address/],
    [{ FFMPEG_PATH: '/tmp' }, /^FFMPEG_PATH: \/tmp is not an executable file$/],
    [{ ...TLS, TLS_CERT: '/nowhere.pem' }, /^Cannot read the TLS file \/nowhere\.pem$/],
    [{ ...TLS, TLS_KEY: TLS.TLS_CERT }, /are not a certificate and its key$/],
    [{ ...TLS, TLS_KEY: ofAnotherKind }, /are not a certificate and its key$/],
    [{ WORKERS: '2' }, /^WORKERS.*PORT/],
    [{ HOST: '192.0.2.1' }, /^192\.0\.2\.1 is not an address of this machine/],
    [{ MEDIA_HOST: '192.0.2.1' }, /^MEDIA_HOST: 192\.0\.2\.1 is not an IPv4 address of this machine/],
    [{ MEDIA_HOST: '::1' }, /^MEDIA_HOST: ::1 is not an IPv4 address of this machine/],
    [
      { MEDIA_UDP_PORT: '65535', MEDIA_PROCESSES: '2' },
      /^MEDIA_UDP_PORT must leave 2 ports up to 65535 \(MEDIA_PROCESSES, twice with TURN over TCP or TLS\)$/,
    ],
    [
      {
        MEDIA_UDP_PORT: '65535',
        ICE_SERVERS: '[{"urls": ["turns:turn.example.com:5349"], "username": "u", "credential": "c"}]',
      },
      /^MEDIA_UDP_PORT must leave 2 ports/,
    ],
  ];
  for (const [env, message] of cases)
    await rejectsExactly(
      t,
      checkSettings(readConfig({ ...usable, ...env })),
      { message },
      Object.keys(env).join(),
    );
});

t.test('what is probably a misspelt variable is named, with the one that was meant', async (t) => {
  const cases: [name: string, meant: string | undefined][] = [
    ['LLM_BASEURL', 'LLM_BASE_URL'],
    ['SHERPA_TSS', 'SHERPA_TTS'],
    ['DATABASE_URI', 'DATABASE_URL'],
    ['llm_model', 'LLM_MODEL'],
    ['TTS_ENGINE', 'TTS_ENGINES'],
    ['LGO_LEVEL', 'LOG_LEVEL'],
    ['MEDIA_COLOUR', undefined],
  ];
  for (const [name, meant] of cases) {
    const said = misspeltSettings({ [name]: 'hidden' }, []);
    t.strictSame(said, [`${name} is no setting${meant === undefined ? '' : `; did you mean ${meant}?`}`]);
  }
  t.strictSame(
    misspeltSettings({ COLOUR: 'red' }, ['COLOUR']),
    ['COLOUR is no setting'],
    'a line of the file',
  );
});

t.test('variables of ours, and those of others that every machine has, are not suspected', async (t) => {
  t.strictSame(misspeltSettings(Object.fromEntries(all.map(({ env }) => [env, 'x'])), []), []);
  const others =
    'HOME HOSTNAME HOSTTYPE PATH PWD LANG LANGUAGE LOGNAME SHELL TERM USER TMPDIR MAIL EDITOR PAGER DISPLAY TZ CI ' +
    'PGHOST PGPORT POSTGRES_URL VLLM_API_KEY OPENAI_API_KEY OPENAI_BASE_URL HTTP_PROXY HTTPS_PROXY NO_PROXY NODE_ENV ' +
    'NODE_OPTIONS npm_config_cache OTEL_SERVICE_NAME KUBERNETES_PORT SSL_CERT_FILE XDG_DATA_DIRS LS_COLORS COLORTERM';
  const env = Object.fromEntries(others.split(' ').map((name) => [name, 'x']));
  t.strictSame(misspeltSettings(env, []), []);
  t.strictSame(misspeltSettings({ LLM_BASEURL: '' }, []), [], 'an empty variable is one that is not set');
});

t.test('an engine that is configured and not used is named', async (t) => {
  const unusedOf = (env: Record<string, string>) => unusedSettings(readConfig(env));
  t.strictSame(unusedOf({}), []);
  t.strictSame(unusedOf({ SHERPA_TTS: 'a', TTS_ENGINES: 'flite' }), [
    'SHERPA_TTS is set, but TTS_ENGINES does not name "sherpa"',
  ]);
  t.strictSame(unusedOf({ REMOTE_OPENAI_URL: 'http://a' }), [
    'REMOTE_OPENAI_URL is set, but TTS_ENGINES or STT_ENGINES does not name "openai-compatible"',
  ]);
  t.strictSame(unusedOf({ REMOTE_OPENAI_URL: 'http://a', STT_ENGINES: 'openai-compatible' }), []);
  const numbered = { REMOTE_3_URL: 'http://a', REMOTE_3_NAME: 'box' };
  t.strictSame(unusedOf(numbered), [
    'REMOTE_3_URL is set, but TTS_ENGINES or STT_ENGINES does not name "openai-compatible/box"',
  ]);
  for (const STT_ENGINES of ['openai-compatible', 'openai-compatible/box'])
    t.strictSame(unusedOf({ ...numbered, STT_ENGINES }), []);
});

t.test('services by number have a kind, its defaults, and a name', async (t) => {
  const { remotes } = readConfig({
    REMOTE_ELEVENLABS_URL: 'http://a',
    REMOTE_1_URL: 'http://b,http://c',
    REMOTE_1_KIND: 'native-compatible',
    REMOTE_1_VOICES: 'nova',
    REMOTE_9_URL: 'http://d',
    REMOTE_9_KIND: 'elevenlabs-compatible',
    REMOTE_9_NAME: 'spare',
    REMOTE_9_KEY: 'k',
  });
  t.same(Object.keys(remotes), [
    'elevenlabs-compatible',
    'native-compatible/1',
    'elevenlabs-compatible/spare',
  ]);
  exactly(t, remotes['native-compatible/1'], {
    kind: 'native-compatible',
    settings: {
      engine: 'native-compatible/1',
      urls: ['http://b', 'http://c'],
      voices: ['nova'],
      rate: 44_100,
    },
  });
  exactly(t, remotes['elevenlabs-compatible/spare']?.settings, {
    key: 'k',
    keyAs: 'xi-api-key',
    urlSetting: 'REMOTE_9_URL',
    keySetting: 'REMOTE_9_KEY',
    ttsModel: 'eleven_flash_v2_5',
    voices: [],
  });
  const wrong: [env: Record<string, string>, said: string][] = [
    [{ REMOTE_1_KEY: 'k' }, 'REMOTE_1_KEY needs REMOTE_1_URL to be set'],
    [{ REMOTE_1_URL: 'http://a', REMOTE_1_KIND: 'x' }, 'REMOTE_1_KIND must be one of openai-compatible'],
    [{ REMOTE_1_URL: 'http://a', REMOTE_1_NAME: 'A B' }, 'REMOTE_1_NAME must be up to 32 small letters'],
    [
      { REMOTE_1_URL: 'http://a', REMOTE_2_URL: 'http://b', REMOTE_2_NAME: '1' },
      'Two services are named openai-compatible/1',
    ],
    [
      { REMOTE_ELEVENLABS_URL: 'http://a', REMOTE_ELEVENLABS_RATE: '12000' },
      'REMOTE_ELEVENLABS_RATE must be one of 8000, 16000',
    ],
    [
      { REMOTE_1_URL: 'http://a', REMOTE_1_KIND: 'elevenlabs-compatible', REMOTE_1_FORMAT: 'wav' },
      'REMOTE_1_FORMAT has no effect on the engine "elevenlabs-compatible"',
    ],
  ];
  for (const [env, said] of wrong) t.throws(() => readConfig(env), new RegExp(`^${said}`));
  t.strictSame(misspeltSettings({ REMOTE_2_URLS: 'x' }, []), [
    'REMOTE_2_URLS is no setting; did you mean REMOTE_2_URL?',
  ]);
});

interface EnvFile {
  loadEnvFile(options: { file: string; env: NodeJS.ProcessEnv; parse?: null }): string[];
}

t.test('the environment goes before the settings file, which may be missing', async (t) => {
  const { loadEnvFile } = (await import(new URL('ops/setup/env-file.mjs', CHECKOUT).href)) as EnvFile;
  const folder = t.testdir({
    '.env': '# a comment\nPORT=9000\nAPI_KEY="a b"\nHOST=\n',
    '.env.marked': '\uFEFFPORT=9000\r\n',
  });
  const file = `${folder}/.env`;
  const env: NodeJS.ProcessEnv = { PORT: '7000' };
  t.strictSame(loadEnvFile({ file, env }).sort(), ['API_KEY', 'HOST', 'PORT']);
  t.strictSame(env, { PORT: '7000', API_KEY: 'a b', HOST: '' });
  t.strictSame(loadEnvFile({ file: `${file}.marked`, env: {} }), ['PORT'], 'a byte order mark is no letter');
  t.strictSame(loadEnvFile({ file: `${file}.none`, env }), []);
  t.throws(() => loadEnvFile({ file: t.testdirName, env }), /cannot be read \(EISDIR\)/);
  t.throws(() => loadEnvFile({ file, env, parse: null }), /needs Node 20\.12 or newer/);
});

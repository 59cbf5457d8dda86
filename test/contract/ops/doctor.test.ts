/** `doctor`: what it finds at a machine and at servers that are well, and at each that is not, and the setting that mends it. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import http, { type Server } from 'node:http';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Test } from 'tap';
import t from '../../fixtures/tap.js';
import { CHECKOUT } from '../../../contracts/places.js';
import { readConfig } from '../../../gateway/config.js';
import { type Finding, findingOf, jsonOf, textOf } from '../../../gateway/doctor/findings.js';
import {
  askOutside,
  authoritiesLook,
  clockLook,
  memoryLook,
  outboundLook,
} from '../../../gateway/doctor/machine.js';
import { examine } from '../../../gateway/doctor/main.js';
import { tlsLook } from '../../../gateway/doctor/network.js';
import { TLS } from '../../fixtures/edge/requests.js';
import { exactly } from '../../fixtures/exactly.js';
import { folderOf } from '../../fixtures/folders.js';
import { sharedGateway, TONE } from '../../fixtures/gateway.js';
import { run } from '../../fixtures/ops/installed-package.js';
import { remoteService } from '../../fixtures/engines/remote-service.js';

const MIB = 1024 * 1024;
const NOW = Date.parse('2027-01-01T00:00:00Z');
const now = (): number => NOW;

async function listening(t: Test, server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

const secure = (t: Test, answer: http.RequestListener): Promise<number> =>
  listening(
    t,
    https.createServer({ cert: readFileSync(TLS.certFile), key: readFileSync(TLS.keyFile) }, answer),
  );

const settings = (t: Test, more: Record<string, string> = {}): NodeJS.ProcessEnv => ({
  ...TONE,
  ...{ HOST: '127.0.0.1', PORT: '0', MEDIA_UDP_PORT: '0', MEDIA_HOST: '127.0.0.1', DATA_DIR: folderOf(t) },
  ...more,
});

const rowOf = (findings: readonly Finding[], check: string): Finding => {
  const found = findings.find((each) => each.check === check);
  if (found) return found;
  throw new Error(`nothing is said of ${check}: ${textOf(findings)}`);
};

/** What is wrong with these settings, by row. */
async function wrongOf(env: NodeJS.ProcessEnv): Promise<Record<string, Finding>> {
  const wrong = (await examine(env)).filter(({ well }) => !well);
  return Object.fromEntries(wrong.map((each) => [each.check, each]));
}

t.test('an installation that is well, and each thing that was looked at', async (t) => {
  const findings = await examine(settings(t));
  t.strictSame(
    findings.filter(({ well }) => !well),
    [],
  );
  const checks = ['settings', 'port', 'udp', 'tls', 'disk', 'memory', 'postgres', 'models'];
  const rest = ['engines', 'ffmpeg', 'language model', 'outbound', 'ca', 'clock'];
  t.strictSame(
    findings.map(({ check }) => check),
    [...checks, ...rest],
  );
  t.match(textOf(findings), /\n\nAll well\.$/);
  const { ok, checks: rows } = JSON.parse(jsonOf(findings)) as { ok: boolean; checks: object[] };
  t.equal(ok, true);
  t.strictSame(rows[0], { check: 'settings', ok: true, says: 'all are understood', setting: null });
});

t.test('settings that cannot be read are the only thing that is said', async (t) => {
  const findings = await examine({ PORT: 'http' });
  exactly(t, findings, [{ check: 'settings', well: false, says: /^PORT must be/ }]);
  t.equal(findings.length, 1);
});

t.test('a port that is taken is wrong, unless the gateway itself has it', async (t) => {
  const taken = await listening(
    t,
    http.createServer((_request, response) => void response.end('hello')),
  );
  const wrong = await wrongOf(settings(t, { PORT: String(taken) }));
  exactly(t, wrong, { port: { setting: 'PORT', says: /taken by another process/ } });
  const gateway = await sharedGateway(t);
  const findings = await examine(settings(t, { PORT: new URL(gateway.base).port }));
  exactly(t, rowOf(findings, 'port'), { well: true, says: /a gateway answers .*: ok/ });
});

t.test('a UDP port that is taken, or no address of the machine', async (t) => {
  const socket = createSocket('udp4').bind(0, '127.0.0.1');
  await once(socket, 'listening');
  t.teardown(() => socket.close());
  const taken = String(socket.address().port);
  exactly(t, await wrongOf(settings(t, { MEDIA_UDP_PORT: taken })), {
    udp: { setting: 'MEDIA_UDP_PORT', says: new RegExp(`UDP port ${taken} cannot be used \\(EADDRINUSE\\)`) },
  });
  exactly(t, await wrongOf(settings(t, { MEDIA_HOST: '203.0.113.9' })), { udp: { says: /MEDIA_HOST/ } });
});

t.test('a certificate that is none, has ended or soon will', async (t) => {
  const dir = t.testdir({ 'cert.pem': 'no certificate', 'key.pem': 'no key' });
  const files = { TLS_CERT: join(dir, 'cert.pem'), TLS_KEY: join(dir, 'key.pem') };
  exactly(t, await wrongOf(settings(t, files)), {
    tls: { setting: 'TLS_CERT', says: /are not a certificate and its key/ },
  });
  const config = readConfig({ TLS_CERT: TLS.certFile, TLS_KEY: TLS.keyFile });
  const at = (date: string): Promise<Finding> => findingOf(tlsLook(config, () => Date.parse(date)));
  exactly(t, await at('2030-01-01'), { well: true, says: /valid until Oct 28/ });
  exactly(t, await at('2126-10-20'), { well: false, says: /in 8 days: renew it/ });
  exactly(t, await at('2126-10-29'), { well: false, says: /ended on Oct 28/ });
  exactly(t, await at('2020-01-01'), { well: false, says: /valid from Nov 21/ });
});

t.test('a folder for data with no room, and too little memory', async (t) => {
  exactly(t, await wrongOf(settings(t, { DATA_DIR: '/proc/nowhere' })), { disk: { setting: 'DATA_DIR' } });
  exactly(t, await findingOf(memoryLook(767 * MIB)), { well: false, says: /^767 MiB is too little/ });
  exactly(t, await findingOf(memoryLook(768 * MIB)), { well: true, says: '768 MiB' });
});

t.test('a database that does not answer, without its password', async (t) => {
  const wrong = await wrongOf(
    settings(t, { DATABASE_URL: 'postgres://gateway:hush-hush@127.0.0.1:1/gateway' }),
  );
  exactly(t, wrong, { postgres: { setting: 'DATABASE_URL' } });
  t.notMatch(JSON.stringify(wrong), 'hush-hush');
});

t.test('data of another version of Postgres', async (t) => {
  const dataDir = t.testdir({ postgres: { PG_VERSION: '9\n' } });
  exactly(t, await wrongOf(settings(t, { DATA_DIR: dataDir })), {
    postgres: { setting: 'DATA_DIR', says: /Postgres 9/ },
  });
});

t.test('models and engines that are not there', async (t) => {
  exactly(t, await wrongOf(settings(t, { MODELS_DIR: t.testdir(), STT_ENGINES: 'moonshine' })), {
    models: { setting: 'MODELS_DIR', says: /is missing: "npm start" fetches the models/ },
  });
  exactly(t, await wrongOf(settings(t, { TTS_ENGINES: 'nobody' })), {
    engines: { setting: 'TTS_ENGINES', says: /nobody/ },
  });
  exactly(t, await wrongOf(settings(t, { FFMPEG_PATH: '/nowhere/ffmpeg' })), {
    ffmpeg: { setting: 'FFMPEG_PATH' },
  });
});

t.test(
  'a language model that refuses the key, and one behind an authority that Node does not know',
  async (t) => {
    const service = await remoteService(t);
    service.answers((response) => void response.writeHead(401).end('{}'));
    const refusing = { LLM_BASE_URL: service.url, LLM_API_KEY: 'hush-hush' };
    const wrong = await wrongOf(settings(t, refusing));
    exactly(t, wrong, {
      'language model': { setting: 'LLM_API_KEY', says: /refused the key \(401\): check LLM_API_KEY/ },
    });
    t.notMatch(JSON.stringify(wrong), 'hush-hush');
    const port = await secure(t, (_request, response) => void response.end('{"data":[]}'));
    exactly(t, await wrongOf(settings(t, { LLM_BASE_URL: `https://127.0.0.1:${port}/v1` })), {
      'language model': {
        setting: 'NODE_EXTRA_CA_CERTS',
        says: /does not know the authority.*NODE_EXTRA_CA_CERTS/,
      },
    });
  },
);

t.test('a LiveKit server that is well, one that refuses the key, and one that is away', async (t) => {
  let status = 200;
  const server = http.createServer((_request, response) => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(status === 200 ? '{"rooms":[]}' : '{"code":"unauthenticated","msg":"invalid token"}');
  });
  const url = `ws://127.0.0.1:${await listening(t, server)}`;
  const keys = { LIVEKIT_API_KEY: 'key', LIVEKIT_API_SECRET: 'hush-hush-hush-hush-hush-hush-hush' };
  const well = await examine(settings(t, { LIVEKIT_URL: url, ...keys }));
  exactly(t, rowOf(well, 'livekit'), { well: true, says: `${url} answers` });
  status = 401;
  exactly(t, await wrongOf(settings(t, { LIVEKIT_URL: url, ...keys })), {
    livekit: { setting: 'LIVEKIT_API_SECRET', says: /refused the key \(401\): check LIVEKIT_API_SECRET/ },
  });
  exactly(t, await wrongOf(settings(t, { LIVEKIT_URL: 'ws://127.0.0.1:1', ...keys })), {
    livekit: { setting: 'LIVEKIT_URL', says: /127\.0\.0\.1:1/ },
  });
});

t.test('what is reached by HTTPS: away, and only then wrong when something is to be fetched', async (t) => {
  const away = await askOutside('http://127.0.0.1:1/');
  exactly(t, await findingOf(outboundLook(away, true)), {
    well: false,
    says: /127\.0\.0\.1:1 cannot be reached/,
  });
  exactly(t, await findingOf(outboundLook(away, false)), { well: true, says: /nothing here needs it/ });
  exactly(t, await findingOf(outboundLook(undefined, true)), { well: true });
});

t.test('a proxy that inspects TLS is known by its certificate, and its authority is asked for', async (t) => {
  const port = await secure(t, (_request, response) => void response.end());
  const outside = await askOutside(`https://127.0.0.1:${port}/`);
  const said = await findingOf(authoritiesLook(outside, []));
  exactly(t, said, {
    well: false,
    setting: 'NODE_EXTRA_CA_CERTS',
    says: /a proxy that inspects TLS: set NODE_EXTRA_CA_CERTS/,
  });
  exactly(t, await findingOf(outboundLook(outside, true)), { well: true });
  exactly(t, await findingOf(authoritiesLook(undefined, ['NODE_EXTRA_CA_CERTS'])), {
    well: false,
    says: /no effect in \.env/,
  });
});

t.test('a clock that is off by more than half a minute', async (t) => {
  const port = await listening(
    t,
    http.createServer(
      (_request, response) => void response.setHeader('date', new Date(NOW).toUTCString()).end(),
    ),
  );
  const outside = await askOutside(`http://127.0.0.1:${port}/`);
  t.equal(outside.date, NOW);
  const at = (ms: number): Promise<Finding> =>
    findingOf(clockLook({ ...outside, tookMs: 0 }, () => NOW + ms));
  exactly(t, await at(29_000), { well: true });
  exactly(t, await at(-31_000), { well: false, says: /31 s behind/ });
  exactly(t, await at(3_600_000), { well: false, says: /3600 s ahead of/ });
  exactly(t, await findingOf(clockLook(undefined, now)), { well: true, says: /compared with nothing/ });
});

t.test('the command exits with 1 if something is wrong, and gives the same as JSON', async (t) => {
  const program = fileURLToPath(new URL('ops/commands/run.mjs', CHECKOUT));
  const folder = t.testdir();
  writeFileSync(join(folder, '.env'), 'MODELS_DIR=/nowhere/models\n');
  const env = { ...process.env, ...settings(t), ...TONE, STT_ENGINES: 'moonshine' };
  const { code, out, err } = await run(t, process.execPath, [program, 'doctor', '--json'], {
    cwd: folder,
    env,
  });
  t.equal(code, 1, err);
  const { ok, checks } = JSON.parse(out) as { ok: boolean; checks: { check: string; ok: boolean }[] };
  t.equal(ok, false);
  exactly(
    t,
    checks.find(({ check }) => check === 'models'),
    { ok: false, setting: 'MODELS_DIR' },
  );
  exactly(t, await run(t, process.execPath, [program, 'doctor', '--jsn'], { cwd: folder, env }), {
    code: 2,
    out: /Usage/,
  });
});

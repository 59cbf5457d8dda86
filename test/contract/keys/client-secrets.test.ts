/** Client secrets on a real Postgres, and POST …/realtime/client_secrets of a whole gateway (docs/contract/protocol-a.md 5.7). */
import t from '../../fixtures/tap.js';
import { WebSocket } from 'ws';
import { systemClock } from '../../../contracts/clock.js';
import { randomIds } from '../../../contracts/ids.js';
import { LIMITS } from '../../../contracts/limits.js';
import { silentLog } from '../../../contracts/log.js';
import { createClientSecrets } from '../../../storage/keys/client-secrets.js';
import { createKey, revokeKey } from '../../../storage/keys/keys.js';
import { SimulatedClock } from '../../fixtures/clock.js';
import { exactly, rejectsExactly } from '../../fixtures/exactly.js';
import { sharedGateway } from '../../fixtures/gateway.js';
import { startPostgres } from '../../fixtures/database/postgres.js';
import { BASES, type Fields, type Headers, PLAIN, refusal, sender } from '../../fixtures/protocol-a/rest.js';
import { until } from '../../fixtures/until.js';

const gateway = await sharedGateway(t);

const postgres = await startPostgres(t);
const database = await postgres.migrated();
const { sql } = database;

await sql`insert into workspaces (id, name) values ('ws_a', 'A'), ('ws_b', 'B')`;
const { id: keyId } = await createKey(sql, randomIds, { workspaceId: 'ws_a', name: 'a key' });
const caller = { workspaceId: 'ws_a', keyId };
const SESSION = { type: 'realtime', audio: { output: { voice: 'alloy' } }, instructions: 'a\u0000b\ud800' };

/** One process's client secrets. */
function processOf(t: { teardown(end: () => void): void }, clock = systemClock) {
  const secrets = createClientSecrets({ database, clock, log: silentLog });
  t.teardown(() => secrets.stop());
  return secrets;
}

t.test('an issued secret is redeemed with its caller and its unchanged session', async (t) => {
  const secrets = processOf(t);
  const { value, expiresAt } = await secrets.issue(caller, SESSION, 600);
  t.match(value, /^ek_[A-Za-z0-9_-]{43}$/, 'fit for a subprotocol');
  const left = expiresAt.getTime() - Date.now();
  t.ok(left > 540_000 && left < 660_000);
  const redeemed = await secrets.redeem(value);
  t.strictSame(redeemed?.caller, { ...caller, role: 'full' });
  t.strictSame(redeemed?.session, SESSION);
  redeemed?.release();
});

t.test('only a digest is kept', async (t) => {
  const secrets = processOf(t);
  const { value } = await secrets.issue(caller, SESSION, 600);
  const rows = await sql`select encode(digest, 'hex') as digest, s::text as row from client_secrets s`;
  t.ok(rows.length > 0);
  for (const { row } of rows) t.notOk(String(row).includes(value.slice(3)));
});

t.test('one socket at a time, whichever process it is on', async (t) => {
  const [one, other] = [processOf(t), processOf(t)];
  const { value } = await one.issue(caller, {}, 600);
  const attempts = await Promise.all([one, other, one, other].map((secrets) => secrets.redeem(value)));
  const [held, ...more] = attempts.filter((redeemed) => redeemed !== undefined);
  t.equal(more.length, 0, 'one of four at once');
  t.equal(await one.redeem(value), undefined);
  t.equal(await other.redeem(value), undefined);
  held?.release();
  const next = await until('it is free again', () => other.redeem(value));
  held?.release();
  t.equal(await one.redeem(value), undefined, 'a second release does not free what another holds');
  next.release();
});

t.test('a hold is renewed while its process lives, and ends if it dies', async (t) => {
  const clock = new SimulatedClock();
  const [living, dead] = [processOf(t, clock), processOf(t, new SimulatedClock())];
  const [first, second] = [await living.issue(caller, {}, 600), await living.issue(caller, {}, 600)];
  const kept = await living.redeem(first.value);
  const lost = await dead.redeem(second.value);
  t.ok(kept && lost);
  // As if the lease had nearly expired.
  const age = () => sql`
    update client_secrets set held_until = clock_timestamp() + interval '1 second' where held_by is not null`;
  await age();
  clock.advance(5000);
  await until('one of the two leases is renewed', async () => {
    const [row] = await sql`
      select count(*)::int as count from client_secrets
      where held_until > clock_timestamp() + interval '5 seconds'`;
    return row?.['count'] === 1;
  });
  const third = processOf(t);
  const again = await until('the lease of the dead process is over', () => third.redeem(second.value));
  t.equal(await third.redeem(first.value), undefined, 'the living one holds on');
  kept?.release();
  again.release();
});

t.test('a socket waits for the one before it to be closed, and is refused if it stays open', async (t) => {
  const [one, clock] = [processOf(t), new SimulatedClock()];
  const other = processOf(t, clock);
  const idle = clock.pending;
  const { value } = await one.issue(caller, {}, 600);
  const held = await one.redeem(value);
  const waiting = other.redeem(value);
  await until('it waits', () => clock.pending > idle);
  held?.release();
  await until('the secret is free', async () => {
    const rows = await sql`select 1 from client_secrets where held_by is not null`;
    return rows.length === 0;
  });
  clock.advance(100);
  const next = await waiting;
  t.ok(next, 'it is let in');
  let outcome: unknown = 'none yet';
  void other.redeem(value).then((redeemed) => (outcome = redeemed));
  const waited = clock.now();
  await until('the third one is told', () => {
    if (clock.pending > idle) clock.advance(100);
    return outcome !== 'none yet';
  });
  t.equal(outcome, undefined);
  t.equal(clock.now() - waited, LIMITS.clientSecret.waitMs);
  next?.release();
});

t.test('expired secrets are refused and removed; one in use stays in use', async (t) => {
  const clock = new SimulatedClock();
  const secrets = processOf(t, clock);
  const { value } = await secrets.issue(caller, {}, 600);
  const held = await secrets.redeem(value);
  const { value: unused } = await secrets.issue(caller, {}, 600);
  await sql`update client_secrets set expires_at = clock_timestamp() - interval '1 second'`;
  t.equal(await secrets.redeem(unused), undefined);
  held?.release();
  t.equal(await secrets.redeem(value), undefined);
  clock.advance(60_000);
  await until('they are gone', async () => {
    const [row] = await sql`select count(*)::int as count from client_secrets`;
    return row?.['count'] === 0;
  });
});

t.test('unknown secrets, and secrets whose key is revoked, are refused', async (t) => {
  // Its time stands still: what waits here waits for ever.
  const secrets = processOf(t, new SimulatedClock());
  for (const value of ['', 'ek_', 'ek_x', `ek_${'a'.repeat(43)}`, `sk_${'a'.repeat(43)}`, 'x'.repeat(1000)])
    t.equal(await secrets.redeem(value), undefined);
  const { id } = await createKey(sql, randomIds, { workspaceId: 'ws_b', name: 'b' });
  const { value } = await secrets.issue({ workspaceId: 'ws_b', keyId: id }, {}, 600);
  await revokeKey(sql, id);
  t.equal(await secrets.redeem(value), undefined);
});

t.test('a workspace has a bounded number of them', async (t) => {
  const secrets = processOf(t);
  await sql`
    insert into client_secrets (digest, workspace_id, key_id, session, expires_at)
    select sha256(n::text::bytea), 'ws_a', ${keyId}, '{}', clock_timestamp() + interval '1 hour'
    from generate_series(1, ${LIMITS.clientSecret.perWorkspace}::int) n`;
  await rejectsExactly(t, secrets.issue(caller, {}, 10), {
    code: 'concurrency_exceeded',
    retryAfter: Number,
  });
  await sql`update client_secrets set expires_at = clock_timestamp() - interval '1 second'`;
  t.ok(await secrets.issue(caller, {}, 10), 'expired ones do not count');
});

const post = sender(gateway, '/realtime/client_secrets');
const issue = (session?: unknown, seconds?: unknown, headers: Headers = {}, base = PLAIN) =>
  post({ session, expires_after: { anchor: 'created_at', seconds } }, headers, base);

interface Issued {
  readonly value: string;
  readonly expires_at: number;
  readonly session: Fields;
}

async function issued(response: Response): Promise<Issued> {
  t.equal(response.status, 200);
  t.match(response.headers.get('cache-control'), 'no-store');
  return (await response.json()) as Issued;
}

t.test('POST …/realtime/client_secrets on every base, with the whole session', async (t) => {
  for (const base of BASES) {
    const realtime = await issued(await issue({ type: 'realtime', model: 'svc/s1' }, 60, {}, base));
    t.match(realtime.value, /^ek_[A-Za-z0-9_-]+$/);
    const left = realtime.expires_at - Date.now() / 1000;
    t.ok(Number.isInteger(realtime.expires_at) && left > 20 && left < 100);
    exactly(t, realtime.session, {
      type: 'realtime',
      object: 'realtime.session',
      id: /^sess_/,
      model: 'svc/s1',
      output_modalities: ['audio'],
      audio: { output: { voice: 'default', speed: 1, format: { type: 'audio/pcm', rate: 24_000 } } },
    });
    const hearing = { type: 'transcription', audio: { input: { transcription: { model: 'whisper-1' } } } };
    exactly(t, (await issued(await issue(hearing, undefined, {}, base))).session, {
      type: 'transcription',
      object: 'realtime.transcription_session',
      audio: { input: { transcription: { model: 'whisper-1' } } },
    });
  }
});

interface Opened {
  readonly socket: WebSocket;
  /** The first event, or the status of a refused upgrade. */
  readonly outcome: Promise<Fields | number>;
}

/** Opens a socket like a browser: with the key among the subprotocols. */
function open(key: string, base = PLAIN): Opened {
  const address = `${gateway.base.replace('http', 'ws')}${base}/realtime`;
  const socket = new WebSocket(address, ['realtime', `openai-insecure-api-key.${key}`]);
  const outcome = new Promise<Fields | number>((resolve, reject) => {
    socket.once('message', (data) => resolve(JSON.parse(String(data)) as Fields));
    socket.once('unexpected-response', (_, { statusCode = 0 }) => resolve(statusCode));
    socket.once('error', reject);
  });
  return { socket, outcome };
}

t.test('a secret opens a socket with its session, one at a time, again and again', async (t) => {
  const asked = { type: 'realtime', model: 'svc/s1', audio: { output: { voice: 'alloy', speed: 2 } } };
  for (const base of BASES) {
    const { value } = await issued(await issue(asked, 60, {}, base));
    const first = open(value, base);
    exactly(t, await first.outcome, {
      type: 'session.created',
      session: { type: 'realtime', model: 'svc/s1', audio: { output: { voice: 'alloy', speed: 2 } } },
    });
    const second = open(value, base);
    t.equal(await second.outcome, 401, 'in use');
    second.socket.terminate();
    first.socket.close();
    await until('it can be used again', async () => {
      const again = open(value, base);
      const outcome = await again.outcome;
      again.socket.terminate();
      return outcome !== 401;
    });
  }
  const { value } = await issued(await issue({ type: 'transcription' }, 60));
  const hearing = open(value);
  exactly(t, await hearing.outcome, { type: 'session.created', session: { type: 'transcription' } });
  hearing.socket.terminate();
  const unknown = open(`ek_${'a'.repeat(43)}`);
  t.equal(await unknown.outcome, 401);
  unknown.socket.terminate();
});

t.test('a client whose connection broke is let in again at once', async (t) => {
  const { value } = await issued(await issue({ type: 'realtime' }, 60));
  for (let round = 0; round < 20; round++) {
    const { socket, outcome } = open(value);
    exactly(t, await outcome, { type: 'session.created' });
    socket.terminate();
  }
});

t.test('10 to 7200 seconds, 600 by default', async (t) => {
  for (const seconds of [10, 7200, undefined, null]) {
    const { expires_at } = await issued(await issue({}, seconds));
    t.ok(Math.abs(expires_at - Date.now() / 1000 - (seconds ?? 600)) < 60);
  }
  for (const body of [{}, { session: null, expires_after: null }]) {
    const { expires_at, session } = await issued(await post(body));
    t.ok(Math.abs(expires_at - Date.now() / 1000 - 600) < 60);
    t.equal(session['type'], 'realtime');
  }
  for (const seconds of [9, 7201, 10.5, '600'])
    t.equal((await refusal(await issue({}, seconds))).param, 'expires_after.seconds');
});

t.test('a session that the socket would refuse is refused here', async (t) => {
  const cases: [unknown, string][] = [
    [{ type: 'nothing' }, 'session.type'],
    [{ model: 'gpt-4o' }, 'session.model'],
    [{ output_modalities: ['text'] }, 'session.output_modalities'],
    [{ audio: { output: { format: { type: 'audio/pcmu' } } } }, 'session.audio.output.format.type'],
    [{ audio: { output: { speed: 9 } } }, 'session.audio.output.speed'],
    [{ audio: { output: { voice: 'nobody' } } }, 'session.audio.output.voice'],
    [
      { audio: { input: { turn_detection: { type: 'semantic_vad' } } } },
      'session.audio.input.turn_detection',
    ],
    ['x', 'session'],
  ];
  for (const [session, param] of cases)
    exactly(t, await refusal(await issue(session)), { type: 'invalid_request_error', param });
  await issued(await issue({ audio: { input: { turn_detection: null, transcription: null } } }));
});

t.test('issuing a secret takes an API key and a bounded body; a client secret is no API key', async (t) => {
  t.equal((await refusal(await issue({}, 60, { authorization: '' }), 401)).type, 'authentication_error');
  const { value } = await issued(await issue());
  for (const key of ['wrong', value]) {
    t.equal(
      (await refusal(await issue({}, 60, { authorization: `Bearer ${key}` }), 401)).type,
      'provider_error',
    );
  }
  const big = { instructions: 'x'.repeat(LIMITS.clientSecret.bodyBytes) };
  t.equal((await refusal(await issue(big), 413)).type, 'invalid_request_error');
  const models = await fetch(`${gateway.base}${PLAIN}/audio/speech`, {
    method: 'POST',
    headers: { authorization: `Bearer ${value}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'tts-1', input: 'a' }),
  });
  t.equal((await refusal(models, 401)).type, 'provider_error', 'it opens realtime sockets, nothing else');
});

/** Two gateway processes behind one port, on one database (WORKERS; decisions 6 and 24). */
import { once } from 'node:events';
import { spawn } from 'node:child_process';
import t from 'tap';
import { client, makeAgent } from '../fixtures/agents.js';
import { Caller, letGo, type SessionInvite } from '../fixtures/caller.js';
import { familyOf, commandOf, isAlive } from '../fixtures/family.js';
import { freePort } from '../fixtures/free-port.js';
import { EMBEDDED_POSTGRES, startGateway } from '../fixtures/gateway.js';
import { productFile } from '../fixtures/product.js';
import { until } from '../fixtures/until.js';

const CONCURRENCY = 6;
const gateway = await startGateway({
  ...EMBEDDED_POSTGRES,
  WORKERS: '2',
  PORT: String(await freePort()),
  CONCURRENCY: String(CONCURRENCY),
  DRAIN_SECONDS: '3600',
});
t.teardown(() => gateway.stop());

/** Characters of a text whose speech, 1280 bytes a character, is more than all buffers on the way to a client that does not read hold. */
const UNREAD = 20_000;

const gateways = () => familyOf(gateway.pid).filter((pid) => commandOf(pid).includes('workers/gateway'));

const speak = (text: string, headers: Record<string, string> = gateway.authorization) =>
  fetch(`${gateway.base}/v1/tts`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json', connection: 'close' },
    body: JSON.stringify({ text, format: 'pcm', sample_rate: 16_000 }),
  });

t.test(
  'the slots of a workspace hold across the processes, and 429 carries Retry-After (decision 6)',
  async (t) => {
    const long = 'abcdefghi '.repeat(UNREAD / 10);
    await until('every slot can be taken', async () => {
      const responses = await Promise.all(Array.from({ length: CONCURRENCY * 3 }, () => speak(long)));
      const running = responses.filter(({ status }) => status === 200).length;
      for (const response of responses) {
        if (response.status === 200) continue;
        t.equal(response.status, 429);
        t.ok(Number(response.headers.get('retry-after')) >= 1);
      }
      t.ok(running <= CONCURRENCY, `${running} run at once`);
      await Promise.all(responses.map(async ({ body }) => body?.cancel()));
      return running > 0;
    });
  },
);

t.test('a key revoked by the command is refused by every process', async (t) => {
  const cli = productFile('gateway/commands/main');
  const keys = async (...args: string[]) => {
    const env = { ...process.env, DATA_DIR: gateway.dataDir };
    const child = spawn(process.execPath, [cli, 'keys', ...args], {
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let printed = '';
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => (printed += chunk));
    const [code] = (await once(child, 'close')) as [number];
    t.equal(code, 0);
    return printed;
  };
  const created = await keys('create', 'temporary');
  const key = /\bsk_[\w-]+/.exec(created)?.[0] ?? '';
  const id = /\bkey_\w+/.exec(created)?.[0] ?? '';
  const statuses = async () => {
    const responses = await Promise.all(
      Array.from({ length: 8 }, () => speak('a', { authorization: `Bearer ${key}` })),
    );
    await Promise.all(responses.map((response) => response.arrayBuffer()));
    return responses.map(({ status }) => status);
  };
  t.ok((await statuses()).some((status) => status === 200));
  await keys('revoke', id);
  await until('no process takes it', async () => (await statuses()).every((status) => status === 401));
});

t.test('SIGKILL of one gateway leaves the other serving, and it comes back', async (t) => {
  const before = gateways();
  t.equal(before.length, 2);
  process.kill(before[0] ?? -1, 'SIGKILL');
  await until('it is gone', () => !isAlive(before[0] ?? -1));
  await until('the port is served', async () => {
    const response = await speak('a').catch(() => undefined);
    await response?.arrayBuffer();
    return response?.status === 200;
  });
  await until('two run again', () => gateways().length === 2 && !gateways().includes(before[0] ?? -1));
});

/** Time after which another signal counts as a second one. */
const AGAIN_MS = 2000;

t.test(
  'SIGTERM lets what runs in each process come to its end (decision 24); again, it hurries',
  async (t) => {
    t.teardown(letGo);
    const call = client(gateway.base);
    const agentId = await makeAgent(call, { config: { prompt: { first_message_mode: 'off' } } });
    const { body: invite } = await call('sessions', { body: { agent_id: agentId } });
    const caller = await Caller.join(invite as unknown as SessionInvite);
    const minutes = 'abcdefghij '.repeat(550);
    const whole = await until('one runs alone', async () => {
      const response = await speak(minutes);
      const { byteLength } = await response.arrayBuffer();
      return response.status === 200 && byteLength;
    });
    // Each process has leased a part of the slots and refuses more jobs than that.
    const running = await until('several run', async () => {
      const responses = await Promise.all(Array.from({ length: 4 }, () => speak(minutes)));
      const served = responses.filter(({ status }) => status === 200);
      if (served.length > 1) return served;
      await Promise.all(responses.map(async ({ body }) => body?.cancel()));
      return undefined;
    });
    gateway.kill('SIGTERM');
    for (const response of running) t.equal((await response.arrayBuffer()).byteLength, whole, 'whole');
    await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
    t.notOk(caller.ended, 'a call may go on for long');
    gateway.kill('SIGTERM');
    t.equal(await gateway.exited, 0);
    await until('the client of the call is told', () => caller.ended);
  },
);

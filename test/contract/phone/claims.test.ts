/** Whose a phone number is, where several workspaces have registered it (docs/phone.md "Whose number it is"; ops/adr/0051). */
import { randomInt } from 'node:crypto';
import t from '../../fixtures/tap.js';
import { LIMITS } from '../../../contracts/limits.js';
import { randomIds } from '../../../contracts/ids.js';
import type { Secrets } from '../../../contracts/ports/secrets.js';
import { createPhoneNumbers } from '../../../storage/phone/phone-numbers.js';
import { exactly } from '../../fixtures/exactly.js';
import { operator } from '../../fixtures/ops/operator.js';
import { sharedPlatform } from '../../fixtures/platform/platform.js';
import { newCall } from '../../fixtures/phone/incoming-calls.js';
import { telnyxDouble } from '../../fixtures/phone/telnyx.js';
import { twilioDouble } from '../../fixtures/phone/twilio.js';

const platform = await sharedPlatform(t);
const { call, database, gateway, key, otherKey, url: databaseUrl } = platform;
const { sql } = database;
const run = operator('numbers', { DATABASE_URL: databaseUrl });

const DOUBLES = { telnyx: telnyxDouble, twilio: twilioDouble } as const;
type Name = keyof typeof DOUBLES;
const CREDENTIALS = { telnyx: 'public_key', twilio: 'auth_token' } as const;
/** The secret of the account that has the number; of Telnyx's only the public key is registered. */
const ACCOUNT = 'account of the owner';

const newNumber = (): string => `+4940${randomInt(1e8, 1e9)}`;

interface Registered {
  readonly id: string;
  readonly url: string;
}

async function register(provider: Name, phone_number: string, by: string): Promise<Registered> {
  const credentials = { [CREDENTIALS[provider]]: DOUBLES[provider].credentialOf(ACCOUNT) };
  const { status, body } = await call('POST', '/v1/agent/phone-numbers', {
    body: { provider, phone_number, credentials },
    key: by,
  });
  if (status !== 201) throw new Error(`phone number: ${status}`);
  return { id: String(body['phone_number_id']), url: String(body['answer_url']) };
}

/** Rings with the owner's signature; resolves with the number that got the call, or the status of the refusal. */
async function ring(provider: Name, number: string, url = `${gateway.base}/v1/phone/${provider}/answer`) {
  const details = newCall(number);
  const { status } = await fetch(url, DOUBLES[provider].ask(url, details, ACCOUNT));
  const [row] = await sql<{ id: string }[]>`
    select number_id as id from phone_calls where call_id = ${details.callId}`;
  return row?.id ?? status;
}

t.test(
  'a public key gives nobody the calls of a number that another workspace has registered, too',
  async (t) => {
    const number = newNumber();
    const stranger = await register('telnyx', number, otherKey);
    t.equal(await ring('telnyx', number), stranger.id, 'alone it is unambiguous, though unproven');
    const owner = await register('telnyx', number, key);
    t.equal(await ring('telnyx', number), 403, 'two claims, none proven: nobody is asked');
    t.equal(
      await ring('telnyx', number, owner.url),
      owner.id,
      'the address that only the owner’s provider was told',
    );
    t.equal(await ring('telnyx', number), owner.id, 'proven, it has the address of all as well');
    await register('telnyx', number, key).catch(() => undefined);
    t.equal(await ring('telnyx', number), owner.id);
  },
);

t.test('the first to have shown it keeps a number, until the operator decides otherwise', async (t) => {
  const number = newNumber();
  const first = await register('telnyx', number, otherKey);
  const second = await register('telnyx', number, key);
  t.equal(await ring('telnyx', number, second.url), second.id);
  t.equal(await ring('telnyx', number, first.url), first.id, 'each at its own address');
  t.equal(await ring('telnyx', number), second.id);
  const listed = await run('list', number, '--disputed');
  const lines = listed.out.trim().split('\n');
  t.equal(lines.length, 3);
  t.match(lines[1], new RegExp(`^${second.id} `), 'the first line is whose it is');
  t.match((await run('give', first.id)).out, `${number} at telnyx is workspace Other`);
  t.equal(await ring('telnyx', number), first.id);
  t.match((await run('remove', first.id)).out, `Removed ${first.id}`);
  t.equal(await ring('telnyx', number), second.id);
  t.equal(await ring('telnyx', number, first.url), 403, 'its address is gone');
});

t.test('the operator’s commands say what is wrong with their words', async (t) => {
  exactly(t, await run('give', 'phone_none'), { code: 1, err: /No phone number has the id phone_none/ });
  exactly(t, await run('remove', 'phone_none'), { code: 1, err: /No phone number has the id/ });
  exactly(t, await run('list', 'nonsense'), { code: 1, err: /no phone number/ });
  exactly(t, await run('list', newNumber()), { code: 0, err: /no such phone numbers/ });
  exactly(t, await run('give'), { code: 2 });
});

t.test(
  'a secret that the provider signs with tells claims apart by itself, however many there are',
  async (t) => {
    const number = newNumber();
    for (let rivals = 0; rivals < LIMITS.phone.claims + 2; rivals += 1) {
      const { authorization } = await platform.limited({});
      const body = {
        provider: 'twilio',
        phone_number: number,
        credentials: { auth_token: `rival ${rivals}` },
      };
      const { status } = await call('POST', '/v1/agent/phone-numbers', {
        body,
        key: null,
        headers: authorization,
      });
      t.equal(status, 201);
    }
    const owner = await register('twilio', number, key);
    t.equal(await ring('twilio', number), owner.id, 'the last of all');
  },
);

/** Stands for the installation's secret: what is sealed is not looked at here. */
const PLAIN: Secrets = {
  seal: (plain) => Buffer.from(plain),
  openSealed: (sealed) => Buffer.from(sealed).toString(),
  key: () => new Uint8Array(32),
};

t.test('a SIP number, which a server must know beforehand, is of one workspace', async (t) => {
  const numbers = createPhoneNumbers({ sql, ids: randomIds, secrets: PLAIN });
  const { body: agent } = await call('GET', `/v1/agent/agents/${await platform.agent()}`);
  const address = newNumber();
  const wanted = { provider: 'sip', address, label: '', enabled: true, apiUrl: null } as const;
  const add = (workspaceId: string, agentId: string | null) =>
    numbers.create({ ...wanted, agentId }, { secret: '203.0.113.1' }, workspaceId);
  const first = await add(platform.otherWorkspace, null);
  const second = await add(platform.workspaceId, String(agent['agent_id']));
  exactly(t, [first, second], [{ belongsToAnother: false }, { belongsToAnother: true }]);
  const taken = async () =>
    (await numbers.answered('sip'))
      .filter(({ number }) => number.address === address)
      .map(({ number }) => number.id);
  t.same(await taken(), [], 'the first has it, and nobody answers there');
  t.equal((await run('give', second.id)).code, 0);
  t.same(await taken(), [second.id]);
  exactly(t, await numbers.read(first.id, platform.otherWorkspace), { belongsToAnother: true });
  await numbers.remove(second.id, platform.workspaceId);
  await numbers.remove(first.id, platform.otherWorkspace);
});

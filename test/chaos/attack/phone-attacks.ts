/** What strangers try at the telephone providers' webhooks and sockets (X1, X7). */
import { ASKING, newCall, newNumber, SECRET, STREAMING } from '../../fixtures/phone/incoming-calls.js';
import { PhoneLine } from '../../fixtures/phone/line.js';
import { type Attack, FORM_TYPE, JSON_TYPE, manyFields, manyMembers, REST_MS, sized } from './attack.js';
import { ask, flood, sendFrames } from './senders.js';
import type { Target } from './target.js';
import { count } from './told.js';

async function makeNumber({ attacker, agent }: Target, provider: (typeof ASKING)[number]): Promise<string> {
  const number = newNumber();
  const credentials = { [provider.credential]: provider.dialect.credentialOf(SECRET) };
  const body = { provider: provider.name, phone_number: number, agent_id: agent, credentials };
  const { status } = await attacker('phone-numbers', { body });
  if (status !== 201) throw new Error(`a number of ${provider.name}: ${status}`);
  return number;
}

const numbers = new Map<string, Promise<string>>();

/** The attacker's number at a provider: the same in all turns of a row, as a workspace has a bound of them. */
function ownNumber(target: Target, provider: (typeof ASKING)[number]): Promise<string> {
  const key = `${target.base} ${provider.name}`;
  const number = numbers.get(key) ?? makeNumber(target, provider);
  numbers.set(key, number);
  return number;
}

export const phoneWebhooks = ASKING.flatMap((provider): Attack[] =>
  ['answer', 'calls/call_0/status'].map((noun) => ({
    name: `X1 ${provider.name} ${noun.split('/')[0]}`,
    ...(noun === 'answer' && { short: true }),
    allowed: [400, 401, 403, 404, 409, 413, 429],
    seconds: 1,
    atOnce: 1,
    async run(target, told, size) {
      const to = encodeURIComponent(await ownNumber(target, provider));
      const url = `${target.base}/v1/phone/${provider.name}/${noun}`;
      const fields = `To=${to}&From=%2B1&CallSid=CA1&CallUUID=1&uuid=1&to=${to}&from=1`;
      await flood(sized(10, size), 2, async (turn) => {
        const form = turn % 2 === 0;
        const body = form ? manyFields(fields) : manyMembers({ to, from: '1', uuid: '1' }, 4500);
        await ask(told, url, { method: 'POST', headers: form ? FORM_TYPE : JSON_TYPE, body });
      });
    },
  })),
);

export const phoneSockets = [...ASKING, ...STREAMING].map((provider): Attack => ({
  name: `X7 idle sockets at ${provider.name}`,
  ...(provider.name === 'twilio' && { short: true }),
  allowed: [
    'stayed open',
    'a call was heard',
    401,
    403,
    429,
    503,
    1000,
    1006,
    1008,
    1011,
    1013,
    'ECONNRESET',
  ],
  seconds: 5,
  atOnce: 1,
  async run(target, told, size) {
    const path = `/v1/phone/${provider.name}`;
    const restMs = 2 * REST_MS;
    const idle = Array.from({ length: sized(256, Math.sqrt(size)) }, () =>
      sendFrames(told, target.base, { path, frames: [], restMs }),
    );
    const asking = ASKING.find(({ name }) => name === provider.name) ?? ASKING[0]!;
    const number = await ownNumber(target, asking);
    const url = `${target.base}/v1/phone/${asking.name}/answer`;
    await flood(sized(15, size), 3, async () => {
      const call = newCall(number);
      const answered = await fetch(url, asking.dialect.ask(url, call, SECRET));
      const line = await PhoneLine.answered(asking.dialect, call, await answered.text()).catch(
        () => undefined,
      );
      const begins = line !== undefined && line.closed === undefined;
      count(told, begins ? 'a call was heard' : 'a call was crowded out');
      line?.drop();
    });
    await Promise.all(idle);
  },
}));

/**
 * Seeded fuzz of what telephone providers send: webhooks of all kinds, signed but odd, and frames of media streams. Every webhook is
 * answered with a document or refused in the native shape, every stream is closed with a documented code, and no call is left.
 */
import t from '../../fixtures/tap.js';
import { randomIds } from '../../../contracts/ids.js';
import { createTransfers } from '../../../storage/phone/phone-transfers.js';
import { letGo, send, shown } from '../../fixtures/fuzz/http.js';
import {
  type PhoneWorld,
  type Registered,
  streamOf,
  streamTargets,
  webhookProblem,
  webhookTargets,
} from '../../fixtures/fuzz/phone.js';
import { fuzz, roundsOf } from '../../fixtures/fuzz/rounds.js';
import { lifeOf } from '../../fixtures/fuzz/socket-life.js';
import { IncomingCalls, PROVIDERS, untilHeard } from '../../fixtures/phone/incoming-calls.js';
import type { ApiDialect } from '../../fixtures/phone/api.js';
import { APIS, type Line, newNumber, PlacedCalls } from '../../fixtures/phone/placed-calls.js';

t.teardown(letGo);
const calls = await PlacedCalls.start(t);
const incoming = await IncomingCalls.start(t);
const { talks, agentId } = calls;
const { gateway } = talks;
const transfers = await createTransfers(calls.database, randomIds);
t.teardown(() => transfers.stop());

const lines = new Map<string, Line>();
for (const api of APIS) lines.set(api.name, await calls.line(api));
const lineOf = ({ name }: ApiDialect): Line => lines.get(name)!;

const numbers = new Map<string, Registered>();
for (const provider of PROVIDERS) numbers.set(provider.name, await incoming.registered(provider, agentId));

const BRIEFING = { text: 'A lamp.', asks: true, language: 'en', voiceId: 'default' } as const;

/** A workspace may not have all sessions at a time that the rounds begin. */
const SWEEP_EVERY = 100;
let rounds = 0;

/** Ends the sessions that wait for their calls, now and then. */
async function sweep(): Promise<void> {
  rounds += 1;
  if (rounds % SWEEP_EVERY > 0) return;
  const { body } = await talks.call('sessions?status=pending&page_size=100');
  const { sessions } = body as { sessions: { session_id: string }[] };
  for (const { session_id: id } of sessions) await talks.call(`sessions/${id}/end`, { method: 'POST' });
}

let callers = 0;
const world: PhoneWorld = {
  base: gateway.base,
  numbers,
  placed: (api) => calls.placed(lineOf(api)),
  async transfer(api, mode) {
    const { session_id: sessionId } = await talks.session(agentId);
    const callId = `CA${String((callers += 1)).padStart(32, '0')}`;
    const briefing = mode === 'warm' ? BRIEFING : null;
    const transfer = await transfers.begin({
      ...{ sessionId, numberId: lineOf(api).numberId, provider: api.name, callerCallId: callId },
      ...{ toolCallId: 'call_1', mode, label: '', to: newNumber(), briefing, dueMs: 60_000 },
    });
    return { id: transfer!.id, callId };
  },
};

/** How often webhooks were answered with each status. */
const statuses = new Map<number, number>();

fuzz(t, webhookTargets(world), {
  rounds: roundsOf(12, 600),
  async round({ make }, draws) {
    await sweep();
    const made = await make(draws);
    const answer = await send(gateway, made);
    statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
    const problem = webhookProblem(answer);
    return (
      problem &&
      `${problem}: ${answer.status} ${answer.type} ${answer.body.toString().slice(0, 300)} to ${shown(made)}`
    );
  },
});

t.test('webhooks are both answered and refused', async (t) => {
  for (const status of [200, 204, 400, 403]) t.ok(statuses.has(status), `${status}`);
});

/** Providers to whose streams the gateway has sent something. */
const heard = new Set<string>();

fuzz(t, streamTargets, {
  rounds: roundsOf(6, 300),
  async round({ provider }, draws) {
    const stream = await streamOf(provider, world);
    const read = (data: Buffer): unknown => {
      heard.add(provider.name);
      return stream.read(data);
    };
    return lifeOf(gateway, { ...stream, read }, draws);
  },
});

t.test('streams of every provider are let in', async (t) => {
  t.strictSame(heard.size, PROVIDERS.length, [...heard].join());
});

t.test('no call is left, and the next one is answered', async () => {
  await talks.untilNoCalls();
  const answered = await incoming.dial(PROVIDERS[0]!, {
    prompt: { first_message_mode: 'fixed', first_message: 'Hello.' },
  });
  await untilHeard(answered.line);
  answered.line.hangUp();
  await answered.ended();
});

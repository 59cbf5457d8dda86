/** Requests of one node to another: a signature is valid for one address, once, for a short time (gateway/agents/calls/node-claims.ts). */
import { createHmac, randomBytes } from 'node:crypto';
import t from '../../../../fixtures/tap.js';
import { ServiceError } from '../../../../../contracts/errors.js';
import { LIMITS } from '../../../../../contracts/limits.js';
import {
  digestOf,
  type RelayClaims,
  RelayGate,
  signed,
} from '../../../../../gateway/agents/calls/node-claims.js';
import { SimulatedClock } from '../../../../fixtures/clock.js';
import { exactly } from '../../../../fixtures/exactly.js';

const key = randomBytes(32);
const CLAIMS: RelayClaims = {
  ...{ to: 'here', wants: 'owner', sessionId: 'sess_1', use: 'rejoin' },
  digest: digestOf('{}'),
};

function gate() {
  const clock = new SimulatedClock();
  clock.advance(1_000_000);
  return { clock, gate: new RelayGate({ key, installation: 'here', clock }) };
}

const refusal = (work: () => unknown): string | undefined => {
  try {
    work();
    return undefined;
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return `${error.status} ${error.message}`;
  }
};

t.test('claims that a node has signed are read unchanged', async (t) => {
  const { clock, gate: door } = gate();
  exactly(t, door.admit(signed(key, CLAIMS, clock)), CLAIMS);
});

t.test('forged requests are refused', async (t) => {
  const { clock, gate: door } = gate();
  const good = signed(key, CLAIMS, clock);
  const [, text = '', signature = ''] = /^Node (.*)\.(.*)$/.exec(good) ?? [];
  const other = Buffer.from(JSON.stringify({ ...CLAIMS, at: clock.now(), nonce: 'x' })).toString('base64url');
  const forged = [
    undefined,
    '',
    'Bearer x',
    `Node ${text}`,
    `Node ${text}.`,
    `Node ${text}.${'A'.repeat(43)}`,
    `Node ${other}.${signature}`,
    signed(randomBytes(32), CLAIMS, clock),
  ];
  for (const header of forged)
    t.equal(
      refusal(() => door.admit(header)),
      '403 Nodes only',
      String(header),
    );
  const empty = Buffer.from('[]').toString('base64url');
  const ours = createHmac('sha256', key).update(empty).digest('base64url');
  t.match(
    refusal(() => door.admit(`Node ${empty}.${ours}`)),
    '403',
    'of another version',
  );
  t.ok(door.admit(good), 'and the real one is not used up by them');
});

t.test('replayed requests are refused, as long as they would count', async (t) => {
  const { clock, gate: door } = gate();
  const header = signed(key, CLAIMS, clock);
  door.admit(header);
  t.equal(
    refusal(() => door.admit(header)),
    '403 Used already',
  );
  clock.advance(LIMITS.node.clockMs);
  t.equal(
    refusal(() => door.admit(header)),
    '403 Used already',
  );
  clock.advance(1);
  t.match(
    refusal(() => door.admit(header)),
    '403 Signed too long ago',
  );
});

t.test('late requests, and those of a clock that is ahead, are refused', async (t) => {
  const { clock, gate: door } = gate();
  const header = signed(key, CLAIMS, clock);
  const early = signed(key, CLAIMS, { now: () => clock.now() + LIMITS.node.clockMs + 1 });
  t.match(
    refusal(() => door.admit(early)),
    '403 Signed too long ago',
  );
  clock.advance(LIMITS.node.clockMs + 1);
  t.match(
    refusal(() => door.admit(header)),
    '403 Signed too long ago',
  );
});

t.test('a request to another installation is refused', async (t) => {
  const { clock, gate: door } = gate();
  t.match(
    refusal(() => door.admit(signed(key, { ...CLAIMS, to: 'there' }, clock))),
    '403 Meant for another',
  );
});

t.test('numbers that are remembered are bounded, and those of the past are forgotten', async (t) => {
  const { clock, gate: door } = gate();
  for (let count = 0; count < LIMITS.node.nonces; count++) door.admit(signed(key, CLAIMS, clock));
  t.match(
    refusal(() => door.admit(signed(key, CLAIMS, clock))),
    '503',
  );
  clock.advance(LIMITS.node.clockMs + 1);
  t.ok(door.admit(signed(key, CLAIMS, clock)));
});

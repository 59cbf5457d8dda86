/** What strangers' webhooks and handshakes cost (gateway/agents/phone/providers): they are read once, whosever secrets are tried. */
import { createHmac } from 'node:crypto';
import t from '../../../../fixtures/tap.js';
import { LIMITS } from '../../../../../contracts/limits.js';
import { CALL_TIMES } from '../../../../../contracts/limits/call-times.js';
import type { Webhook } from '../../../../../gateway/agents/phone/provider.js';
import { PROVIDERS } from '../../../../../gateway/agents/phone/providers.js';
import { createStreamProofs } from '../../../../../gateway/agents/phone/stream-tokens.js';
import { SimulatedClock } from '../../../../fixtures/clock.js';
import { throwsExactly } from '../../../../fixtures/exactly.js';
import { genesysDouble } from '../../../../fixtures/phone/genesys.js';
import { twilioSignature } from '../../../../fixtures/phone/twilio.js';
import { vonageAuthorization } from '../../../../fixtures/phone/vonage.js';
import { telnyxHeaders } from '../../../../fixtures/phone/telnyx.js';

const URL_ = 'https://speech.example.com/v1/phone/x/answer';
const CALL = { callId: 'CA1', from: '+14155550123', to: '+493012345678' };
const SECRETS = 100;

const fields = Array.from({ length: LIMITS.unauthenticated.parts }, (_, at) => [at.toString(36), '']);
const FORM = new URLSearchParams(fields as [string, string][]).toString();
const now = 1_700_000_000;

/** A head as each provider sends it, signed with some secret. */
const HEADS: Readonly<Record<keyof typeof PROVIDERS, Readonly<Record<string, string>>>> = {
  twilio: { 'x-twilio-signature': twilioSignature(URL_, {}, 'theirs') },
  telnyx: telnyxHeaders(FORM, 'theirs', now),
  plivo: { 'x-plivo-signature-v3': 'AAAA', 'x-plivo-signature-v3-nonce': '1' },
  vonage: { authorization: vonageAuthorization(FORM, 'theirs', now) },
  exotel: { authorization: 'Basic dXNlcjpwYXNzd29yZA==' },
  genesys: genesysDouble.handshake(URL_, CALL, Buffer.from('theirs'.repeat(8)).toString('base64'), now),
};

/** A webhook that counts how often its parts are read. */
function counted(head: Readonly<Record<string, string>>) {
  const read = { body: 0, headers: 0 };
  const headers = new Map(Object.entries(head));
  const body = Buffer.from(FORM);
  const webhook: Webhook = {
    url: URL_,
    get headers() {
      read.headers += 1;
      return headers;
    },
    get body() {
      read.body += 1;
      return body;
    },
  };
  return { webhook, read };
}

for (const [name, { spoken }] of Object.entries(PROVIDERS))
  t.test(`${name}: a webhook of 1,000 fields is read once, for a hundred secrets`, (t) => {
    const { webhook, read } = counted(HEADS[name as keyof typeof PROVIDERS]);
    for (let secret = 0; secret < SECRETS; secret += 1)
      t.notOk(
        spoken.isSigned(
          webhook,
          Buffer.from(`secret number ${secret} of many`).toString('base64'),
          now * 1000,
        ),
      );
    t.ok(read.body <= 1, `its body ${read.body} times`);
    t.ok(read.headers <= SECRETS + 16, `its headers ${read.headers} times`);
    t.end();
  });

t.test('a form of a field more than that is refused before it is parsed', (t) => {
  for (const name of ['twilio', 'telnyx', 'plivo'] as const) {
    const { spoken } = PROVIDERS[name];
    const webhook = { url: URL_, headers: new Map(), body: Buffer.from(`${FORM}&one=more`) };
    if ('incoming' in spoken)
      throwsExactly(t, () => spoken.incoming(webhook), { code: 'invalid_request' }, name);
  }
  t.end();
});

t.test('Genesys: a signature that covers a header again and again does not count', (t) => {
  const raw = 'theirs'.repeat(8);
  const { isSigned } = PROVIDERS.genesys.spoken;
  const {
    signature: _,
    'signature-input': input = '',
    ...head
  } = genesysDouble.handshake(URL_, CALL, raw, now);
  const own: [string, string][] = [
    ['@request-target', '/v1/phone/x/answer'],
    ['@authority', 'speech.example.com'],
    ['long', 'x'.repeat(1000)],
  ];
  const values = new Map([...Object.entries(head), ...own]);
  const signed = (times: number): boolean => {
    const told = input.slice('sig1='.length).replace(')', ` ${'"long" '.repeat(times).trim()})`);
    const names = [...told.slice(0, told.indexOf(')')).matchAll(/"([^"]+)"/g)].map(([, name = '']) => name);
    const lines = names.map((name) => `"${name}": ${values.get(name)}`);
    const text = [...lines, `"@signature-params": ${told}`].join('\n');
    const by = createHmac('sha256', raw).update(text).digest('base64');
    const headers = new Map([...values, ['signature-input', `sig1=${told}`], ['signature', `sig1=:${by}:`]]);
    return isSigned(
      { url: URL_, headers, body: new Uint8Array() },
      genesysDouble.credentialOf(raw),
      now * 1000,
    );
  };
  t.ok(signed(1));
  t.ok(signed(26), '32 components');
  t.notOk(signed(27));
  t.end();
});

t.test(
  'a stream’s address proves that its call was answered, at one provider, for as long as it is waited for',
  (t) => {
    const clock = new SimulatedClock();
    const key = new Uint8Array(32).fill(7);
    const proofs = createStreamProofs(key, clock);
    const proof = proofs.issue('twilio');
    t.match(proof, /^[\w.-]+$/, 'as part of a path');
    const holder = proofs.verify('twilio', proof);
    t.ok(holder);
    t.not(proofs.verify('twilio', proofs.issue('twilio')), holder, 'each call has a place of its own');
    t.equal(proofs.verify('telnyx', proof), undefined);
    t.equal(createStreamProofs(new Uint8Array(32), clock).verify('twilio', proof), undefined);
    const [name = '', until = '', signature = ''] = proof.split('.');
    for (const bad of [
      '',
      '.',
      '..',
      name,
      `${name}.zzzzzzzzz.${signature}`,
      `x${name}.${until}.${signature}`,
      `${proof}.`,
      'x'.repeat(60_000),
    ])
      t.equal(proofs.verify('twilio', bad), undefined, bad.slice(0, 40));
    clock.advance(CALL_TIMES.joinWindowMs);
    t.equal(proofs.verify('twilio', proof), holder);
    clock.advance(1);
    t.equal(proofs.verify('twilio', proof), undefined, 'too late');
    t.end();
  },
);

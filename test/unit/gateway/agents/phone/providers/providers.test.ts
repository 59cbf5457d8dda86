/** Signatures and messages of telephone providers, against their own examples (gateway/agents/phone/providers). */
import { createHmac, generateKeyPairSync } from 'node:crypto';
import t from '../../../../../fixtures/tap.js';
import { CREDENTIAL_FORMS } from '../../../../../../contracts/phone/phone.js';
import { exotel } from '../../../../../../gateway/agents/phone/providers/exotel.js';
import { genesys } from '../../../../../../gateway/agents/phone/providers/genesys.js';
import { plivo } from '../../../../../../gateway/agents/phone/providers/plivo.js';
import { telnyx } from '../../../../../../gateway/agents/phone/providers/telnyx.js';
import { twilio } from '../../../../../../gateway/agents/phone/providers/twilio.js';
import { vonage } from '../../../../../../gateway/agents/phone/providers/vonage.js';
import { vonageDialling } from '../../../../../../gateway/agents/phone/providers/vonage-api.js';
import { exactly } from '../../../../../fixtures/exactly.js';
import { TELNYX_FORMAT, telnyxDouble, telnyxHeaders } from '../../../../../fixtures/phone/telnyx.js';
import { vonageAuthorization } from '../../../../../fixtures/phone/vonage.js';

t.test('Twilio’s signature: the example of its libraries, and its spellings of ports', (t) => {
  const fields = {
    CallSid: 'CA1234567890ABCDE',
    Caller: '+14158675309',
    Digits: '1234',
    From: '+14158675309',
    To: '+18005551212',
  };
  const webhook = (url: string, signature: string, form: object = fields) => ({
    url,
    headers: new Map([['x-twilio-signature', signature]]),
    body: Buffer.from(new URLSearchParams(form as Record<string, string>).toString()),
  });
  const signature = 'RSOYDt4T1cUTdK1PDd93/VVr8B8=';
  const url = 'https://mycompany.com/myapp.php?foo=1&bar=2';
  const isSigned = (at: string, by = signature, form: object = fields, secret = '12345') =>
    twilio.isSigned(webhook(at, by, form), secret, 0);
  t.ok(isSigned(url));
  t.ok(isSigned('https://mycompany.com:443/myapp.php?foo=1&bar=2'), 'signed without the port that is used');
  t.notOk(isSigned(url, signature, fields, '54321'));
  t.notOk(isSigned(url, signature, { ...fields, To: '+18005551213' }));
  t.notOk(isSigned(`${url}&baz=3`));
  for (const bad of ['', 'RSOYDt4T1cUTdK1PDd93', `${signature} `]) t.notOk(isSigned(url, bad));
  t.same(twilio.incoming(webhook(url, '')), {
    callId: 'CA1234567890ABCDE',
    from: '+14158675309',
    to: '+18005551212',
  });
  t.equal(twilio.incoming(webhook(url, '', { ...fields, CallSid: 'x'.repeat(129) })), undefined);
  t.end();
});

t.test('Twilio’s documents hold what they are given, and nothing breaks out of it', (t) => {
  const { body, headers } = twilio.accept({ url: 'wss://a.example/?x="<&>', token: "t'", callId: 'CA1' });
  t.equal(
    body,
    '<?xml version="1.0" encoding="UTF-8"?><Response><Connect><Stream url="wss://a.example/?x=&quot;&lt;&amp;&gt;">' +
      '<Parameter name="token" value="t&apos;"/></Stream></Connect></Response>',
  );
  exactly(t, headers, { 'content-type': /^text\/xml/ });
  t.match(twilio.reject('busy').body, '<Reject reason="busy"/>');
  const control = twilio.accept({
    url: 'wss://a.example',
    token: 'a\u0001\u0000b\uffffc\ud800d😀',
    callId: 'CA1',
  });
  t.match(control.body, 'value="abcd😀"', 'what XML cannot hold is left out');
  t.end();
});

t.test('Telnyx’s signature is over time and body, by the account’s key', (t) => {
  const body = 'CallSid=v3%3A1&From=%2B14155550123&To=%2B18005551212';
  const key = telnyxDouble.credentialOf('secret');
  const at = 1_700_000_000;
  const isSigned = (headers: object, secret = key, text = body, now = at * 1000) =>
    telnyx.isSigned(
      {
        url: '',
        headers: new Map(Object.entries(headers as Record<string, string>)),
        body: Buffer.from(text),
      },
      secret,
      now,
    );
  const headers = telnyxHeaders(body, 'secret', at);
  t.ok(isSigned(headers));
  t.notOk(isSigned(headers, telnyxDouble.credentialOf('another')));
  t.notOk(isSigned(headers, key, `${body}&x=1`));
  t.notOk(isSigned({ ...headers, 'telnyx-timestamp': String(at + 1) }));
  t.ok(isSigned(headers, key, body, (at + 300) * 1000));
  t.notOk(isSigned(headers, key, body, (at + 301) * 1000), 'five minutes');
  for (const bad of ['', 'no key', 'AAAA']) t.notOk(isSigned(headers, bad), bad);
  for (const bad of [
    {},
    { ...headers, 'telnyx-signature-ed25519': 'AAAA' },
    { ...headers, 'telnyx-timestamp': '-1' },
  ])
    t.notOk(isSigned(bad));
  t.end();
});

/** Signatures made by Plivo’s library for Python (plivo 4.63.0, `get_signature_v3`). */
t.test('Plivo’s signature: as its library signs an address, with a query and without', (t) => {
  const fields = {
    CallUUID: 'c0a80101-0000-4000-8000-000000000001',
    Direction: 'inbound',
    From: '14155550123',
    To: '18005551212',
    CallerName: '+14155550123',
    Event: 'StartApp',
  };
  const isSigned = (url: string, told: string, header = 'x-plivo-signature-v3', form: object = fields) =>
    plivo.isSigned(
      {
        url,
        headers: new Map([
          [header, told],
          ['x-plivo-signature-v3-nonce', '05429567804466091622'],
        ]),
        body: Buffer.from(new URLSearchParams(form as Record<string, string>).toString()),
      },
      'my_auth_token',
      0,
    );
  const url = 'https://example.com/v1/phone/plivo/answer';
  const signature = '+d0tbHA+IHtvsCdQ7iTe6Vd+6BfihteRzOXCeVmCq2E=';
  t.ok(isSigned(url, signature));
  t.ok(isSigned('https://example.com/answer?b=2&a=x%20y', 'hv3AJ/9N4z3dmkCjy4cLY9xIykTjCe82MUhHQhNTevo='));
  t.ok(isSigned(url, `other,${signature}`), 'an account with two tokens');
  t.ok(isSigned(url, signature, 'x-plivo-signature-ma-v3'), 'the main account');
  t.notOk(isSigned(url, signature, 'x-plivo-signature'));
  t.notOk(isSigned(url, signature, undefined, { ...fields, To: '18005551213' }));
  t.notOk(isSigned(`${url}?a=1`, signature));
  for (const bad of ['', ',', signature.slice(1)]) t.notOk(isSigned(url, bad), bad);
  t.end();
});

t.test('Plivo’s documents hold what they are given, and the call ends with its stream', (t) => {
  const { body } = plivo.accept({ url: 'wss://a.example/x', token: 'a&b', callId: 'c' });
  t.equal(
    body,
    '<?xml version="1.0" encoding="UTF-8"?><Response><Stream bidirectional="true" keepCallAlive="true" ' +
      'contentType="audio/x-mulaw;rate=8000">wss://a.example/x?token=a%26b</Stream><Hangup/></Response>',
  );
  t.match(plivo.reject('busy').body, '<Response><Hangup reason="busy"/></Response>');
  t.end();
});

t.test('a Telnyx stream may be µ-law or A-law', (t) => {
  const formatOf = (wrong: object) => {
    const [, start] = telnyxDouble.begin({ callId: 'v3:1', from: '', to: '' }, 'token') as [
      object,
      { start: object },
    ];
    const changed = { ...start, start: { ...start.start, media_format: { ...TELNYX_FORMAT, ...wrong } } };
    const event = telnyx.read(JSON.stringify(changed));
    return event?.type === 'start' ? event.format : 'no start';
  };
  t.same(formatOf({}), { codec: 'mulaw', rate: 8000 });
  t.same(formatOf({ encoding: 'PCMA' }), { codec: 'alaw', rate: 8000 });
  for (const wrong of [
    { encoding: 'G722' },
    { encoding: 'constructor' },
    { sample_rate: 16_000 },
    { channels: 2 },
  ])
    t.equal(formatOf(wrong), undefined, JSON.stringify(wrong));
  t.end();
});

t.test('Vonage’s signature is a token for that body, of now, by the account’s secret', (t) => {
  const body = '{"from":"14155550123","to":"18005551212","uuid":"aaaaaaaa-bbbb-cccc-dddd-0123456789ab"}';
  const at = 1_700_000_000;
  const isSigned = (authorization: string, text = body, now = at * 1000, secret = 'secret') =>
    vonage.isSigned(
      { url: '', headers: new Map([['authorization', authorization]]), body: Buffer.from(text) },
      secret,
      now,
    );
  const signed = (more: object = {}) => vonageAuthorization(body, 'secret', at, more);
  t.ok(isSigned(signed()));
  t.notOk(isSigned(signed(), body, at * 1000, 'another'));
  t.notOk(isSigned(signed(), `${body} `), 'of another body');
  t.ok(isSigned(signed(), body, (at + 300) * 1000));
  t.notOk(isSigned(signed(), body, (at + 301) * 1000), 'five minutes');
  t.notOk(isSigned(signed(), body, (at - 301) * 1000), 'clocks differ by as much');
  t.ok(isSigned(signed({ exp: at + 60 }), body, (at + 60) * 1000));
  t.notOk(isSigned(signed({ exp: at + 60 }), body, (at + 61) * 1000), 'over');
  for (const wrong of [{ iat: undefined }, { iat: String(at) }, { exp: 'soon' }, { payload_hash: undefined }])
    t.notOk(isSigned(signed(wrong)), JSON.stringify(wrong));
  const [head = '', claims = '', signature = ''] = signed().replace('Bearer ', '').split('.');
  const none = Buffer.from('{"alg":"none"}').toString('base64url');
  for (const bad of [
    '',
    'Bearer',
    `Basic ${head}.${claims}.${signature}`,
    `Bearer ${none}.${claims}.`,
    `Bearer ${head}.${claims}.${signature}.x`,
    `Bearer ${head}.${claims}`,
  ])
    t.notOk(isSigned(bad), bad);
  t.end();
});

t.test('Vonage asks about a call; its reports are no question', (t) => {
  const asked = (value: unknown) =>
    vonage.incoming({ url: '', headers: new Map(), body: Buffer.from(JSON.stringify(value)) });
  const call = { uuid: 'aaaaaaaa-bbbb', from: '14155550123', to: '18005551212' };
  t.same(asked(call), { callId: 'aaaaaaaa-bbbb', from: '14155550123', to: '18005551212' });
  for (const no of [
    { ...call, status: 'ringing' },
    { ...call, to: 5 },
    { ...call, uuid: '../' },
    [],
    null,
    'x',
  ])
    t.equal(asked(no), undefined, JSON.stringify(no));
  t.end();
});

t.test('Vonage has names of its own for Chinese', (t) => {
  const { privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  const credentials = { application_id: 'a', private_key: privateKey };
  const languageOf = (language: string): unknown => {
    const said = { callId: 'c', message: 'm', language, url: '' };
    const { body = '' } = vonageDialling.say(said, credentials);
    const { destination } = JSON.parse(body) as { destination: { ncco: readonly { language: string }[] } };
    return destination.ncco[0]?.language;
  };
  t.equal(languageOf('zh-CN'), 'cmn-CN');
  t.equal(languageOf('ja-JP'), 'ja-JP');
  t.end();
});

t.test('Exotel writes numbers of India as they are dialled there, or in full', (t) => {
  const about = (from: string, to: string) => {
    const media_format = { encoding: 'raw', sample_rate: '8000', bit_rate: '128kbps' };
    if (!('read' in exotel)) throw new Error('it has no state');
    const start = { stream_sid: 's', call_sid: 'c', from, to, media_format };
    const event = exotel.read(JSON.stringify({ event: 'start', start }));
    return event?.type === 'start' && event.about;
  };
  const full = { from: '+919876543210', to: '+918047491899' };
  t.same(about('09876543210', '08047491899'), full);
  t.same(about(full.from, full.to), full);
  t.same(about('', '0804'), { from: '', to: '0804' });
  t.end();
});

/** The example in Genesys' documents, with which its reference implementation tests itself. */
t.test('Genesys’ signature: the example of its documents', (t) => {
  const path = '/api/v1/voicebiometrics/ws';
  const created = 1_641_013_200;
  const parameters =
    `keyid="SGVsbG8sIEkgYW0gdGhlIEFQSSBrZXkh";nonce="VGhpc0lzQVVuaXF1ZU5vbmNl";alg="hmac-sha256";` +
    `created=${created};expires=3282026430`;
  const covered =
    '"@request-target" "@authority" "audiohook-organization-id" "audiohook-session-id" "audiohook-correlation-id" "x-api-key"';
  const headers = {
    'audiohook-organization-id': 'd7934305-0972-4844-938e-9060eef73d05',
    'audiohook-session-id': '30b0e395-84d3-4570-ac13-9a62d8f514c0',
    'audiohook-correlation-id': 'e160e428-53e2-487c-977d-96989bf5c99d',
    'x-api-key': 'SGVsbG8sIEkgYW0gdGhlIEFQSSBrZXkh',
    signature: 'sig1=:NZBwyBHRRyRoeLqy1IzOa9VYBuI8TgMFt2GRDkDuJh4=:',
    'signature-input': `sig1=(${covered});${parameters}`,
  };
  const secret = 'TXlTdXBlclNlY3JldEtleVRlbGxOby0xITJAMyM0JDU=';
  const isSigned = (
    more: object = {},
    now = created,
    url = `wss://audiohook.example.com${path}`,
    key = secret,
  ) =>
    genesys.isSigned(
      { url, headers: new Map(Object.entries({ ...headers, ...more })), body: new Uint8Array() },
      key,
      now * 1000,
    );
  t.ok(isSigned());
  t.ok(isSigned({}, created + 300));
  t.notOk(isSigned({}, created + 301), 'five minutes');
  t.notOk(isSigned({}, created, 'wss://audiohook.example.com/another'));
  t.notOk(isSigned({}, created, `wss://other.example.com${path}`));
  t.notOk(isSigned({}, created, undefined, 'AAAA'));
  for (const none of ['', '!!!!', 'AAAA']) {
    const lines = covered.split(' ').map((name) => {
      const value = { '"@request-target"': path, '"@authority"': 'audiohook.example.com' }[name];
      return `${name}: ${value ?? headers[name.slice(1, -1) as 'x-api-key']}`;
    });
    const signature = createHmac('sha256', Buffer.from(none, 'base64'))
      .update([...lines, `"@signature-params": (${covered});${parameters}`].join('\n'))
      .digest('base64');
    t.notOk(isSigned({ signature: `sig1=:${signature}:` }, created, undefined, none), `by "${none}"`);
  }
  for (const [name, value] of Object.entries(headers)) {
    t.notOk(isSigned({ [name]: '' }), `without ${name}`);
    t.notOk(isSigned({ [name]: value.replace(/.=?$/, 'x') }), `another ${name}`);
  }
  const input = (text: string) => isSigned({ 'signature-input': text });
  t.notOk(input(`sig1=(${covered.replace(' "x-api-key"', '')});${parameters}`), 'covers less');
  t.notOk(input(`sig1=(${covered});${parameters}, sig2=("@authority");created=1`), 'two signatures');
  t.notOk(input(`sig1=(${covered})`), 'without a time');
  t.end();
});

t.test('secrets that would prove nothing are refused', (t) => {
  const fits = (name: string, value: string): boolean => CREDENTIAL_FORMS[name]![0].test(value);
  for (const good of ['TXlTdXBlclNlY3JldEtleVRlbGxOby0xITJAMyM0JDU=', 'A'.repeat(22), `${'-_'.repeat(16)}`])
    t.ok(fits('client_secret', good), good);
  for (const bad of [
    '',
    '!!!!',
    'A'.repeat(21),
    `${'A'.repeat(22)} A`,
    `A ${'A'.repeat(22)}`,
    `${'A'.repeat(22)}===`,
  ])
    t.notOk(fits('client_secret', bad), bad);
  for (const good of ['user:password', 'user:pass:word']) t.ok(fits('basic_auth', good), good);
  for (const bad of ['user', ':password', ':user:password', 'user:', 'user:password\n', ''])
    t.notOk(fits('basic_auth', bad), bad);
  t.end();
});

t.test('a Genesys session counts, answers by itself, and is one session', (t) => {
  const id = '30b0e395-84d3-4570-ac13-9a62d8f514c0';
  const organizationId = 'd7934305-0972-4844-938e-9060eef73d05';
  const handshake = new Map([
    ['audiohook-session-id', id],
    ['audiohook-organization-id', organizationId],
  ]);
  const media = [{ type: 'audio', format: 'PCMU', channels: ['external'], rate: 8000 }];
  const participant = { ani: 'tel:+1-415-555-0123', dnis: '+493012345678' };
  const begun = (conversationId: string) => {
    const sent: Record<string, unknown>[] = [];
    if (!('converse' in genesys)) throw new Error('it has no state');
    const hook = genesys.converse((message) => sent.push(JSON.parse(message) as never), handshake);
    let seq = 0;
    const say = (type: string, parameters: object = {}) =>
      hook.read(JSON.stringify({ version: '2', id, type, seq: (seq += 1), serverseq: 0, parameters }));
    const start = say('open', { organizationId, conversationId, participant, media });
    return { sent, hook, say, start };
  };
  const { sent, hook, say, start } = begun('090eaa2f-72fa-480a-83e0-8667ff89c0ec');
  exactly(t, start, {
    ...{ type: 'start', callId: id, about: { from: '+14155550123', to: '+493012345678' } },
    format: { codec: 'mulaw', rate: 8000 },
  });
  t.strictSame(sent, [], 'it is let in later');
  t.strictSame(JSON.parse(hook.writer('').begin!()), {
    ...{ version: '2', type: 'opened', seq: 1, clientseq: 1, id, parameters: { startPaused: false, media } },
  });
  t.equal(say('ping'), undefined);
  exactly(t, sent, [{ type: 'pong', seq: 2, clientseq: 2, id, parameters: {} }]);
  exactly(t, JSON.parse(String(hook.writer('').clearAudio())), {
    ...{ type: 'event', seq: 3, parameters: { entities: [{ type: 'barge_in', data: {} }] } },
  });
  exactly(t, JSON.parse(hook.end!('completed', 'x')), {
    type: 'disconnect',
    seq: 4,
    parameters: { reason: 'completed' },
  });
  exactly(t, say('close', { reason: 'disconnect' }), { type: 'stop' });
  exactly(t, sent.at(-1), { type: 'closed', seq: 5, clientseq: 3 });

  const probe = begun('00000000-0000-0000-0000-000000000000');
  t.equal(probe.start, undefined, 'a trial of the connection is no call');
  exactly(t, probe.sent, [{ type: 'opened' }]);
  t.equal(probe.say('close', { reason: 'end' }), undefined);
  exactly(t, probe.sent.at(-1), { type: 'closed' });
  t.end();
});

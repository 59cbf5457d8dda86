/** Requests of a transfer to a provider, transfers that are refused without a request, and answers of a colleague. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Test } from 'tap';
import t from '../../../../fixtures/tap.js';
import type { PhoneNumber } from '../../../../../contracts/ports/phone/phone.js';
import { silentLog } from '../../../../../contracts/log.js';
import type { Language } from '../../../../../contracts/speech/languages.js';
import type { PhoneCall } from '../../../../../contracts/ports/calls/calls.js';
import type {
  NewTransfer,
  OverdueTransfer,
  Transfers,
} from '../../../../../contracts/ports/phone/transfers.js';
import type { TransferMode } from '../../../../../contracts/phone/transfer-states.js';
import type { Transfer } from '../../../../../contracts/phone/transfers.js';
import { consentByKeys, consentOf } from '../../../../../gateway/agents/phone/consent.js';
import { DIALLING } from '../../../../../gateway/agents/phone/index.js';
import { SessionCall } from '../../../../../gateway/agents/phone/streamed-call.js';
import { Transferring } from '../../../../../gateway/agents/phone/transferring.js';
import { SimulatedClock } from '../../../../fixtures/clock.js';
import { exactly, rejectsExactly } from '../../../../fixtures/exactly.js';

const NUMBER = { id: 'phone_1', provider: 'twilio', placesCalls: true, apiUrl: null } as PhoneNumber;
const LEG = { provider: 'twilio', callId: 'CA1', baseUrl: 'https://speech.example' } as const;
const INBOUND = { id: 'sess_1', workspaceId: 'ws_1', dialedNumber: '+4930123' } as const;
const OUTBOUND = { ...INBOUND, id: 'sess_2' } as const;

const OPENED = { number: NUMBER, secret: 'token', api: { account_sid: 'AC1' } };

interface Asked {
  readonly url: string;
  readonly body: URLSearchParams;
}

/** Transfers through an API that accepts everything. */
function at(
  t: Test,
  numbers: readonly PhoneNumber[],
  {
    underWay = false,
    holdSound = false,
    open = () => Promise.resolve(OPENED),
    overdue = [] as readonly OverdueTransfer[],
    clock = new SimulatedClock(),
    log = silentLog,
  } = {},
) {
  const ended: string[] = [];
  const asked: Asked[] = [];
  const rows: NewTransfer[] = [];
  let told = false;
  const transfers = {
    begin(row) {
      rows.push(row);
      const shown = row.sessionId === OUTBOUND.id ? '+4930123' : null;
      return Promise.resolve(
        underWay
          ? undefined
          : ({ ...row, id: 'transfer_1', shown, state: 'ringing' } as Partial<Transfer> as Transfer),
      );
    },
    overdue: () => Promise.resolve(told ? [] : ((told = true), overdue)),
    finish(id, state) {
      ended.push(`${id} ${state}`);
      const transfer = overdue.find((each) => each.transfer.id === id)?.transfer;
      return Promise.resolve(transfer && { ...transfer, state });
    },
    bringBack(id) {
      ended.push(`${id} is back`);
      return Promise.resolve(undefined);
    },
  } as Partial<Transfers> as Transfers;
  const transferring = new Transferring({
    transfers,
    numbers: {
      named: (name, workspaceId) => {
        t.strictSame([name, workspaceId], ['+4930123', 'ws_1']);
        return Promise.resolve(numbers);
      },
      open,
    },
    dialling: DIALLING,
    outbound: {
      fetch({ url, body }) {
        asked.push({ url, body: new URLSearchParams(String(body)) });
        return Promise.resolve({
          status: 200,
          headers: {},
          body: Buffer.from('{}'),
          truncated: false,
          latencyMs: 1,
        });
      },
    },
    runs: { end: () => Promise.resolve(true) },
    holdSound,
    shortNumbers: new Set(['112']),
    clock,
    log,
  });
  t.teardown(() => transferring.stop());
  return { asked, rows, ended, transferring };
}

const line = () => {
  const moved: string[] = [];
  const move = async (asked: Promise<boolean>, cause: string) => {
    if (await asked) moved.push(cause);
  };
  const held: boolean[] = [];
  return { moved, move, held, media: { hold: (on) => held.push(on) } as Partial<PhoneCall> as PhoneCall };
};

const request = (to: string, mode: TransferMode = 'cold') => ({
  ...{ toolCallId: 'call_1', label: 'Desk', to, mode, briefing: null },
  signal: new AbortController().signal,
});

t.test(
  'a cold transfer asks the provider of our own number; without credentials none is asked',
  async (t) => {
    const { asked, rows, transferring } = at(t, [NUMBER]);
    t.equal(transferring.of({ ...LEG, provider: 'exotel' }, INBOUND, line()), undefined);
    const own = line();
    const [coming, going] = [INBOUND, OUTBOUND].map((called) => transferring.of(LEG, called, own)!);
    t.strictSame(coming?.modes, ['cold', 'warm']);
    for (const none of ['the desk', '', '0800', '911', 'tel:+491771234567', 'mail@shop.example'])
      t.match(await coming!.begin(request(none)), /^The destination is no phone number .* E\.164 form/, none);
    t.equal(await coming!.begin(request('+49 (177) 123-4567')), undefined);
    t.equal(await going!.begin(request('sip:desk@shop.example')), undefined);
    t.equal(await coming!.begin(request('112')), undefined, 'a short one that is allowed');
    t.strictSame(own.moved, Array(3).fill('connecting'));
    exactly(t, rows[0], { sessionId: 'sess_1', callerCallId: 'CA1', to: '+491771234567', mode: 'cold' });
    t.strictSame(
      asked.map(({ url }) => url),
      Array(3).fill('https://api.twilio.com/2010-04-01/Accounts/AC1/Calls/CA1.json'),
    );
    const base = 'https://speech.example/v1/phone/twilio/transfers/transfer_1';
    const [first, second] = asked.map(({ body }) => body.get('Twiml') ?? '');
    t.match(first, `<Dial action="${base}/action" timeout="30"><Number statusCallback="${base}/status" `);
    t.match(first, 'statusCallbackEvent="answered">+491771234567</Number></Dial>');
    t.match(second, ' callerId="+4930123"><Sip statusCallback=');
    for (const other of [
      [],
      [{ ...NUMBER, placesCalls: false }],
      [{ ...NUMBER, provider: 'telnyx' } as const],
    ])
      t.match(
        await at(t, other).transferring.of(LEG, INBOUND, line())!.begin(request('+491771234567')),
        /no credentials/,
      );
    t.equal(asked.length, 3);
    t.match(asked[2]!.body.get('Twiml'), />112<\/Number><\/Dial>/);
  },
);

t.test('how long a transfer took is told by a clock that never goes back, where it was begun', async (t) => {
  const lines: object[] = [];
  const log = { ...silentLog, info: (fields: object) => void lines.push(fields) };
  const clock = new SimulatedClock();
  // The clock of the machine was set during the transfers.
  const times = { createdAt: new Date('2026-02-01T12:00:00Z'), endedAt: new Date('2026-02-01T11:00:00Z') };
  const overdue = ['transfer_1', 'transfer_2'].map(
    (id) => ({ transfer: { id, ...times } }) as Partial<OverdueTransfer> as OverdueTransfer,
  );
  const { transferring } = at(t, [NUMBER], { clock, log, overdue });
  await nextTurn();
  lines.length = 0;
  await transferring.of(LEG, INBOUND, line())!.begin(request('+491771234567'));
  clock.advance(1500);
  for (const { transfer } of overdue) await transferring.finish(transfer.id, 'connected');
  exactly(t, lines, [
    { transfer: 'transfer_1', ms: 1500 },
    { transfer: 'transfer_2', ms: 0 },
  ]);
});

t.test('a second transfer is refused while one runs', async (t) => {
  const { asked, transferring } = at(t, [NUMBER], { underWay: true });
  for (const mode of ['cold', 'warm'] as const)
    t.equal(
      await transferring.of(LEG, INBOUND, line())!.begin(request('+491771234567', mode)),
      'The call is being transferred already',
    );
  t.same(asked, []);
});

t.test('a caller waits with the hold sound, or in silence if that is off', async (t) => {
  for (const holdSound of [true, false]) {
    const own = line();
    const { transferring } = at(t, [NUMBER], { holdSound });
    // The API gives an answer that Twilio does not document, so nobody is called.
    const why = await transferring.of(LEG, INBOUND, own)!.begin(request('+491771234567', 'warm'));
    t.match(why, /not one that it documents/);
    t.strictSame(own.held, holdSound ? [true, false] : [false]);
  }
});

t.test('a transfer that fails midway has ended, and the call is still with the agent', async (t) => {
  let opened = 0;
  const broken = new Error('the database is away');
  const open = () => ((opened += 1) === 1 ? Promise.resolve(OPENED) : Promise.reject(broken));
  const left: string[] = [];
  const call = new SessionCall(
    { hungUp: () => left.push('hung up') } as Partial<PhoneCall> as PhoneCall,
    'w',
  );
  call.begin({ closedBy: (cause) => left.push(cause) });
  const { ended, transferring } = at(t, [NUMBER], { open });
  await rejectsExactly(t, transferring.of(LEG, INBOUND, call)!.begin(request('+491771234567')), broken);
  t.strictSame([ended, left], [['transfer_1 failed'], []]);
  call.hungUp();
  await nextTurn();
  t.strictSame(left, ['hung up'], 'the caller’s end is the call’s end');
});

t.test('a transfer by SIP that lost its process ends, and its caller is with the agent', async (t) => {
  const row = {
    provider: 'sip',
    mode: 'cold',
    state: 'ringing',
    sessionId: 'sess_1',
    callerCallId: 'room',
    createdAt: new Date(0),
  };
  const open = (id: string, sessionEnded: boolean) =>
    ({ transfer: { ...row, id } as Partial<Transfer> as Transfer, sessionEnded }) as const;
  const { asked, ended, transferring } = at(t, [NUMBER], {
    overdue: [open('transfer_1', false), open('transfer_2', true)],
  });
  // The first sweep runs at the start.
  await transferring.sweep();
  await nextTurn();
  t.strictSame(ended, ['transfer_1 failed', 'transfer_1 is back', 'transfer_2 cancelled']);
  t.same(asked, [], 'there is no API to hang up by');
});

t.test('the answers of a colleague; a number is one only by itself', (t) => {
  const rows: readonly (readonly [
    Language,
    yes: readonly string[],
    no: readonly string[],
    neither: readonly string[],
  ])[] = [
    [
      'en',
      ['Yes.', 'Yeah, sure!', 'No problem, put them through.', 'OK', 'One.', '1'],
      ['No.', 'Not now', "I can't", 'Yes? No, sorry.', 'Two.', '2.'],
      ['', 'Who is it?', 'Nobody', 'Yesterday', 'One moment, please.', 'Hold on one second.', 'Two seconds.'],
    ],
    [
      'de',
      ['Ja.', 'Ja, gerne.', 'Kein Problem', 'Eins.'],
      ['Nein.', 'Gerade nicht', 'Keine Zeit', 'Zwei'],
      ['Jahr', 'Wer ist dran?', 'Zwei Minuten.'],
    ],
    [
      'fr',
      ['Oui.', 'D’accord', "d'accord", 'Un.'],
      ['Non', 'Pas maintenant', 'Deux'],
      ['Qui est-ce ?', 'Un instant, s’il vous plaît.', 'Deux minutes.'],
    ],
    [
      'es',
      ['Sí.', 'si', 'Claro', 'Uno'],
      ['No', 'Ahora no', 'Dos'],
      ['¿Quién es?', 'Siempre', 'Dos minutos.'],
    ],
    ['ja', ['はい。', 'お願いします'], ['いいえ', '今は無理です'], ['どなたですか']],
    ['zh', ['是', '好的', '可以。', '没问题'], ['不', '不行', '现在没空'], ['是谁？']],
    ['ko', ['네.', '예'], ['아니요', '지금은 안 돼요'], ['누구세요']],
  ];
  for (const [language, yes, no, neither] of rows) {
    for (const text of yes) t.equal(consentOf(text, language), 'yes', text);
    for (const text of no) t.equal(consentOf(text, language), 'no', text);
    for (const text of neither) t.equal(consentOf(text, language), undefined, text);
  }
  t.same(['1', '2', '12', '3', '#', ''].map(consentByKeys), [
    'yes',
    'no',
    'yes',
    undefined,
    undefined,
    undefined,
  ]);
  t.end();
});

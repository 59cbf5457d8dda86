/** Events between clients and agents: those that are read, and what is cut in those that are sent. */
import t from '../../../../../fixtures/tap.js';
import {
  AGENT_EVENTS,
  encodeEvent,
  readClientEvent,
} from '../../../../../../gateway/agents/conversations/client/events.js';
import { exactly } from '../../../../../fixtures/exactly.js';

const read = (event: unknown) => readClientEvent(encodeEvent(event as object));

/** Types that resemble the name of an event, but are none. */
const WRONG_TYPES = [
  ...['user.message', 'user.activity', 'user.interrupt', 'user.hangup', 'client_tool.result'].flatMap(
    (type) => [[type], [[type]], [type, 1], { type }, { toString: type }],
  ),
  ...[null, true, 0, '', [], {}, 'toString', '__proto__', 'hasOwnProperty'],
];

t.test("the client's events of the contract are read, and everything else is ignored", async (t) => {
  t.same(read({ type: 'user.message', text: 'Hi', audio: false }), {
    type: 'user.message',
    text: 'Hi',
    aloud: false,
  });
  exactly(t, read({ type: 'user.message', text: 'Hi' }), { aloud: true });
  for (const type of ['user.activity', 'user.interrupt', 'user.hangup', 'captions.live'])
    t.same(read({ type, extra: 1 }), { type });
  exactly(t, read({ type: 'client_tool.result', callId: 'c', result: [1] }), { isError: false, result: [1] });
  const none = [
    { type: 'user.message' },
    { type: 'user.message', text: 7 },
    { type: 'user.message', text: '  ' },
    { type: 'client_tool.result' },
    { type: 'constructor' },
    ...WRONG_TYPES.map((type) => ({ type, text: 'Hi', callId: 'c' })),
    { type: 'user.message', text: ['Hi'] },
    { type: 'user.message', text: { toString: 'Hi' } },
    { type: 'client_tool.result', callId: ['c'] },
    { type: 'client_tool.result', callId: 7 },
    { type: 'user.interrupt\0' },
    { type: ' user.interrupt' },
    { type: 'USER.INTERRUPT' },
    [{ type: 'user.interrupt' }],
    [],
    null,
    7,
    {},
  ];
  for (const event of none) t.equal(read(event), undefined, JSON.stringify(event));
  t.equal(readClientEvent(Buffer.from('{')), undefined);
  t.equal(readClientEvent(Buffer.alloc(70_000, 0x20)), undefined, 'too long');
});

t.test("long tool results are cut in the agent's events, which say so", async (t) => {
  const note = { callId: 'c', toolName: 'T', toolSource: 'webhook' };
  const long = 'x'.repeat(5000);
  exactly(t, AGENT_EVENTS.toolStarted(note, long), { inputTruncated: true });
  t.equal((AGENT_EVENTS.toolStarted(note, long) as { input?: string }).input?.length, 4096);
  t.notOk('outputTruncated' in AGENT_EVENTS.toolCompleted(note, 'short'));
  t.equal(AGENT_EVENTS.toolFailed(note, long).error.length, 4096);
  t.equal(AGENT_EVENTS.ended('gone').reason, 'user_hangup');
});

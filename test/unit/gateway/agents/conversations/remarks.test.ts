/** What goes wrong around a conversation though it goes on has a line in the log that names its part, and quotes nobody. */
import t from '../../../../fixtures/tap.js';
import type { OutboundRequest } from '../../../../../contracts/ports/outbound.js';
import { ContextExceeded } from '../../../../../contracts/ports/chat.js';
import { LIMITS } from '../../../../../contracts/limits.js';
import { ONLINE_TIMES } from '../../../../../contracts/limits/online-times.js';
import { SimulatedClock } from '../../../../fixtures/clock.js';
import { exactly } from '../../../../fixtures/exactly.js';
import {
  type Answer,
  type HostedOptions,
  inTurn,
  joined,
  saying,
  webhookTool,
} from '../../../../fixtures/conversation/hosted.js';
import { recordingLog } from '../../../../fixtures/processes/tools.js';
import { until } from '../../../../fixtures/until.js';

const SECRET = 'four-two';

const looks = (asText = false): Answer =>
  async function* () {
    const calls = [{ id: 'a', name: 'look', arguments: '{}' }];
    yield { kind: 'calls', calls, ...(asText && { asText: true }) };
  };

const outgrown: Answer = () => ({
  [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(new ContextExceeded(0.5)) }),
});

const cut: Answer = async function* () {
  yield { kind: 'text', text: SECRET };
  yield { kind: 'cut', why: 'length' };
};

/** Rejects as a request does that is cut off. */
const cutWith = ({ signal }: OutboundRequest, reject: (why: unknown) => void): void =>
  signal?.addEventListener('abort', () => reject(signal.reason));

/** The lines about a part in a conversation in which somebody asks something. */
async function linesOf(options: HostedOptions, items: number): Promise<readonly object[]> {
  const log = recordingLog();
  const hosted = joined(t, { ...options, log });
  await hosted.type('What is it?', items);
  return log.lines.filter(({ fields }) => 'part' in fields);
}

const using = (
  toolSays: NonNullable<HostedOptions['toolSays']>,
  more: Partial<HostedOptions> = {},
): HostedOptions => ({
  ...{ answer: inTurn(looks(), saying('Well.')), tools: [webhookTool('look')], toolSays, ...more },
});

t.test('what is odd around a conversation is said in the log, by its part', async (t) => {
  const rows: readonly [HostedOptions, number, object][] = [
    [{ answer: cut }, 2, { part: 'model', cut: 'length' }],
    [{ answer: inTurn(outgrown, saying('Well.')) }, 2, { part: 'model' }],
    [
      using(() => Promise.resolve(SECRET), { answer: inTurn(looks(true), saying('Well.')) }),
      4,
      { part: 'model' },
    ],
    [using(() => Promise.reject(new Error(SECRET))), 4, { part: 'tool', tool: 'look', reason: 'internal' }],
    [
      using(() => Promise.resolve(SECRET.repeat(1 + LIMITS.session.toolOutputBytes / SECRET.length))),
      4,
      { part: 'tool', tool: 'look' },
    ],
  ];
  for (const [options, items, fields] of rows) {
    const lines = await linesOf(options, items);
    exactly(t, lines, [{ level: 'warn', fields }]);
    t.equal(lines.length, 1);
    t.notMatch(JSON.stringify(lines), SECRET);
  }
  t.same(
    await linesOf(
      using(() => Promise.resolve(SECRET)),
      4,
    ),
    [],
    'a tool that answers is not',
  );
});

t.test('a lookup that the user cuts off is no failure of the tool', async (t) => {
  const log = recordingLog();
  const hosted = joined(t, {
    ...using((request) => new Promise((_, reject) => cutWith(request, reject))),
    log,
  });
  hosted.client({ type: 'user.message', text: 'What is it?' });
  await until('it is called', () => hosted.requests.length > 0);
  hosted.client({ type: 'user.interrupt' });
  await until('it is cut off', () => hosted.items.some(({ type }) => type === 'tool_result'));
  t.same(log.lines, []);
});

t.test('a tool that keeps somebody waiting is said in the log', async (t) => {
  const [log, clock] = [recordingLog(), new SimulatedClock()];
  let answers = (_text: string): void => undefined;
  const hosted = joined(t, { ...using(() => new Promise((resolve) => (answers = resolve))), log, clock });
  hosted.client({ type: 'user.message', text: 'What is it?' });
  await until('it is called', () => hosted.requests.length > 0);
  clock.advance(ONLINE_TIMES.tool.slowMs + 1);
  answers(SECRET);
  await until('it is said', () => log.lines.length > 0);
  exactly(t, log.lines, [{ fields: { part: 'tool', tool: 'look' } }]);
  let isOver = false;
  void hosted.over().then(() => (isOver = true));
  await until('it is over', () => (clock.advance(1000), isOver));
});

/** An agent's fixed lines, made ahead so that no engine is needed when they are due (gateway/agents/conversations/spoken-lines.ts). */
import t from '../../../../fixtures/tap.js';
import { LIMITS } from '../../../../../contracts/limits.js';
import { CallLines, SpokenLines } from '../../../../../gateway/agents/conversations/spoken-lines.js';
import type { AgentVoice } from '../../../../../gateway/agents/conversations/utterance.js';
import { exactly } from '../../../../fixtures/exactly.js';

/** A voice that notes what it says, until it is `away`. */
function voice(said: string[], state: { away: boolean } = { away: false }): AgentVoice {
  return {
    speech: {
      async *synthesizeTimed({ text }: { readonly text: AsyncIterable<{ readonly text?: string }> }) {
        for await (const part of text) said.push(part.text ?? '');
        if (state.away) throw new Error('away');
        yield { audio: new Uint8Array(200) };
      },
    },
    options: { voice: 'ada' },
    caller: { workspaceId: 'w', keyId: 'k' },
    substituted: () => undefined,
  } as unknown as AgentVoice;
}

t.test('lines that were made ahead are said though the voice is gone', async (t) => {
  const said: string[] = [];
  const state = { away: false };
  const lines = new CallLines(new SpokenLines());
  await lines.prepare(voice(said, state), ['One moment.', '', 'Sorry.', 'One moment.']);
  t.strictSame(said, ['One moment.', 'Sorry.'], 'each once');
  state.away = true;
  for (const text of ['Sorry.', 'One moment.'])
    exactly(t, await lines.of(voice(said, state), text), { text });
  t.equal(said.length, 2, 'nobody is asked');
});

t.test('a line that could not be made ahead is made when it is due', async (t) => {
  const said: string[] = [];
  const state = { away: true };
  const lines = new CallLines(new SpokenLines());
  await lines.prepare(voice(said, state), ['Sorry.']);
  await t.rejects(lines.of(voice(said, state), 'Sorry.'));
  state.away = false;
  t.equal((await lines.of(voice(said, state), 'Sorry.')).samples.length, 100);
});

const MOST = LIMITS.session.spokenLines;
const others = Array.from({ length: MOST }, (_, at) => `line ${at}`);

t.test('the lines of voices that were not heard for long are forgotten', async (t) => {
  const said: string[] = [];
  const lines = new SpokenLines();
  for (const text of ['first', ...others]) await lines.of(voice(said), text);
  await lines.of(voice(said), 'line 1');
  t.equal(said.length, MOST + 1);
  await lines.of(voice(said), 'first');
  t.equal(said.at(-1), 'first', 'it is made again');
});

t.test('a call keeps its own, however many others there are', async (t) => {
  const said: string[] = [];
  const shared = new SpokenLines();
  const [one, other] = [new CallLines(shared), new CallLines(shared)];
  await one.prepare(voice(said), ['Sorry.']);
  await other.prepare(voice(said), ['Sorry.', ...others]);
  t.equal(said.length, MOST + 1, 'those that both have are made once');
  await one.of(voice(said), 'Sorry.');
  t.equal(said.length, MOST + 1);
});

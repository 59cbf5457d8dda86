/** An agent's fixed lines, made ahead so that no engine is needed when they are due (gateway/conversations/spoken-lines.ts). */
import t from 'tap';
import { LIMITS } from '../../contracts/limits.js';
import { SpokenLines } from '../../gateway/conversations/spoken-lines.js';
import type { AgentVoice } from '../../gateway/conversations/utterance.js';

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
  const lines = new SpokenLines();
  await lines.prepare(voice(said, state), ['One moment.', '', 'Sorry.', 'One moment.']);
  t.strictSame(said, ['One moment.', 'Sorry.'], 'each once');
  state.away = true;
  for (const text of ['Sorry.', 'One moment.']) t.match(await lines.of(voice(said, state), text), { text });
  t.equal(said.length, 2, 'nobody is asked');
});

t.test('a line that could not be made ahead is made when it is due', async (t) => {
  const said: string[] = [];
  const state = { away: true };
  const lines = new SpokenLines();
  await lines.prepare(voice(said, state), ['Sorry.']);
  await t.rejects(lines.of(voice(said, state), 'Sorry.'));
  state.away = false;
  t.equal((await lines.of(voice(said, state), 'Sorry.')).samples.length, 100);
});

t.test('the lines of voices that were not heard for long are forgotten', async (t) => {
  const said: string[] = [];
  const lines = new SpokenLines();
  const texts = Array.from({ length: LIMITS.session.spokenLines + 1 }, (_, at) => `line ${at}`);
  await lines.prepare(voice(said), texts);
  await lines.of(voice(said), 'line 1');
  t.equal(said.length, texts.length);
  await lines.of(voice(said), 'line 0');
  t.equal(said.at(-1), 'line 0', 'it is made again');
});

/** An agent's fixed lines, made ahead so that no engine is needed when they are due (gateway/agents/conversations/spoken-lines.ts). */
import t from '../../../../fixtures/tap.js';
import { UNBOUNDED_MEMORY } from '../../../../../contracts/ports/accounts/memory.js';
import { SpeechShelves } from '../../../../../engines/kept-speech.js';
import { CallLines, SpokenLines } from '../../../../../gateway/agents/conversations/spoken-lines.js';
import type { AgentVoice } from '../../../../../gateway/agents/conversations/utterance.js';
import { SimulatedClock } from '../../../../fixtures/clock.js';
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

t.test('lines are made once for all calls of a workspace, also at the same time', async (t) => {
  const said: string[] = [];
  const lines = new SpokenLines(new SpeechShelves(UNBOUNDED_MEMORY, new SimulatedClock()));
  const both = await Promise.all([lines.of(voice(said), 'Sorry.'), lines.of(voice(said), 'Sorry.')]);
  const [first, second] = both;
  t.equal(first.samples, second.samples);
  t.equal((await lines.of(voice(said), 'Sorry.')).samples, first.samples, 'kept');
  t.strictSame(said, ['Sorry.']);
  await lines.of({ ...voice(said), caller: { workspaceId: 'other', keyId: 'k' } }, 'Sorry.');
  t.strictSame(said, ['Sorry.', 'Sorry.'], 'never for another workspace');
});

t.test('a call keeps its own, though the workspace’s speech is forgotten', async (t) => {
  const said: string[] = [];
  const kept = new SpeechShelves(UNBOUNDED_MEMORY, new SimulatedClock());
  const shared = new SpokenLines(kept);
  const [one, other] = [new CallLines(shared), new CallLines(shared)];
  await one.prepare(voice(said), ['Sorry.']);
  kept.forget();
  await one.of(voice(said), 'Sorry.');
  t.strictSame(said, ['Sorry.']);
  await other.prepare(voice(said), ['Sorry.']);
  t.strictSame(said, ['Sorry.', 'Sorry.'], 'made again for the next call');
});

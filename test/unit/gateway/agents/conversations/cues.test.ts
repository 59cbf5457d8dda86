/** Cues for the delivery in what an agent writes: for the voice alone. */
import t from '../../../../fixtures/tap.js';
import { isTag } from '../../../../../engines/text/style-tags.js';
import {
  CUES,
  CuedText,
  followsCues,
  withoutCues,
} from '../../../../../gateway/agents/conversations/cues.js';
import { CALL_SPEECH } from '../../../../../gateway/agents/conversations/call-speech.js';
import {
  Hosted,
  type HostedOptions,
  inTurn,
  saying,
  webhookTool,
} from '../../../../fixtures/conversation/hosted.js';
import { seeded } from '../../../../fixtures/random.js';
import { until } from '../../../../fixtures/until.js';

t.test('engines know every cue that the model is offered', async (t) => {
  for (const cue of CUES) t.ok(isTag(cue, true), cue);
});

/** What a model writes, what the voice is given, and what was said. */
const TEXTS: readonly (readonly [text: string, spoken: string, said: string])[] = [
  ['Hello there.', 'Hello there.', 'Hello there.'],
  ['[happy] Hello there.', '[happy] Hello there.', 'Hello there.'],
  ['Oh. [laughing] Right, [sighing] well.', 'Oh. [laughing] Right, [sighing] well.', 'Oh. Right, well.'],
  ['Wait[short pause] here.', 'Wait[short pause] here.', 'Wait here.'],
  ['[Happy][laughing] Yes', '[Happy][laughing] Yes', 'Yes'],
  ['[smiles warmly] Yes', ' Yes', 'Yes'],
  ['Sure. [lächelt]', 'Sure. ', 'Sure. '],
  ['(laughing) Yes (of course).', '(laughing) Yes (of course).', 'Yes (of course).'],
  ['Press [1], a[i] or [our page](https://a.example).', 'Press [1], a[i] or [our page](https://a.example).', 'Press [1], a[i] or [our page](https://a.example).'],
  ['An open [brack', 'An open [brack', 'An open [brack'],
  ['[laughing]', '[laughing]', ''],
]; // oxfmt-ignore

/** The text in random parts. */
function partsOf(text: string, random: () => number): string[] {
  if (text === '') return [];
  const length = 1 + Math.floor(random() * 5);
  return [text.slice(0, length), ...partsOf(text.slice(length), random)];
}

t.test('the voice is given them, and what was said has none, however the text arrives', async (t) => {
  const random = seeded(7);
  for (const [text, spoken, said] of TEXTS) {
    t.equal(withoutCues(text), said, text);
    for (let round = 0; round < 20; round += 1) {
      const cued = new CuedText();
      const parts = [...partsOf(text, random).map((part) => cued.add(part)), cued.rest()];
      t.equal(parts.map((part) => part.spoken).join(''), spoken, text);
      t.equal(parts.map((part) => part.written).join(''), said, text);
      t.equal(cued.writtenAt(spoken.length), said.length, text);
      const at = Math.floor(random() * spoken.length);
      t.ok(cued.writtenAt(at) <= Math.min(at, said.length), text);
    }
  }
});

t.test('as much was said as was heard before the place in the spoken text', async (t) => {
  const cued = new CuedText();
  cued.add('Oh. [laughing] Right.');
  const heard = (spoken: string): string => 'Oh. Right.'.slice(0, cued.writtenAt(spoken.length));
  t.equal(heard('Oh.'), 'Oh.');
  t.equal(heard('Oh. [laugh'), 'Oh. ');
  t.equal(heard('Oh. [laughing] Ri'), 'Oh. Ri');
});

const CUED = '[happy] It is ready. [laughing] Come by.';

/** A call with an agent that writes cues, whose engine follows them or not. */
function expressive(
  t: ConstructorParameters<typeof Hosted>[0],
  follows: boolean,
  options: HostedOptions = {},
) {
  const hosted = new Hosted(t, { answer: saying(CUED), cues: follows, ...options });
  hosted.happen({ kind: 'connected' });
  return hosted;
}

const shownIn = ({ shown }: Hosted): string =>
  shown.flatMap((each) => (each.speaker === 'agent' ? [each.text] : [])).join('');

t.test('neither captions nor record nor the model’s history have them, spoken or written', async (t) => {
  for (const aloud of [true, false]) {
    const hosted = expressive(t, true);
    await hosted.type('Is it?', 2, aloud);
    await hosted.type('When?', 4, aloud);
    const said = 'It is ready. Come by.';
    t.same(hosted.messages.slice(0, 2), ['user: Is it?', `assistant: ${said}`]);
    t.equal(shownIn(hosted).replaceAll(/\s+/gu, ' ').trim(), `${said}${said}`);
    const [, again = []] = hosted.asked;
    t.ok(again.some(({ content }) => content === said));
    t.notOk(again.some(({ role, content }) => role === 'assistant' && content.includes('[')));
    t.same(hosted.spoken.join('').includes('[laughing]'), aloud, 'the voice is given them');
  }
});

t.test('nor has a step that calls a tool, nor one that is broken off', async (t) => {
  const calls = [{ id: 'a', name: 'look', arguments: '{}' }];
  const looks = inTurn(async function* () {
    yield { kind: 'text', text: '[curious] Let me look. [laug' };
    yield { kind: 'text', text: 'hing]' };
    yield { kind: 'calls', calls };
  }, saying(CUED));
  const hosted = expressive(t, true, { answer: looks, tools: [webhookTool('look')] });
  await hosted.type('Is it?', 5);
  t.ok(hosted.messages.includes('assistant: Let me look.'));
  const [, again = []] = hosted.asked;
  t.ok(again.some(({ role, content }) => role === 'assistant' && content === 'Let me look.'));
});

t.test('the model is told of them only where the engine follows them', async (t) => {
  const isTold = async (hosted: Hosted): Promise<boolean> => {
    await until('it is asked', () => hosted.asked.length > 0);
    return JSON.stringify(hosted.asked[0]).includes('[laughing]');
  };
  for (const [follows, told] of [
    [true, true],
    [false, false],
  ] as const) {
    const hosted = expressive(t, follows, { answer: saying('Yes.') });
    hosted.client({ type: 'user.message', text: 'Is it?' });
    t.equal(await isTold(hosted), told);
  }
  const plain = new Hosted(t);
  plain.happen({ kind: 'connected' });
  plain.client({ type: 'user.message', text: 'Is it?' });
  t.equal(await isTold(plain), false);
});

/** An engine that makes no sound of a cue alone. */
const quiet: NonNullable<HostedOptions['speech']> = {
  async *synthesizeTimed({ text }) {
    let all = '';
    const parts = typeof text === 'string' ? [{ kind: 'text', text } as const] : text;
    for await (const part of parts) if (part.kind === 'text') all += part.text;
    const piece = { index: 0, at: 0, text: all, offset: 0, duration: 0.1, complete: true, words: undefined };
    if (withoutCues(all) !== '') yield { audio: new Uint8Array(4800), piece, end: 0.1 };
  },
};

t.test('an answer of nothing but a cue, of which nothing is heard, is excused', async (t) => {
  const hosted = expressive(t, true, { answer: saying('[sighing]'), speech: quiet });
  await hosted.type('Is it?', 2);
  t.match(hosted.messages[1], /^assistant: Sorry/);
});

t.test('whether a voice follows them is what its engine says; a voice that is gone does not', async (t) => {
  const caller = { workspaceId: 'workspace' };
  for (const styleTags of [true, false]) {
    const speech = { checkVoice: () => Promise.resolve({ styleTags }) };
    t.equal(await followsCues(speech, CALL_SPEECH, caller), styleTags);
  }
  const gone = { checkVoice: () => Promise.reject(new Error('gone')) };
  t.equal(await followsCues(gone, CALL_SPEECH, caller), false);
});

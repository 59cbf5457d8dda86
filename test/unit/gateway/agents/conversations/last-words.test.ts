/** What is recorded of a user's words that are understood only after the end of the call. */
import t from '../../../../fixtures/tap.js';
import { LastWords } from '../../../../../gateway/agents/conversations/last-words.js';

const heard = (span: number, text: string, final = true) => ({ span, text, final });

function lastWords() {
  const recorded: string[] = [];
  return { recorded, words: new LastWords((text) => void recorded.push(text)) };
}

t.test('words that are understood after the end are recorded, and guesses are not', async (t) => {
  const { recorded, words } = lastWords();
  words.heard(heard(1, 'Good', false));
  words.heard(heard(1, 'Goodbye.'));
  t.strictSame(recorded, ['Goodbye.']);
});

t.test(
  'half a second of voice without words is unclear, and so is one that nobody has transcribed',
  async (t) => {
    const { recorded, words } = lastWords();
    words.owe([{ span: 1, from: 1000, voicedMs: 500 }], 3000);
    words.heard(heard(1, ''));
    t.strictSame(recorded, ['(unclear)']);
    words.owe([{ span: 2, from: 1000, voicedMs: 0 }], 1500);
    words.heard(heard(3, 'Goodbye.'));
    words.close();
    words.close();
    t.strictSame(recorded, ['(unclear)', 'Goodbye.', '(unclear)']);
  },
);

t.test('unclear voices in a row are one mark', async (t) => {
  const { recorded, words } = lastWords();
  words.owe(
    [1, 2, 3].map((span) => ({ span, from: 0, voicedMs: 700 })),
    3000,
  );
  words.heard(heard(1, ''));
  words.heard(heard(2, ''));
  words.close();
  t.strictSame(recorded, ['(unclear)']);
});

t.test('a cough, an echo of the agent, and a voice that is not owed leave no mark', async (t) => {
  const { recorded, words } = lastWords();
  words.owe(
    [
      { span: 1, from: 0, voicedMs: 499 },
      { span: 2, from: 2600, voicedMs: 0 },
    ],
    3000,
  );
  words.owe([{ span: 3, from: 0, voicedMs: 700 }], 3000);
  words.heard({ ...heard(3, ''), echo: true });
  for (const span of [1, 2, 4]) words.heard(heard(span, ''));
  words.close();
  t.strictSame(recorded, []);
});

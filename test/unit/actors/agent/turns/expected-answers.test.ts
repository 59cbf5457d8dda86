/** Answers to what the agent has asked for: how much of one a text is, in four languages, and when it ends the turn. */
import t from '../../../../fixtures/tap.js';
import {
  type AnswerPart,
  answerPart,
  type AskedFor,
  type Question,
} from '../../../../../actors/agent/turns/expected-answers.js';
import { delaysOf, ENDPOINTING_MS, FULFILLING_MS } from '../../../../../actors/agent/turns/endpointing.js';
import { USUAL_PACE } from '../../../../../actors/agent/turns/pace.js';
import { Steps } from '../../../../fixtures/actors/agent-steps.js';

const asking = (wants: readonly AskedFor[], digits?: number): Question => ({
  isQuestion: true,
  wants,
  digits,
});

type Row = readonly [language: string, wants: AskedFor, text: string, part: AnswerPart | undefined];

const ROWS: readonly Row[] = [
  ['en', 'choice', 'Yes,', 'whole'],
  ['en', 'choice', 'No, thank you.', 'whole'],
  ['en', 'choice', 'Yes, but not today.', undefined],
  ['de', 'choice', 'Ja, gerne.', 'whole'],
  ['es', 'choice', 'Sí, claro.', 'whole'],
  ['fr', 'choice', 'Oui, bien sûr.', 'whole'],
  ['en', 'count', 'Four.', 'whole'],
  ['en', 'count', '4', 'whole'],
  ['en', 'count', 'Four of us.', 'whole'],
  ['en', 'count', 'Four and', undefined],
  ['en', 'count', 'We are four and a dog.', undefined],
  ['de', 'count', 'Zu viert.', undefined],
  ['de', 'count', 'Zwei Personen.', 'whole'],
  ['es', 'count', 'Cuatro personas.', 'whole'],
  ['fr', 'count', 'Trois.', 'whole'],
  ['en', 'date', 'Next week on Thursday.', 'short'],
  ['en', 'date', 'At seven.', 'short'],
  ['en', 'date', 'On the', undefined],
  ['en', 'date', 'I would rather come on Thursday.', undefined],
  ['de', 'date', 'Am dritten Mai.', 'short'],
  ['es', 'date', 'El jueves.', 'short'],
  ['fr', 'date', 'Jeudi prochain.', 'short'],
  ['en', 'email', 'Jane dot Doe at example dot com.', 'whole'],
  ['en', 'email', 'jane.doe@example.com', 'whole'],
  ['en', 'email', "It's jane@example. org.", 'whole'],
  ['en', 'email', 'Jane dot Doe.', 'part'],
  ['en', 'email', 'Jane dot Doe at.', 'part'],
  ['en', 'email', 'jane@example', 'part'],
  ['en', 'email', 'I do not have one.', undefined],
  ['de', 'email', 'anna punkt berg at beispiel punkt de', 'whole'],
  ['de', 'email', 'anna punkt berg', 'part'],
  ['es', 'email', 'ana arroba ejemplo punto es', 'whole'],
  ['es', 'email', 'ana arroba ejemplo', 'part'],
  ['fr', 'email', 'anne arobase exemple point fr', 'whole'],
  ['fr', 'email', 'anne arobase', 'part'],
  ['en', 'spelling', 'K, A, Y, E.', 'open'],
  ['en', 'name', 'Kaye, K. A. Y. E.', 'whole'],
  ['en', 'name', 'Kaye, K. A. Y.', 'open'],
  ['en', 'name', 'Katherine Bell.', undefined],
  ['de', 'name', 'Maier, M-A-I-E-R', 'whole'],
  ['ja', 'choice', 'はい', undefined],
  ['en', 'choice', '', undefined],
];

t.test('a text is so much of the answer to what was asked for', async (t) => {
  for (const [language, wants, text, part] of ROWS)
    t.equal(answerPart(text, language, asking([wants])), part, `${language}, ${wants}: ${text}`);
});

t.test('a number is whole with as many figures as were asked for, and less is a part of it', async (t) => {
  const NUMBERS: readonly (readonly [string, string, AnswerPart | undefined])[] = [
    ['en', 'Four five six seven.', 'whole'],
    ['en', 'It is 4567.', 'whole'],
    ['en', 'Four five.', 'part'],
    ['en', '4 5 6', 'part'],
    ['en', 'Four five six seven eight.', undefined],
    ['en', 'Forty five sixty seven.', undefined],
    ['en', 'I do not know.', undefined],
    ['de', 'vier fünf sechs sieben', 'whole'],
    ['es', 'cuatro cinco', 'part'],
    ['fr', 'quatre cinq six sept', 'whole'],
  ];
  for (const [language, text, part] of NUMBERS)
    t.equal(answerPart(text, language, asking(['number'], 4)), part, `${language}: ${text}`);
  t.equal(answerPart('Four five.', 'en', asking(['number'])), undefined, 'of an unknown length');
});

t.test('what counts first was asked for first, and nothing does where nothing was asked for', async (t) => {
  t.equal(answerPart('Four.', 'en', asking(['count', 'choice'])), 'whole');
  t.equal(answerPart('Yes.', 'en', asking(['email', 'choice'])), 'whole', 'an answer to another part');
  t.equal(answerPart('Yes.', 'en', asking([])), undefined);
});

/** Ends of turns in a call in which the agent has asked for that. */
function ends(wants: readonly AskedFor[], text: string, digits?: number): string[] {
  const steps = new Steps().type('Hello.').job('audible').pass(1000);
  steps.send({ type: 'asked', ...asking(wants, digits) }).job('ended');
  return steps.say(text).pass(4000).took('endOfTurn');
}

t.test('a whole answer ends the turn soonest, and one that lacks a part last', async (t) => {
  const { balanced } = ENDPOINTING_MS;
  const soonest = `endOfTurn tables complete ${FULFILLING_MS.balanced}`;
  t.strictSame(ends(['choice'], 'Yes.'), [soonest]);
  t.strictSame(ends(['count'], 'Seven.'), [soonest]);
  t.strictSame(ends(['number'], 'Four five six seven.', 4), [soonest]);
  t.strictSame(ends(['number'], 'Four five.', 4), [`endOfTurn tables unfinished ${balanced.unfinished}`]);
  t.strictSame(ends(['email'], 'Jane dot Doe.'), [`endOfTurn tables unfinished ${balanced.unfinished}`]);
  t.strictSame(ends(['date'], 'Next week on Thursday.'), ['endOfTurn tables likely 480']);
  t.strictSame(ends([], 'Yes.'), [`endOfTurn tables complete ${balanced.complete}`]);
});

t.test('the parts of an answer count together', async (t) => {
  const steps = new Steps().type('Hello.').job('audible').pass(1000);
  steps.send({ type: 'asked', ...asking(['number'], 4) }).job('ended');
  steps.say('Four five.').pass(1500).say('Six seven.').pass(4000);
  const [end] = steps.took('endOfTurn');
  t.match(end, /^endOfTurn tables complete \d+$/);
});

t.test('a whole answer waits less than any other turn, at every eagerness', async (t) => {
  for (const eagerness of ['eager', 'balanced', 'relaxed'] as const) {
    const fulfils = delaysOf(eagerness, USUAL_PACE, { fulfils: true });
    t.equal(fulfils.complete, FULFILLING_MS[eagerness]);
    t.ok(fulfils.complete < delaysOf(eagerness, USUAL_PACE).complete);
  }
});

/**
 * Tests by voice without media: what a simulated caller says and when, what it hears, and what is measured. Time advances
 * with the sound that the test plays.
 */
import t from '../../../../../fixtures/tap.js';
import { pausesIn } from '../../../../../../contracts/speech/pauses.js';
import type { CallerLine } from '../../../../../../contracts/ports/agents/test-callers.js';
import { partsOf, wordsOf } from '../../../../../../gateway/agents/agent-tests/voice/caller-speech.js';
import { VOICE_RULES } from '../../../../../../gateway/agents/agent-tests/voice/checks.js';
import { AgentSpans } from '../../../../../../gateway/agents/agent-tests/voice/agent-spans.js';
import {
  ANSWER_MS,
  type Interruption,
  Talk,
} from '../../../../../../gateway/agents/agent-tests/voice/talk.js';
import { type CallerTurn, measured } from '../../../../../../gateway/agents/agent-tests/voice/timeline.js';
import { Answering, loud, silent } from '../../../../../fixtures/agent-tests/answering-line.js';
import { exactly } from '../../../../../fixtures/exactly.js';

const turn = (from: number, to: number, more: Partial<CallerTurn> = {}): CallerTurn => ({
  ...{ text: '', from, to, interrupts: false, backchannel: false, unanswered: false },
  ...more,
});

t.test("a line's pauses are where it marks them, else one is in the middle", async (t) => {
  const line = 'I would like <break time="800ms"/> a table.';
  t.equal(wordsOf(line), 'I would like a table.');
  t.same(pausesIn('a <break time="1.5s"/> b'), [1500]);
  t.same(partsOf(line, 300), [{ text: 'I would like' }, { pauseMs: 800 }, { text: 'a table.' }]);
  t.same(partsOf('one two three four', 300), [{ text: 'one two' }, { pauseMs: 300 }, { text: 'three four' }]);
  t.same(partsOf('Too short', 300), [{ text: 'Too short' }]);
});

t.test("the agent's audio is cut at silences longer than those between sentences", async (t) => {
  const voice = new AgentSpans();
  const plan = [
    ...Array(5).fill(silent),
    ...Array(10).fill(loud),
    ...Array(4).fill(silent),
    ...Array(3).fill(loud),
  ];
  let at = 0;
  for (const samples of [...plan, ...Array(7).fill(silent), loud] as Int16Array[])
    voice.take((at += 100), samples);
  exactly(t, voice.ended, [{ from: 500, to: 2200 }]);
  t.equal(voice.since, 2900);
  t.equal(voice.last, 3000);
});

t.test(
  "a call's figures count answers, silences, talking over, interruptions and unanswered turns",
  async (t) => {
    const turns = [
      turn(1000, 2000),
      turn(4000, 5000, { interrupts: true }),
      turn(9000, 10_000, { unanswered: true }),
    ];
    const spans = [
      { from: 2900, to: 4350 },
      { from: 6000, to: 7000 },
    ];
    const figures = measured(turns, spans);
    exactly(t, figures, {
      answers: [900, 1000],
      silences: [350],
      unheeded: 0,
      talkOver: 350,
      interrupted: 0,
      unanswered: 1,
    });
    const cutOff = measured([turn(1000, 3000)], [{ from: 2000, to: 3500 }]);
    exactly(t, cutOff, { answers: [-1000], interrupted: 1, talkOver: 1000 });
    const unheeded = measured([turn(1000, 2000, { interrupts: true })], [{ from: 0, to: 9000 }]);
    exactly(t, unheeded, { unheeded: 1, talkOver: 1000 });
    exactly(t, measured([turn(1000, 1300, { backchannel: true })], [{ from: 0, to: 9000 }]), {
      answers: [],
      talkOver: 0,
    });
  },
);

t.test('each rule by voice holds for good figures and fails for bad ones', async (t) => {
  const good = measured([turn(0, 1000), turn(3000, 4000, { interrupts: true })], [{ from: 1800, to: 3300 }]);
  const bad = measured([turn(0, 1000, { unanswered: true }), turn(3000, 5000)], [{ from: 4000, to: 5900 }]);
  const holds = (type: keyof typeof VOICE_RULES, figures: typeof good, ms = 900) =>
    VOICE_RULES[type]({ type, ms }, figures).passed;
  for (const type of Object.keys(VOICE_RULES) as (keyof typeof VOICE_RULES)[]) {
    t.ok(holds(type, good), type);
    if (type !== 'answers_within') t.notOk(holds(type, bad), type);
  }
  t.notOk(holds('answers_within', good, 700));
  t.notOk(holds('answers_within', measured([], [])), 'nothing was answered');
  t.notOk(holds('silent_within', measured([turn(0, 1000)], [])), 'nobody interrupted');
});

const talk = (
  line: CallerLine,
  lines: readonly string[],
  interruptions: readonly Interruption[] = [],
  opens = false,
) => {
  const waiting = [...lines];
  return new Talk({
    ...{ line, interruptions, most: 10, wordsOf, opens },
    next: () => Promise.resolve(waiting.shift()),
    speak: () => Promise.resolve(new Int16Array(1000)),
  }).run();
};

t.test(
  'the caller says its lines one after the other, each when the agent has finished, and hangs up',
  async (t) => {
    const talked = await talk(new Answering(), ['One', 'Two']);
    exactly(t, talked, { endedBy: 'user', turns: [{ text: 'One' }, { text: 'Two' }] });
    t.equal(talked.spans.length, 2);
    t.ok(
      (talked.turns[1]?.from ?? 0) > (talked.spans[0]?.to ?? Infinity),
      'it waits until the agent has finished',
    );
    exactly(t, measured(talked.turns, talked.spans), { talkOver: 0, interrupted: 0, unanswered: 0 });
  },
);

t.test('the caller interrupts an answer once, after the given time', async (t) => {
  const talked = await talk(new Answering(), ['One'], [{ turn: 1, after_ms: 1000, say: 'Stop' }]);
  exactly(t, talked.turns, [
    { text: 'One', interrupts: false },
    { text: 'Stop', interrupts: true },
  ]);
  const [answer] = talked.spans;
  t.equal((talked.turns[1]?.from ?? 0) - (answer?.from ?? 0), 1000);
});

t.test('a caller who gets no answer goes on after a bounded wait', async (t) => {
  const talked = await talk(new Answering({ answerMs: 0 }), ['One', 'Two']);
  exactly(t, talked.turns, [{ unanswered: true }, { unanswered: true }]);
  const [one, two] = talked.turns;
  t.ok((two?.from ?? 0) - (one?.to ?? 0) >= ANSWER_MS);
});

t.test('a line of pauses only is a silence, which is no turn and needs no answer', async (t) => {
  const line = new Answering({ answerMs: 0 });
  const talked = await talk(line, ['<break time="5s"/>', 'One']);
  exactly(t, talked.turns, [{ text: 'One' }]);
  t.equal(talked.turns.length, 1);
  const [silence, said] = line.said;
  t.ok((said?.from ?? Infinity) - (silence?.to ?? 0) < ANSWER_MS, 'it goes on at once');
});

t.test('the caller waits for an agent that is to open, and hears it out', async (t) => {
  const [late, silentAgent] = [new Answering({ opensAfterMs: 6000 }), new Answering()];
  const talked = await talk(late, ['One'], [], true);
  t.ok((talked.turns[0]?.from ?? 0) > (talked.spans[0]?.to ?? Infinity));
  const alone = await talk(silentAgent, ['One'], [], true);
  t.ok((alone.turns[0]?.from ?? 0) >= ANSWER_MS);
});

t.test('the caller does not speak before the agent says that it listens', async (t) => {
  const line = new Answering({ state: 'thinking' });
  const talked = await talk(line, ['One']);
  t.ok((talked.turns[0]?.from ?? 0) >= ANSWER_MS);
});

t.test('an interruption that comes too late is left out, and so are those behind it', async (t) => {
  const late = { turn: 1, after_ms: 9000, say: 'Late' };
  const talked = await talk(new Answering(), ['One'], [late, { turn: 1, after_ms: 500, say: 'Also late' }]);
  exactly(t, talked.turns, [{ text: 'One' }]);
  t.equal(talked.turns.length, 1);
});

t.test('a conversation ends when the caller has said its most lines', async (t) => {
  const talked = await talk(new Answering(), Array<string>(11).fill('One'));
  exactly(t, talked, { endedBy: 'turn_limit' });
  t.equal(talked.turns.length, 10);
});

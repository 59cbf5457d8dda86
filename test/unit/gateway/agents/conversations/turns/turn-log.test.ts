/** The rows that explain turns, as scenarios on the simulated clock: times of all steps, and reasons of interruptions. */
import t from '../../../../../fixtures/tap.js';
import type { AgentSettings } from '../../../../../../actors/agent/settings.js';
import { TIMES } from '../../../../../../actors/agent/times.js';
import { LATENCY_PARTS, type LatencyParts, type Turn } from '../../../../../../contracts/sessions/turns.js';
import { Walk } from '../../../../../fixtures/actors/agent-walk.js';
import { exactly } from '../../../../../fixtures/exactly.js';
import { shortOrLong } from '../../../../../fixtures/long.js';
import { TurnScene } from '../../../../../fixtures/actors/turn-scene.js';
import { TurnLog } from '../../../../../../gateway/agents/conversations/turns/turn-log.js';
import type { TurnEvent } from '../../../../../../gateway/agents/conversations/turns/turn-events.js';
import { NOTICED_MS } from '../../../../../../gateway/agents/conversations/turns/turn-row.js';

/** Answers of 3.6 s, and of half a minute more than a client may be away. */
const LONG = 'one two three four five six seven eight nine ten eleven twelve';
const VERY_LONG = Array(200).fill('word').join(' ');

const sumOf = (parts: LatencyParts): number => LATENCY_PARTS.reduce((sum, part) => sum + parts[part], 0);

/** A turn log with events at given times. */
function logged(...story: readonly (readonly [at: number, event: TurnEvent])[]) {
  const kept = new Map<number, Turn>();
  const phases: string[] = [];
  const log = new TurnLog(
    1_000_000,
    () => 7,
    (turn, phase) => {
      kept.set(turn.number, turn);
      phases.push(`${turn.number} ${phase}`);
    },
  );
  for (const [at, event] of story) log.note(event, at);
  return { log, phases, rows: () => [...kept.values()], row: () => kept.get(1)! };
}

const voice = (active: boolean, at: number, silentMs?: number): TurnEvent => ({
  ...{ type: 'voice', active, at },
  ...(silentMs !== undefined && { silentMs }),
});
const final = (text: string): TurnEvent => ({ type: 'transcript', span: 1, text, final: true });
const said = (text: string): TurnEvent => ({ type: 'message', text });
const reply: TurnEvent = { type: 'reply', job: 1, cause: 'turn', aloud: true };
const played = (ms: number, complete = false): TurnEvent => ({ type: 'played', job: 1, ms, complete });

/** A turn from 0 to the first audio, with round times; voice activity detection notices its end after 256 ms. */
const STORY: readonly (readonly [number, TurnEvent])[] = [
  [0, voice(true, 0)],
  [600, { type: 'transcript', span: 1, text: 'Two', final: false }],
  [1000 + NOTICED_MS, voice(false, 1000 + NOTICED_MS)],
  [1700, final('Two rooms.')],
  [1800, { type: 'endOfTurn', detector: 'both', probability: 0.9, completeness: 'likely', delayMs: 400 }],
  [1800, said('Two rooms.')],
  [1800, reply],
  [1810, { type: 'modelAsked', job: 1 }],
  [2000, { type: 'modelBegan', job: 1 }],
  [2150, { type: 'audible', job: 1 }],
  [2400, played(200)],
];

t.test("a turn's row has the time of each step, and the parts add up to the delay", async (t) => {
  const { row } = logged(...STORY);
  exactly(t, row(), {
    ...{ number: 1, turnId: 7, cause: 'turn', words: 'Two rooms.' },
    at: new Date(1_001_000),
    endOfTurn: { detector: 'both', probability: 0.9, completeness: 'likely', delayMs: 400 },
    ...{ firstTranscriptMs: -400, lastTranscriptMs: 700, decidedMs: 800 },
    requests: [{ askedMs: 810, firstTokenMs: 1000, endedMs: null }],
    // 200 ms had been sent when that was reported.
    ...{ firstAudioMs: 1150, playedMs: 1200, heardMs: 200, complete: false, endedMs: null },
    ...{ interrupted: null, error: null, drafted: false, reopened: 0, held: 0, resumed: 0 },
  });
  t.same(row().parts, {
    ...{ silence: NOTICED_MS, endpointing: 400, recognition: 800 - NOTICED_MS - 400 },
    ...{ waiting: 10, model: 190, tools: 0, voice: 150, transport: 50 },
  });
  t.equal(sumOf(row().parts!), row().playedMs);
});

t.test('a turn is timed from when the voice fell silent, not from when that was noticed', async (t) => {
  const [noticed, silentMs] = [1400, 384];
  const story = STORY.map(([at, event]): (typeof STORY)[number] =>
    event.type === 'voice' && !event.active ? [noticed, voice(false, noticed, silentMs)] : [at, event],
  );
  const { row } = logged(...story);
  t.equal(row().at.getTime(), 1_000_000 + noticed - silentMs);
  t.equal(row().parts?.silence, silentMs);
  t.equal(sumOf(row().parts!), row().playedMs);
  t.equal(row().playedMs, 2200 - (noticed - silentMs));
});

t.test(
  'a turn is timed from the end of its words where voice activity ends long after them, or never',
  async (t) => {
    const partial = (at: number, text: string): (typeof STORY)[number] => [
      at,
      { type: 'transcript', span: 1, text, final: false },
    ];
    const words = [partial(1100, 'Two rooms'), partial(1700, 'two rooms.'), partial(2300, 'Two rooms.')];
    const ending = (...end: typeof STORY): Turn => {
      const delayed = STORY.slice(3).map(([at, event]): (typeof STORY)[number] => [at + 4000, event]);
      return logged(STORY[0]!, STORY[1]!, ...words, ...end, ...delayed).row();
    };
    for (const [what, turn] of [
      ['long after them', ending([5400, voice(false, 5400, 400)])],
      ['never', ending()],
    ] as const) {
      t.equal(turn.at.getTime(), 1_001_100, what);
      t.equal(turn.playedMs, 6200 - 1100, what);
      t.equal(sumOf(turn.parts!), turn.playedMs, what);
    }
    t.equal(ending([2200, voice(false, 2200, 400)]).at.getTime(), 1_001_800, 'but not for a moment');
  },
);

t.test('with two stretches of voice the last one sets when the turn fell silent', async (t) => {
  const { row } = logged(
    [900, voice(false, 900, 500)],
    [950, voice(true, 950)],
    [1300, voice(false, 1300, 300)],
    ...STORY.slice(3),
  );
  t.equal(row().at.getTime(), 1_000_000 + 1000);
});

t.test("a turn's row is written once its answer is heard, before the turn is over", async (t) => {
  const { phases, row } = logged(...STORY);
  t.same(phases, ['1 began']);
  t.equal(row().playedMs, 1200);
});

t.test('a turn with two tools has the time of each, and the wait for both', async (t) => {
  const { row, log } = logged(
    ...STORY.slice(0, 8),
    [2000, { type: 'modelBegan', job: 1 }],
    [2000, { type: 'modelEnded', job: 1 }],
    [2000, { type: 'acted', job: 1 }],
    [2000, { type: 'toolStarted', job: 1, callId: 'a', toolName: 'look_up' }],
    [2000, { type: 'toolStarted', job: 1, callId: 'b', toolName: 'book' }],
    [2300, { type: 'toolEnded', callId: 'a', failed: false }],
    [2500, { type: 'toolEnded', callId: 'b', failed: true }],
    [2500, { type: 'returned', job: 1 }],
    [2520, { type: 'modelAsked', job: 1 }],
    [2700, { type: 'modelBegan', job: 1 }],
    [2800, { type: 'audible', job: 1 }],
    [2900, played(100)],
    [5000, { type: 'modelEnded', job: 1 }],
    [5000, played(2100, true)],
    [5000, { type: 'ended', job: 1 }],
  );
  log.close(6000);
  t.same(row().tools, [
    { callId: 'a', toolName: 'look_up', startedMs: 1000, endedMs: 1300, failed: false },
    { callId: 'b', toolName: 'book', startedMs: 1000, endedMs: 1500, failed: true },
  ]);
  t.same(
    row().requests.map(({ askedMs, firstTokenMs }) => [askedMs, firstTokenMs]),
    [
      [810, 1000],
      [1520, 1700],
    ],
  );
  exactly(t, row().parts, { waiting: 30, model: 370, tools: 500, voice: 100, transport: 0 });
  t.equal(sumOf(row().parts!), row().playedMs);
  exactly(t, row(), { complete: true, heardMs: 2100, endedMs: 4000 });
});

t.test('a background tool that ends later changes the row of the turn that began it', async (t) => {
  const { row, log, phases } = logged(
    ...STORY,
    [2500, { type: 'toolStarted', job: 1, callId: 'a', toolName: 'slow' }],
    [3000, { type: 'closeTurn' }],
    [3000, { type: 'ended', job: 1 }],
  );
  t.same(row().tools[0], { callId: 'a', toolName: 'slow', startedMs: 1500, endedMs: null, failed: false });
  log.note({ type: 'toolEnded', callId: 'a', failed: false }, 9000);
  t.equal(row().tools[0]?.endedMs, 8000);
  t.same(phases, ['1 began', '1 over', '1 changed']);
});

t.test("each usage is counted in one row: its turn's, the next, or at the end the last", async (t) => {
  const { rows, row, log } = logged(
    [0, { type: 'used', usage: { recognisedMs: 500 } }],
    ...STORY,
    [2100, { type: 'used', job: 1, usage: { inputTokens: 90, outputTokens: 9, tokensEstimated: true } }],
    [2100, { type: 'used', job: 1, usage: { characters: 40 } }],
    [3000, { type: 'closeTurn' }],
    [3000, { type: 'ended', job: 1 }],
    [3100, { type: 'used', job: 1, usage: { characters: 2 } }],
    [4000, { type: 'used', usage: { recognisedMs: 700 } }],
  );
  t.equal(row().usage.recognisedMs, 500);
  log.close(5000);
  t.equal(rows().length, 1);
  t.same(row().usage, {
    ...{ inputTokens: 90, outputTokens: 9, tokensEstimated: true, characters: 42, recognisedMs: 1200 },
  });
});

t.test('a turn whose answer fails has the error, and its excuse is part of the turn', async (t) => {
  const { row, log } = logged(
    ...STORY.slice(0, 8),
    [2000, { type: 'refused', job: 1, code: 'provider_failed' }],
    [2000, { type: 'failed', job: 1 }],
    [2000, { type: 'excuse', what: 'answer', job: 2, aloud: true }],
    [2100, { type: 'audible', job: 2 }],
    [2200, { type: 'played', job: 2, ms: 100, complete: false }],
  );
  log.close(5000);
  exactly(t, row(), {
    error: 'provider_failed',
    playedMs: 1100,
    requests: [{ askedMs: 810, firstTokenMs: null }],
  });
  exactly(t, row().parts, { waiting: 10, model: 190, voice: 100, transport: 0 });
});

t.test(
  'with the machine, the parts of a spoken turn add up, and an answer that was heard whole is complete',
  async (t) => {
    const scene = new TurnScene({}, { thinkMs: 2000 });
    scene.say('I would like a room.').pause(9000);
    const [turn, ...more] = scene.turns;
    t.same(more, []);
    exactly(t, turn, { cause: 'turn', words: 'I would like a room.', complete: true, drafted: true });
    exactly(t, turn!.endOfTurn, { detector: 'tables', probability: null, completeness: 'likely' });
    t.equal(sumOf(turn!.parts!), turn!.playedMs);
    t.equal(turn!.parts!.endpointing, turn!.endOfTurn!.delayMs);
    t.ok(turn!.requests[0]!.askedMs < turn!.decidedMs!, 'the model was asked while the silence was weighed');
    t.ok(turn!.parts!.model < 2000, 'which is not waited for');
  },
);

t.test('the wait for a late transcript is counted as recognition', async (t) => {
  const scene = new TurnScene({}, { hearMs: 3000 });
  scene.say('I would like a room.').pause(9000);
  const [turn] = scene.turns;
  t.ok(turn!.parts!.recognition > 1500, `${turn!.parts!.recognition} ms`);
  t.equal(sumOf(turn!.parts!), turn!.playedMs);
});

t.test('a turn tells whether its draft was used, and how many were discarded', async (t) => {
  const used = new TurnScene();
  used.say('I would like a room.').pause(6000);
  exactly(t, used.turns, [{ drafted: true, draftsDiscarded: 0 }]);
  const thrown = new TurnScene();
  thrown.say('I would like a room.').pause(450);
  thrown.say('For two people please.').pause(6000);
  exactly(t, thrown.turns, [{ words: 'I would like a room. For two people please.', draftsDiscarded: 1 }]);
});

t.test('a turn that the user takes up again is one row, marked as reopened', async (t) => {
  const scene = new TurnScene({}, { thinkMs: 1500 });
  scene.say('I would like a room.').pause(1400);
  scene.say('For two people please.').pause(9000);
  const { turns } = scene;
  exactly(t, turns, [{ words: 'I would like a room. For two people please.', reopened: 1, complete: true }]);
  t.same([turns.length, turns[0]?.interrupted], [1, null]);
  t.equal(sumOf(turns[0]!.parts!), turns[0]!.playedMs);
});

/** A scene in which the agent has been answering for about a second. */
function speaking(settings: Partial<AgentSettings> = {}, answer = LONG): TurnScene {
  const scene = new TurnScene(settings, { reply: answer });
  scene.say('Please count.').untilAgentSpeaks().pause(1200);
  return scene;
}

t.test('an interrupted turn names the cause, and how long the agent still spoke', async (t) => {
  const causes: Readonly<Record<string, (scene: TurnScene) => unknown>> = {
    words: (scene) => scene.say('No, I would like to go there.').pause(4000),
    command: (scene) => scene.say('Stop.', 500).pause(4000),
    message: (scene) => scene.actor.send({ type: 'typed', text: 'Stop', aloud: true }),
    client: (scene) => scene.actor.send({ type: 'interrupt' }),
    hang_up: (scene) => scene.actor.send({ type: 'left' }),
    gone: (scene) => {
      scene.actor.send({ type: 'disconnected' });
      scene.pause(TIMES.goneMs);
    },
    api: (scene) => scene.actor.send({ type: 'end', reason: 'ended_by_api' }),
    error: (scene) => scene.actor.send({ type: 'end', reason: 'error' }),
  };
  for (const [by, happens] of Object.entries(causes)) {
    const scene = speaking({}, VERY_LONG);
    happens(scene);
    const [counted] = scene.turns;
    exactly(t, counted, { interrupted: { by, mistaken: false }, complete: false }, by);
    t.ok(counted!.heardMs >= 1000, by);
  }
  const held = speaking().say('No, I would like to go there.').pause(4000) as TurnScene;
  t.equal(held.turns[0]?.interrupted?.silenceMs, 0, 'held with the voice');
  const low = speaking({ sensitivity: 'low' }).say('No, I would like to go there.').pause(4000) as TurnScene;
  t.ok((low.turns[0]?.interrupted?.silenceMs ?? 0) > 300, 'words are waited for');
});

t.test('an answer that the longest duration cuts is interrupted by `timeout`', async (t) => {
  const scene = new TurnScene({ maxDurationMs: 20_000 }, { reply: VERY_LONG });
  scene.say('Please count.').pause(30_000);
  exactly(t, scene.turns, [{ interrupted: { by: 'timeout' } }]);
});

t.test('a cough counts as one hold and one resumption, and as no interruption', async (t) => {
  const scene = speaking();
  scene.say('', 300).pause(9000);
  exactly(t, scene.turns, [{ held: 1, resumed: 1, interrupted: null, complete: true }]);
});

t.test('a backchannel is no turn', async (t) => {
  const scene = speaking();
  scene.say('mm-hm', 350).pause(9000);
  exactly(t, scene.turns, [{ words: 'Please count.', interrupted: null }]);
  t.equal(scene.turns.length, 1);
});

t.test(
  'an answer interrupted by a sound without words is marked as a mistake, and the agent goes on',
  async (t) => {
    const scene = new TurnScene(
      {},
      { reply: LONG, hears: (words, isFinal) => (isFinal && words.startsWith('no') ? '' : words) },
    );
    scene.say('Please count.').untilAgentSpeaks().pause(1200);
    scene.say('no not that one', 1500).pause(9000);
    const [counted, goesOn] = scene.turns;
    exactly(t, counted?.interrupted, { mistaken: true });
    exactly(t, goesOn, { cause: 'continue', words: '', complete: true });
  },
);

t.test(
  'words said over an agent that may not be interrupted wait for it, and have a row of their own',
  async (t) => {
    const scene = speaking({ interruptible: false });
    scene.say('And then backwards please.').pause(12_000);
    const [first, second, ...more] = scene.turns;
    t.same(more, []);
    exactly(t, first, { words: 'Please count.', complete: true, interrupted: null });
    exactly(t, second, { words: 'And then backwards please.', complete: true });
    t.ok(second!.parts!.waiting > 0, 'for the agent');
    t.equal(sumOf(second!.parts!), second!.playedMs);
  },
);

t.test('first messages, typed messages and re-engagements have rows as well', async (t) => {
  const { log, rows } = logged(
    [0, { type: 'say', job: 1, text: 'Welcome.' }],
    [100, { type: 'audible', job: 1 }],
    [150, played(50)],
    [1000, played(900, true)],
    [1000, { type: 'ended', job: 1 }],
    [2000, { type: 'message', text: 'Hello', typed: true }],
    [2000, { type: 'reply', job: 2, cause: 'turn', aloud: false }],
    [2500, { type: 'ended', job: 2 }],
    [9000, { type: 'reply', job: 3, cause: 'reengage', aloud: true }],
  );
  log.close(9500);
  exactly(t, rows(), [
    { cause: 'opener', words: '', playedMs: 100, complete: true, endOfTurn: null },
    { cause: 'typed', words: 'Hello', playedMs: null, parts: null, endedMs: 500 },
    { cause: 'reengage', words: '', playedMs: null },
  ]);
});

t.test(
  'in any order of events each row is over once, its parts add up, and every message is in a row',
  async (t) => {
    const broken: string[] = [];
    for (let seed = 1; seed <= shortOrLong(25, 5000); seed += 1) {
      const over = new Set<number>();
      const kept = new Map<number, Turn>();
      let heard = 0;
      const log = new TurnLog(
        0,
        () => 0,
        (turn, phase) => {
          kept.set(turn.number, turn);
          if (phase === 'over' && over.has(turn.number)) broken.push(`seed ${seed}: twice over`);
          if (phase === 'over') over.add(turn.number);
          if (turn.parts && sumOf(turn.parts) !== turn.playedMs) broken.push(`seed ${seed}: ${turn.number}`);
          if (turn.parts && Object.values(turn.parts).some((ms) => ms < 0))
            broken.push(`seed ${seed}: below 0`);
        },
      );
      const messages: string[] = [];
      let at = 0;
      new Walk(seed, (event, now) => {
        at = now;
        if (event.type === 'message' && !event.backchannel) messages.push(event.text);
        log.note(event, now);
        if (event.type === 'audible')
          log.note({ type: 'played', job: event.job, ms: (heard += 1), complete: false }, now + 1);
      }).run(60);
      log.close(at);
      const words = [...kept.values()].map((turn) => turn.words).join(' ');
      for (const text of messages)
        if (!text.split(' ').every((word) => words.includes(word)))
          broken.push(`seed ${seed}: lost "${text}"`);
      if (over.size !== kept.size) broken.push(`seed ${seed}: not over`);
    }
    t.same(broken.slice(0, 3), []);
  },
);

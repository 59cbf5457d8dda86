/**
 * Detectors of ends of turns (actors/agent/turns/detectors.ts): scenarios on the simulated clock in which a model reports
 * that the user has finished, or goes on; reports it late, or not at all.
 */
import t from '../../../../fixtures/tap.js';
import type { AgentEffect } from '../../../../../actors/agent/events.js';
import type { AgentSettings } from '../../../../../actors/agent/settings.js';
import { TIMES } from '../../../../../actors/agent/times.js';
import { detected, SURE } from '../../../../../actors/agent/turns/detectors.js';
import {
  completenessOf,
  delaysOf,
  ENDPOINTING_MS,
  FIRST_LIKELY_MS,
  type TurnCompleteness,
} from '../../../../../actors/agent/turns/endpointing.js';
import { USUAL_PACE } from '../../../../../actors/agent/turns/pace.js';
import type { Detector } from '../../../../../contracts/ports/speech/turns.js';
import { Steps } from '../../../../fixtures/actors/agent-steps.js';
import { exactly } from '../../../../fixtures/exactly.js';
import { Scene, type SceneOptions } from '../../../../fixtures/actors/scene.js';

type EndOfTurn = Extract<AgentEffect, { readonly type: 'endOfTurn' }>;

/** The machine's `endOfTurn` effect, and `ms`: the silence before it, without that of voice activity detection. */
interface Ended extends Omit<EndOfTurn, 'type'> {
  readonly ms: number;
}

/** The user says the text, and waits until the turn has ended. */
function end(text: string, settings: Partial<AgentSettings>, options: SceneOptions): Ended {
  const scene = new Scene(settings, options);
  let ended: Ended | undefined;
  let silentAt = 0;
  scene.actor.on('transcribe', () => (silentAt = scene.clock.now()));
  scene.actor.on('endOfTurn', ({ type: _, ...said }) => {
    ended = { ...said, ms: scene.clock.now() - silentAt };
  });
  scene.say(text, 1500);
  for (let waited = 0; ended === undefined && waited < 5000; waited += 5) scene.pause(5);
  if (ended === undefined) throw new Error('the turn never ends');
  return ended;
}

const sounding = (probability: number | undefined, ms?: number): SceneOptions => ({
  sounds: () => ({ probability, ...(ms !== undefined && { ms }) }),
});

const EAGERNESS = ['eager', 'balanced', 'relaxed'] as const;
const OPEN = 'I would like to go';
const LIKELY = 'I would like to go.';
const ASKED = 'What time is it?';
const UNFINISHED = 'I would like to go to the';

t.test("a model that is sure of the end shortens the wait, within the eagerness's bounds", async (t) => {
  for (const eagerness of EAGERNESS) {
    const { complete, likely } = ENDPOINTING_MS[eagerness];
    exactly(t, end(OPEN, { eagerness, detector: 'both' }, sounding(0.97)), { delayMs: complete });
    const quick = end(LIKELY, { eagerness, detector: 'both' }, sounding(0.97));
    exactly(t, quick, { detector: 'both', probability: 0.97, completeness: 'complete', delayMs: complete });
    t.ok(quick.ms >= complete && quick.ms < likely, `${eagerness}: ${quick.ms} ms`);
  }
});

t.test("a model that is sure of more lengthens the wait, up to the eagerness's bound", async (t) => {
  for (const eagerness of EAGERNESS) {
    const { open, unfinished } = delaysOf(eagerness, USUAL_PACE, { unknownPace: true });
    const waited = end(LIKELY, { eagerness, detector: 'both' }, sounding(0.03));
    exactly(t, waited, {
      detector: 'both',
      probability: 0.03,
      completeness: 'unfinished',
      delayMs: unfinished,
    });
    t.ok(waited.ms >= unfinished && waited.ms < unfinished + 10, `${eagerness}: ${waited.ms} ms`);
    exactly(t, end(ASKED, { eagerness, detector: 'both' }, sounding(0.03)), {
      completeness: 'open',
      delayMs: open,
    });
  }
});

t.test('with both detectors an unfinished sentence waits, however final it sounded', async (t) => {
  const { unfinished } = ENDPOINTING_MS.balanced;
  exactly(t, end(UNFINISHED, { detector: 'both' }, sounding(1)), {
    completeness: 'unfinished',
    delayMs: unfinished,
  });
  exactly(t, end(UNFINISHED, { detector: 'audio' }, sounding(1)), { completeness: 'complete' });
});

t.test('with the model alone the words do not count', async (t) => {
  const completeness = (text: string, probability: number) =>
    end(text, { detector: 'audio' }, sounding(probability)).completeness;
  for (const text of [OPEN, LIKELY, ASKED, UNFINISHED]) {
    t.equal(completeness(text, SURE.over), 'complete', text);
    t.equal(completeness(text, 0.5), 'open', text);
    t.equal(completeness(text, SURE.goesOn), 'unfinished', text);
  }
});

t.test('with both detectors an unsure model leaves the decision to the tables', async (t) => {
  for (const text of [OPEN, LIKELY, ASKED, UNFINISHED])
    exactly(t, end(text, { detector: 'both' }, sounding(0.5)), {
      detector: 'both',
      completeness: completenessOf(text, 'en'),
    });
});

t.test('with the tables alone the model is neither waited for nor heeded', async (t) => {
  for (const options of [{}, sounding(0.01), sounding(0.99)]) {
    const ended = end(ASKED, { detector: 'tables' }, options);
    t.strictSame(ended, { detector: 'tables', completeness: 'complete', delayMs: 230, ms: 230 });
  }
});

t.test('a silent model is waited for TIMES.soundMs, and then the tables decide', async (t) => {
  for (const detector of ['audio', 'both'] as const) {
    const silent = end(ASKED, { detector, eagerness: 'eager' }, {});
    exactly(t, silent, { detector: 'tables', completeness: 'complete' });
    t.notOk('probability' in silent);
    t.equal(silent.ms, TIMES.soundMs, 'longer than the delay of an eager agent');
    t.equal(end(LIKELY, { detector }, {}).ms, FIRST_LIKELY_MS.balanced, 'no longer than wanted');
  }
});

t.test('a model that has failed is not waited for, and the tables decide', async (t) => {
  const failed = end(ASKED, { detector: 'both', eagerness: 'eager' }, sounding(undefined, 50));
  exactly(t, failed, { detector: 'tables', completeness: 'complete' });
  t.ok(failed.ms < TIMES.soundMs, `${failed.ms} ms`);
});

t.test('a model that answers late ends the turn at once if the silence was long enough', async (t) => {
  const late = end(OPEN, { detector: 'both' }, sounding(1, 600));
  exactly(t, late, { detector: 'both', completeness: 'complete' });
  t.equal(late.ms, 600, 'it was long enough already');
});

t.test('a model that is sure of the end does not end a turn before its words are known', async (t) => {
  const ended = end(LIKELY, { detector: 'both' }, { ...sounding(1, 20), hearMs: 700 });
  t.equal(ended.ms, 700);
});

t.test("when the user goes on, the model's verdict on the first half counts no more", async (t) => {
  const scene = new Scene(
    { detector: 'both' },
    { sounds: (words) => ({ probability: words === '' ? 1 : 0.5, ms: 200 }) },
  );
  const ends: EndOfTurn[] = [];
  scene.actor.on('endOfTurn', (effect) => ends.push(effect));
  scene.say('I need a room.').pause(150 + 250);
  scene.voice(true);
  scene.actor.send({ type: 'sounded', span: 1, probability: 1 });
  scene.pause(500).voice(false);
  scene.actor.send({ type: 'sounded', span: 1, probability: 1 });
  scene.pause(10_000);
  t.same(scene.told[0], 'user: I need a room.');
  t.equal(ends.length, 1, 'one turn');
  t.not(ends[0]?.probability, 0.5, 'nothing is known of the first half');
});

t.test('once the user has gone on, a late verdict on the earlier stretch is ignored', async (t) => {
  const end = (span: number): string[] => {
    const steps = new Steps({ detector: 'both' }).say('I would like to go').pass(525).voice(true).pass(300);
    steps.voice(false).send({ type: 'sounded', span, probability: 1 });
    return steps.final('to town').pass(5000).took('endOfTurn');
  };
  t.strictSame(end(2), ['endOfTurn both 1 complete 230']);
  t.strictSame(end(1), ['endOfTurn tables open 1350']);
});

t.test('a turn with words reports its end once, before its message, and noise reports none', async (t) => {
  const scene = new Scene({ detector: 'both' }, sounding(0.9));
  const effects: string[] = [];
  scene.actor.on('*', ({ type }) => effects.push(type));
  scene.say('What time is it?').untilAgentSpeaks().pause(8000).say('', 400).pause(4000);
  t.equal(effects.filter((type) => type === 'endOfTurn').length, 1);
  t.ok(effects.indexOf('endOfTurn') < effects.indexOf('message'));
});

t.test('an answer is drafted as soon as the model expects no more, and later if it is unsure', async (t) => {
  const drafts = (probability: number, ms = 405): number => {
    const scene = new Scene({ detector: 'audio' }, { ...sounding(probability, 400), hearMs: 100 });
    let drafted = 0;
    scene.actor.on('reply', ({ draft }) => (drafted += draft === undefined ? 0 : 1));
    scene.say(UNFINISHED, 1500).pause(250 + ms);
    return drafted;
  };
  t.equal(drafts(0.01), 0);
  t.equal(drafts(SURE.over), 1, 'words that looked unfinished, and did not sound so');
  t.equal(drafts(0.5), 0);
  t.equal(drafts(0.5, FIRST_LIKELY_MS.balanced + 10), 1, 'as soon as the silence has lasted');
});

t.test('each detector maps words and sound to one of four degrees of completeness', async (t) => {
  const words: TurnCompleteness[] = ['complete', 'likely', 'open', 'unfinished'];
  const row = (detector: Detector, probability: number | undefined) =>
    words.map((look) => detected(detector, look, probability));
  for (const detector of ['tables', 'audio', 'both'] as const) t.same(row(detector, undefined), words);
  t.same(row('tables', 1), words);
  t.same(row('both', SURE.over), ['complete', 'complete', 'complete', 'unfinished']);
  t.same(row('both', SURE.goesOn), ['open', 'unfinished', 'unfinished', 'unfinished']);
  t.same(row('both', SURE.over - 0.01), words);
  t.same(row('both', SURE.goesOn + 0.01), words);
});

/**
 * How often each end-of-turn detector takes a pause within a sentence for the end, and how long it waits at real ends, for
 * synthetic sentences in two voices: each as a whole, and cut after a word in its middle. A synthetic voice does not slow down
 * before a cut, as people do when they think, so the figures are for comparison only. Runs if TURN_TEST_MODEL names a folder
 * made by `npm run models -- add smart-turn-v3`, and prints its table.
 */
import { readFileSync } from 'node:fs';
import { CHECKOUT } from '../../../contracts/places.js';
import t from '../../fixtures/tap.js';
import { detected } from '../../../actors/agent/turns/detectors.js';
import {
  completenessOf,
  ENDPOINTING_MS,
  type TurnCompleteness,
} from '../../../actors/agent/turns/endpointing.js';
import { bytesOf, RECOGNITION_RATE } from '../../../contracts/audio.js';
import type { Detector } from '../../../contracts/ports/speech/turns.js';
import { createFlite } from '../../../engines/backends/flite/index.js';
import { defaultModelsFolder } from '../../../engines/backends/model-files.js';
import { createMoonshine } from '../../../engines/backends/moonshine/index.js';
import { speakAll } from '../../fixtures/engine-conformance.js';
import { joined, silence } from '../../fixtures/engines/listening.js';
import { startedTurnModel } from '../../fixtures/engines/turn-model.js';
import { until } from '../../fixtures/until.js';

const folder = process.env['TURN_TEST_MODEL'];
const skip = folder ? false : 'TURN_TEST_MODEL names no model folder';
const SENTENCES = JSON.parse(
  readFileSync(new URL('test/fixtures/engines/sentences.json', CHECKOUT), 'utf8'),
) as readonly string[];
/** Number of voices that say each sentence. */
const VOICES = 2;
/** Silence after which voice activity detection notices an end. */
const NOTICED_MS = 250;
const PAUSES_MS = [800, 1200, 1500];
const FOREVER = new AbortController().signal;

interface Trial {
  readonly ends: boolean;
  readonly words: TurnCompleteness;
  readonly probability: number;
}

const waitOf = ({ words, probability }: Trial, detector: Detector): number =>
  NOTICED_MS + ENDPOINTING_MS.balanced[detected(detector, words, probability)];

function figuresOf(trials: readonly Trial[], detector: Detector) {
  const waits = (ends: boolean): number[] =>
    trials
      .filter((trial) => trial.ends === ends)
      .map((trial) => waitOf(trial, detector))
      .sort((one, other) => one - other);
  const atEnds = waits(true);
  const cuts = PAUSES_MS.map((ms) => waits(false).filter((wait) => wait < ms).length);
  return { cuts, median: atEnds[atEnds.length >> 1], p90: atEnds[Math.floor(atEnds.length * 0.9)] };
}

t.test(
  'both detectors together cut fewer sentences than the tables alone',
  { skip, timeout: 600_000 },
  async (t) => {
    const { model } = await startedTurnModel(t, folder!);
    const voice = await createFlite();
    const ear = await createMoonshine(defaultModelsFolder);
    const trialOf = async (samples: Int16Array, ends: boolean): Promise<Trial> => {
      const heard = joined(samples, silence(NOTICED_MS / 1000));
      const { text } = await ear.transcribe(heard, {}, FOREVER);
      const probability = await until('it is known', () =>
        model.probability([bytesOf(heard)], 'ws', FOREVER),
      );
      return { ends, words: completenessOf(text, 'en'), probability };
    };
    const trials: Trial[] = [];
    const said = voice.voices
      .slice(0, VOICES)
      .flatMap(({ name }) => SENTENCES.map((text) => ({ voice: name, text })));
    for (const sentence of said) {
      const request = { ...sentence, language: 'en', speed: 1, timing: true };
      const { samples, words } = await speakAll(voice, request);
      const middle = words[words.length >> 1]?.end ?? 0;
      trials.push(await trialOf(samples, true));
      trials.push(await trialOf(samples.subarray(0, middle * RECOGNITION_RATE), false));
    }
    const [tables, audio, both] = (['tables', 'audio', 'both'] as const).map((one) => figuresOf(trials, one));
    t.comment(
      `of ${trials.length / 2} pauses of ${PAUSES_MS.join(', ')} ms that many are cut; wait at as many ends`,
    );
    t.comment(JSON.stringify({ tables, audio, both }));
    const [, atTables = 0] = tables?.cuts ?? [];
    const [, atBoth = Infinity] = both?.cuts ?? [];
    t.ok(atBoth <= atTables, `of pauses of ${PAUSES_MS[1]} ms ${atBoth} instead of ${atTables}`);
  },
);

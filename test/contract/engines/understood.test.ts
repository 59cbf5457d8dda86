/**
 * How well a fresh gateway's voices are understood, in a long form: the sentences of a language by its default voice, and by each other voice,
 * as Whisper hears them; in Japanese, Chinese and Korean by characters. The figures are on docs/engines.md.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import t from '../../fixtures/tap.js';
import { type GatewayAddress, sharedGateway, startGateway } from '../../fixtures/gateway.js';
import { parted, wordErrors, wordsOf } from '../../fixtures/engines/listening.js';
import { noLingware } from '../../fixtures/engines/lingware.js';
import { ADDED_SENTENCES, PHONE_SENTENCES, waysToWrite } from '../../fixtures/engines/phone-sentences.js';
import { type Clip, heardByWhisper, noWhisper } from '../../fixtures/engines/whisper.js';
import { shortOrLong } from '../../fixtures/long.js';

const skip = shortOrLong<string | false>('it takes minutes: npm run test:long', noLingware || noWhisper);

/** Most words of a default voice that may be wrong, in percent. */
const MOST_WRONG = 10;
/** Of a voice of an added model, which nobody hears unless they chose it. */
const MOST_WRONG_ADDED = 20;
const SENTENCES: Readonly<Record<string, readonly string[]>> = { ...PHONE_SENTENCES, ...ADDED_SENTENCES };
/** Languages that only a robotic voice speaks: their characters are counted, and held to nothing. */
const BY_CHARACTERS: ReadonlySet<string> = new Set(['ja', 'zh', 'ko']);

const unitsOf = (language: string, text: string): string =>
  BY_CHARACTERS.has(language) ? parted(text) : text;

interface Voice {
  readonly _id: string;
  readonly title: string;
}

/** The voices of a gateway, and how many words of each are wrong, in percent. */
function judging(t: Test, { base, authorization }: GatewayAddress) {
  const headers = { ...authorization, 'content-type': 'application/json' };
  const folder = t.testdir();
  const voicesOf = async (language: string): Promise<readonly Voice[]> => {
    const answer = await fetch(`${base}/model?language=${language}&page_size=100`, { headers });
    return ((await answer.json()) as { readonly items: readonly Voice[] }).items;
  };
  async function clip(language: string, voice: string, text: string, name: string): Promise<Clip> {
    const body = JSON.stringify({
      text,
      format: 'wav',
      sample_rate: 16_000,
      reference_id: voice || undefined,
    });
    const answer = await fetch(`${base}/v1/tts`, { method: 'POST', headers, body });
    const file = join(folder, `${name}.wav`);
    writeFileSync(file, new Uint8Array(await answer.arrayBuffer()));
    return { language, file };
  }
  /** Words that are wrong, in percent. */
  async function wrong(language: string, voice: string, name: string): Promise<number> {
    const sentences = SENTENCES[language]!;
    const clips: Clip[] = [];
    for (const [at, text] of sentences.entries())
      clips.push(await clip(language, voice, text, `${name}-${at}`));
    const heard = await heardByWhisper(clips);
    // A judge that understands nothing may invent without end.
    const errors = sentences.map((text, at) => {
      const units = unitsOf(language, heard[at] ?? '');
      const ways = waysToWrite(text).map((way) => wordErrors(unitsOf(language, way), units));
      return Math.min(wordsOf(unitsOf(language, text)).length, ...ways);
    });
    const said = wordsOf(unitsOf(language, sentences.join(' ')));
    return (100 * errors.reduce((sum, count) => sum + count, 0)) / said.length;
  }
  return { voicesOf, wrong };
}

t.test('the default voices are understood', { skip }, async (t) => {
  const { voicesOf, wrong } = judging(t, await sharedGateway(t, 'speech'));
  for (const language of Object.keys(PHONE_SENTENCES)) {
    const share = await wrong(language, '', language);
    t.comment(`${language}: ${share.toFixed(1)} % by default`);
    t.ok(BY_CHARACTERS.has(language) || share <= MOST_WRONG, `${language}: ${share} %`);
    for (const { _id, title } of await voicesOf(language))
      t.comment(`${language}: ${(await wrong(language, _id, _id)).toFixed(1)} % ${title}`);
  }
});

const folder = process.env['TEST_VOICE_MODEL'];
const skipModel = skip || (folder ? false : 'TEST_VOICE_MODEL names no model folder');

t.test(
  'two voices of an added model are understood in each of its languages',
  { skip: skipModel },
  async (t) => {
    const gateway = await startGateway({ TTS_ENGINES: 'sherpa', SHERPA_TTS: folder! });
    t.teardown(() => gateway.stop());
    const { voicesOf, wrong } = judging(t, gateway);
    for (const language of Object.keys(SENTENCES)) {
      for (const { _id, title } of (await voicesOf(language)).slice(0, 2)) {
        const share = await wrong(language, _id, `${language}-${title}`);
        t.comment(`${language}: ${share.toFixed(1)} % ${title}`);
        t.ok(share <= MOST_WRONG_ADDED, `${title}: ${share} %`);
      }
    }
  },
);

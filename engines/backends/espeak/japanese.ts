/**
 * Japanese as eSpeak reads it: in kana as pronounced, with spaces between phrases. The dictionary
 * (kuromoji's) takes 0.7 s and 180 MB, so the first Japanese text loads it.
 */
import { dirname, join } from 'node:path';
import { createRequire } from 'node:module';
import type { Token, Tokenizer } from 'kuromoji';
import { announced } from '../../../processes/child/announce.js';
import { type Unit, unitsFrom } from '../spoken-units.js';

const JAPANESE = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u;
/** Particles, auxiliaries and marks attach to the word before them. */
const LEANING = new Set(['助詞', '助動詞', '記号']);

export const isJapanese = (text: string): boolean => JAPANESE.test(text);

async function loadTokenizer(): Promise<Tokenizer> {
  const { default: kuromoji } = await import('kuromoji');
  const folder = dirname(createRequire(import.meta.url).resolve('kuromoji/package.json'));
  return new Promise((resolve, reject) => {
    kuromoji
      .builder({ dicPath: join(folder, 'dict') })
      .build((error, tokenizer) => (error ? reject(error) : resolve(tokenizer)));
  });
}

let loading: Promise<Tokenizer> | undefined;

const unitOf = ({ surface_form: text, pronunciation, pos }: Token): Unit => ({
  text,
  spoken: pronunciation && pronunciation !== '*' ? pronunciation : text,
  glued: LEANING.has(pos),
});

/** A unit for each word of the dictionary. Rejects if the optional package is not installed. */
export async function japaneseUnits(text: string): Promise<Unit[]> {
  loading ??= announced(loadTokenizer);
  return unitsFrom((await loading).tokenize(text).map(unitOf));
}

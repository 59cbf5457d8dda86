/** SVOX Pico in its child, beside Flite, as in a gateway. Its voices are fetched by set-up; where they could not be had only the refusal is tested. */
import { readFileSync } from 'node:fs';
import { CHECKOUT } from '../../../contracts/places.js';
import t from '../../fixtures/tap.js';
import { createAligner } from '../../../engines/alignment/aligner.js';
import { PICO_RATE, picoDescription } from '../../../engines/backends/pico/description.js';
import { ttsInChild } from '../../../engines/child-engines.js';
import { readConfig } from '../../../gateway/config.js';
import { engineRoles } from '../../../gateway/wiring/engines.js';
import { speakAll, ttsConformance } from '../../fixtures/engine-conformance.js';
import { lingware, noLingware } from '../../fixtures/engines/lingware.js';
import { rejectsExactly, throwsExactly } from '../../fixtures/exactly.js';
import { shortOrLong } from '../../fixtures/long.js';
import { productChild } from '../../fixtures/processes/product-child.js';

t.test('without its voices it speaks only if it is named, and is then refused in one line', async (t) => {
  const nowhere = t.testdir();
  t.same(readConfig({ MODELS_DIR: nowhere }).ttsEngines.includes('pico'), false);
  throwsExactly(t, () => engineRoles(readConfig({ MODELS_DIR: nowhere, TTS_ENGINES: 'pico' })), {
    name: 'Error',
    message: /^The engine "pico" needs its voices: .*models.* add pico$/,
  });
});

t.test('from its child', { skip: noLingware }, async (t) => {
  t.same(readConfig({}).ttsEngines.slice(0, 2), ['flite', 'pico'], 'it speaks by default, behind Flite');
  const { pool } = await productChild(t, 'tts', 'speech', { env: { PICO_LINGWARE: lingware } });
  const pico = ttsInChild(pool, picoDescription);
  const say = (voice: string, language: string, text: string) =>
    speakAll(pico, { text, voice, language, speed: 1, timing: true });

  await t.test('pico conforms', (t) =>
    ttsConformance(t, pico, { sentence: 'Das Paket wurde heute geliefert.', deterministic: true }),
  );

  const SENTENCES: readonly (readonly [voice: string, language: string, text: string])[] = [
    ['de-DE', 'de', 'Am 3. Oktober kostet es bei Dr. Müller 12,50 €. Kommen Sie?'],
    ['es-ES', 'es', 'El paquete llegó esta mañana. ¿Lo ha visto?'],
    ['fr-FR', 'fr', "L'homme qu'il a vu est parti aujourd'hui, à 8 h 30."],
    ['it-IT', 'it', "Buongiorno, come sta? L'ufficio apre alle nove."],
    ['en-GB', 'en', 'At three in the afternoon, e.g. on Monday.'],
    ['en-US', 'en', 'The version is 2.5 and costs $3.'],
  ];

  await t.test('each voice has its words, in order, within its audio', async (t) => {
    for (const [voice, language, text] of SENTENCES) {
      const { samples, words } = await say(voice, language, text);
      const seconds = samples.length / PICO_RATE;
      t.ok(seconds > 1.5 && seconds < 7, `${voice} takes ${seconds} s`);
      t.same(words.map((word) => word.text), text.split(' ')); // oxfmt-ignore
      let last = 0;
      for (const { text: word, start, end } of words) {
        t.ok(start >= last && end > start && end <= seconds, `${word} ${start} to ${end}`);
        last = end;
      }
    }
  });

  await t.test('each voice sounds different', async (t) => {
    const sounds = [];
    for (const { name, languages } of picoDescription.voices) {
      const { samples } = await say(name, languages[0]!, 'La plaza grande, zum Beispiel.');
      sounds.push(Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength).toString('base64'));
    }
    t.equal(new Set(sounds).size, picoDescription.voices.length);
  });

  await t.test('tags of its own in a text are not obeyed', async (t) => {
    const plain = await say('de-DE', 'de', 'Guten Tag speed level 500 Herr Maier');
    for (const text of [
      'Guten Tag <speed level="500">Herr Maier',
      '<play file="/etc/passwd"/> Guten Tag',
      '<genfile file="/tmp/x">Guten Tag, Herr Maier',
    ]) {
      const { samples } = await say('de-DE', 'de', text);
      t.ok(samples.length > plain.samples.length / 2, text);
    }
  });

  await t.test('little silence surrounds its speech', async (t) => {
    const { samples, words } = await say('it-IT', 'it', 'Tutto bene.');
    t.ok(words[0]!.start <= 0.05, `${words[0]!.start} s before`);
    t.ok(samples.length / PICO_RATE - words.at(-1)!.end <= 0.21, `${words.at(-1)!.end} of ${samples.length}`);
  });

  await t.test('an unknown voice is refused', async (t) => {
    for (const voice of ['de-AT', '../de-DE', '']) {
      await rejectsExactly(t, say(voice, 'de', 'Guten Tag'), { code: 'voice_not_found' });
    }
  });

  await t.test('its word times agree with alignment, whose model knows another voice', async (t) => {
    const fixture = new URL('test/fixtures/engines/sentences.json', CHECKOUT);
    const sentences = (JSON.parse(readFileSync(fixture, 'utf8')) as string[]).slice(0, shortOrLong(4, 10));
    const aligner = createAligner();
    t.teardown(() => aligner.stop());
    let close = 0;
    let all = 0;
    for (const sentence of sentences) {
      const { samples, words } = await say('en-US', 'en', sentence);
      const found = await aligner.align(samples, sentence, new AbortController().signal);
      close += words.filter(({ start }, index) => Math.abs(found[index]!.start - start) <= 0.15).length;
      all += words.length;
    }
    t.ok(close >= 0.9 * all, `${close} of ${all}`);
  });
});

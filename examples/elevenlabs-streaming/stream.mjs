/**
 * Speech with ElevenLabs' SDK, written to standard output while it is synthesised. To play it at once:
 * node stream.mjs "Some text." | ffplay -autoexit -nodisp -
 */
import { GATEWAY, KEY, load } from '../gateway.mjs';

const { ElevenLabsClient } = await load('@elevenlabs/elevenlabs-js');
const text = process.argv[2] ?? 'This sentence is played while the next one is synthesised.';
const client = new ElevenLabsClient({ baseUrl: `${GATEWAY}/compat/elevenlabs`, apiKey: KEY });

const begin = performance.now();
const audio = await client.textToSpeech.stream('default', { text, outputFormat: 'mp3_44100_128' });
let bytes = 0;
for await (const chunk of audio) {
  if (bytes === 0) console.error(`first audio after ${Math.round(performance.now() - begin)} ms`);
  bytes += chunk.length;
  process.stdout.write(chunk);
}
console.error(`${bytes} bytes after ${Math.round(performance.now() - begin)} ms`);

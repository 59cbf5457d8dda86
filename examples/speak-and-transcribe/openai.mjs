/** Text to speech and back with OpenAI's SDK. Writes hello.mp3. */
import { createReadStream } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { GATEWAY, KEY, load } from '../gateway.mjs';

const { default: OpenAI } = await load('openai');
const client = new OpenAI({ baseURL: `${GATEWAY}/v1`, apiKey: KEY });

const speech = await client.audio.speech.create({
  model: 'tts-1',
  voice: 'alloy',
  input: 'The weather is nice today.',
});
await writeFile('hello.mp3', Buffer.from(await speech.arrayBuffer()));

const transcript = await client.audio.transcriptions.create({
  model: 'whisper-1',
  file: createReadStream('hello.mp3'),
  response_format: 'verbose_json',
  timestamp_granularities: ['word'],
});
console.log(transcript.text);
for (const { word, start, end } of transcript.words)
  console.log(`${start.toFixed(2)}–${end.toFixed(2)} s ${word}`);

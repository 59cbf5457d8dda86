/** The request as code for other programs. The key is left out: the code reads it from the environment. */
import { addressOf } from '../../api.js';

export interface Wanted {
  readonly text: string;
  /** An id; empty for the default voice. */
  readonly voice: string;
  readonly speed: number;
  readonly format: string;
}

const base = (): string => addressOf('.').href.replace(/\/$/, '');
const quoted = (value: unknown): string => JSON.stringify(value);
const inShell = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** The native body, without values that are the default. */
export const bodyOf = ({ text, voice, speed, format }: Wanted): object => ({
  text,
  ...(voice && { reference_id: voice }),
  ...(speed !== 1 && { prosody: { speed } }),
  format,
  latency: 'low',
});

const curl = (wanted: Wanted): string =>
  `curl ${base()}/v1/tts \\
  -H "Authorization: Bearer $KEY" -H "Content-Type: application/json" \\
  -d ${inShell(JSON.stringify(bodyOf(wanted)))} -o speech.${wanted.format}`;

const openaiJs = ({
  text,
  voice,
  speed,
  format,
}: Wanted): string => `import { writeFile } from 'node:fs/promises';
import OpenAI from 'openai';

const client = new OpenAI({ baseURL: ${quoted(`${base()}/v1`)}, apiKey: process.env.KEY });
const speech = await client.audio.speech.create({
  model: 'tts-1',
  voice: ${quoted(voice || 'alloy')},
  input: ${quoted(text)},
  speed: ${speed},
  response_format: ${quoted(format)},
});
await writeFile(${quoted(`speech.${format}`)}, Buffer.from(await speech.arrayBuffer()));`;

const openaiPython = ({ text, voice, speed, format }: Wanted): string => `import os
from openai import OpenAI

client = OpenAI(base_url=${quoted(`${base()}/v1`)}, api_key=os.environ["KEY"])
with client.audio.speech.with_streaming_response.create(
    model="tts-1",
    voice=${quoted(voice || 'alloy')},
    input=${quoted(text)},
    speed=${speed},
    response_format=${quoted(format)},
) as speech:
    speech.stream_to_file(${quoted(`speech.${format}`)})`;

const ELEVENLABS_FORMATS: Readonly<Record<string, string>> = {
  mp3: 'mp3_44100_128',
  wav: 'wav_44100',
  pcm: 'pcm_24000',
  opus: 'opus_48000_64',
};

const elevenlabs = ({
  text,
  voice,
  speed,
  format,
}: Wanted): string => `import { ElevenLabsClient } from '@elevenlabs/elevenlabs-js';

const client = new ElevenLabsClient({ baseUrl: ${quoted(`${base()}/compat/elevenlabs`)}, apiKey: process.env.KEY });
const speech = await client.textToSpeech.stream(${quoted(voice || 'default')}, {
  text: ${quoted(text)},
  modelId: 'eleven_flash_v2_5',
  outputFormat: ${quoted(ELEVENLABS_FORMATS[format])},${speed === 1 ? '' : `\n  voiceSettings: { speed: ${speed} },`}
});`;

const native = (wanted: Wanted): string => `const response = await fetch(${quoted(`${base()}/v1/tts`)}, {
  method: 'POST',
  headers: { authorization: \`Bearer \${process.env.KEY}\`, 'content-type': 'application/json' },
  body: JSON.stringify(${JSON.stringify(bodyOf(wanted), null, 2).replaceAll('\n', '\n  ')}),
});
for await (const chunk of response.body) play(chunk);`;

export const PROGRAMS = {
  curl,
  'OpenAI JS': openaiJs,
  'OpenAI Python': openaiPython,
  ElevenLabs: elevenlabs,
  fetch: native,
} as const;

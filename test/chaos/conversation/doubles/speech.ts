/**
 * A remote speech service in both dialects. It speaks in tones, so that what a caller heard can be read from the audio, and knows whose
 * voice it hears (caller-voice.ts). Its faults can be switched, for each call or for all: a voice has the name of its call.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { decode } from '@msgpack/msgpack';
import { bytesOf, RECOGNITION_RATE } from '../../../../contracts/audio.js';
import { createToneSpeech, createToneTranscriber } from '../../../../engines/backends/tone/index.js';
import { rawAudioIn, samplesOfRaw } from '../../../../engines/raw-audio.js';
import { remoteService } from '../../../fixtures/engines/remote-service.js';
import { HTTP_FAULTS, type HttpFault, isHttpFault } from './http.js';
import { callOf } from './caller-voice.js';
import { Switch } from './switch.js';

/** `empty`: an answer without anything; `stops`: nothing more comes in the middle; `breaks`: there the connection ends. */
export type SpeechFault = HttpFault | 'empty' | 'stops' | 'breaks';

/** So much of an answer comes before it stops: half a second of audio, half of a transcript. */
const STOPS_AT = RECOGNITION_RATE;

export interface SpeechDouble {
  /** Without `/v1`: both dialects are below it. */
  readonly url: string;
  readonly voice: Switch<SpeechFault>;
  readonly recogniser: Switch<SpeechFault>;
  /** When the voice of that name was asked last, in ms of `performance.now()`. */
  askedAt(voice: string): number;
}

/** The name of a call by its number. */
export const nameOf = (call: number): string => `c${call}`;

/** What the callers say at the moment, by their calls: what the recognisers understand. */
export const SAID = new Map<string, string>();

/** Bits of PCM, at RECOGNITION_RATE. */
export async function inTones(text: string): Promise<Int16Array> {
  const parts: Int16Array[] = [];
  const request = { text, voice: '', language: 'en', speed: 1 } as const;
  for await (const event of createToneSpeech().synthesize(request, new AbortController().signal))
    if (event.kind === 'audio') parts.push(event.samples);
  const whole = new Int16Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** The messages in samples at RECOGNITION_RATE. */
export async function readTones(samples: AsyncIterable<Int16Array>): Promise<string> {
  const texts: string[] = [];
  const { signal } = new AbortController();
  for await (const { text } of createToneTranscriber().transcribe(samples, {}, signal)) texts.push(text);
  return texts.filter((text) => text !== '').join(' ');
}

/** The call whose voice is in the file. */
async function callIn(file: Uint8Array): Promise<string | undefined> {
  const raw = rawAudioIn(file);
  if (!raw) return undefined;
  const parts: number[] = [];
  for await (const part of samplesOfRaw(raw)) parts.push(...part);
  const call = callOf(Int16Array.from(parts));
  return call === undefined ? undefined : nameOf(call);
}

async function fileIn(body: Buffer, { headers }: IncomingMessage): Promise<Uint8Array> {
  const type = headers['content-type'] ?? '';
  if (type.includes('msgpack')) return (decode(body) as { audio: Uint8Array }).audio;
  const form = await new Response(new Uint8Array(body), { headers: { 'content-type': type } }).formData();
  const file = form.get('file');
  return file instanceof Blob ? new Uint8Array(await file.arrayBuffer()) : new Uint8Array();
}

interface Spoken {
  readonly text: string;
  readonly voice: string;
}

function askedOf(body: Buffer, { headers }: IncomingMessage): Spoken {
  if (headers['content-type']?.includes('msgpack')) {
    const { text, reference_id: voice = '' } = decode(body) as { text: string; reference_id?: string };
    return { text, voice };
  }
  const { input: text, voice } = JSON.parse(body.toString()) as { input: string; voice: string };
  return { text, voice };
}

const begin = (response: ServerResponse, type: string): void =>
  void response.writeHead(200, { 'content-type': type });

/** Answers with the bytes, as the fault lets it. */
function answer(
  response: ServerResponse,
  type: string,
  bytes: Uint8Array,
  fault: SpeechFault | undefined,
): void {
  if (isHttpFault(fault)) return HTTP_FAULTS[fault](response);
  begin(response, type);
  if (fault === 'empty') return void response.end();
  if (fault === undefined) return void response.end(bytes);
  const half = bytes.subarray(0, Math.min(STOPS_AT, bytes.length >> 1));
  response.write(half, () => (fault === 'breaks' ? response.destroy() : undefined));
}

export async function startSpeechDouble(t: { teardown(end: () => void): void }): Promise<SpeechDouble> {
  const service = await remoteService(t);
  const voice = new Switch<SpeechFault>();
  const recogniser = new Switch<SpeechFault>();
  const askedAt = new Map<string, number>();
  /** Whoever asks only for what there is finds out whether the key is right. */
  const list = (response: ServerResponse): void => {
    const fault = [voice.of(), recogniser.of()].find((each) => each === '401');
    return answer(response, 'application/json', Buffer.from('{"data":[],"items":[]}'), fault);
  };
  service.answers(async (response, body, request) => {
    service.asked.length = 0;
    if (request.method === 'GET') return list(response);
    if (/\/(?:speech|tts)$/.test(request.url ?? '')) {
      const asked = askedOf(body, request);
      askedAt.set(asked.voice, performance.now());
      const samples = await inTones(asked.text);
      return answer(response, 'audio/pcm', bytesOf(samples), voice.of(asked.voice));
    }
    const call = await callIn(await fileIn(body, request));
    const told = Buffer.from(JSON.stringify({ text: SAID.get(call ?? '') ?? '' }));
    return answer(response, 'application/json', told, recogniser.of(call));
  });
  return { url: service.url, voice, recogniser, askedAt: (name) => askedAt.get(name) ?? 0 };
}

/** The turns that took longest, as stereo recordings: the caller on the left, the agent as it was heard on the right. */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { wavOf } from '../audio/wav.js';
import type { Said } from './caller.js';
import type { Frame } from './heard.js';
import { RATE } from './utterance.js';

const KEPT = 5;
const CHANNELS = 2;

/** Samples of both, as they followed one another in time. */
export function stereoOf(said: readonly Said[], heard: readonly Frame[]): Buffer {
  const start = Math.min(...said.map(({ at }) => at), ...heard.map(({ at }) => at));
  const parts: [channel: number, from: number, pcm: Buffer][] = [];
  const placed = [0, 0];
  const place = (channel: 0 | 1, at: number, bytes: Uint8Array): void => {
    const pcm = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    // Frames that arrive in a burst are placed one after the other.
    const from = Math.max(placed[channel] ?? 0, Math.round(((at - start) * RATE) / 1000));
    placed[channel] = from + (pcm.length >> 1);
    parts.push([channel, from, pcm]);
  };
  for (const { at, pcm } of said) place(0, at, pcm);
  for (const { at, pcm } of heard) place(1, at, pcm);
  const stereo = Buffer.alloc(Math.max(...placed) * 2 * CHANNELS);
  for (const [channel, from, pcm] of parts)
    for (let index = 0; index < pcm.length >> 1; index += 1)
      stereo.writeInt16LE(pcm.readInt16LE(index * 2), ((from + index) * CHANNELS + channel) * 2);
  return stereo;
}

export class WorstTurns {
  #turns: { readonly took: number; readonly audio: Buffer }[] = [];

  /** Kept where it is among those that took longest, in milliseconds; Infinity is one that failed. */
  offer(took: number, said: readonly Said[], frames: readonly Frame[]): void {
    const least = this.#turns.at(-1)?.took ?? 0;
    if (said.length === 0 || (this.#turns.length >= KEPT && took <= least)) return;
    const turns = [...this.#turns, { took, audio: stereoOf(said, frames) }];
    this.#turns = turns.sort((one, other) => other.took - one.took).slice(0, KEPT);
  }

  /** WAV files named after what took how long. */
  write(folder: string, name: string): void {
    mkdirSync(folder, { recursive: true });
    this.#turns.forEach(({ took, audio }, index) => {
      const what = took === Infinity ? 'failed' : `${Math.round(took)}ms`;
      writeFileSync(path.join(folder, `${name}-${index + 1}-${what}.wav`), wavOf(audio, RATE, CHANNELS));
    });
  }
}

/** Cuts the agent's audio at the caller's side into spans: when each was heard, and its sound. */
import { RECOGNITION_RATE } from '../../../../contracts/audio.js';
import { type VoiceSpan, SPAN_GAP_MS } from './timeline.js';

export interface AgentSpan extends VoiceSpan {
  /** 16-bit mono at RECOGNITION_RATE, with a little of the silence around it. */
  readonly chunks: readonly Int16Array[];
}

const FRAME_MS = 20;
const FRAME = (RECOGNITION_RATE * FRAME_MS) / 1000;
/** RMS of 16-bit samples; less is silence. */
const AUDIBLE_RMS = 150;

function isAudible(frame: Int16Array): boolean {
  let energy = 0;
  for (const sample of frame) energy += sample * sample;
  return energy > AUDIBLE_RMS * AUDIBLE_RMS * frame.length;
}

interface Open {
  readonly from: number;
  to: number;
  readonly chunks: Int16Array[];
}

export class AgentSpans {
  readonly ended: AgentSpan[] = [];
  #open: Open | undefined;
  #before: Int16Array = new Int16Array(0);
  #now = 0;

  /** Takes the next audio, ending `at`. */
  take(at: number, samples: Int16Array): void {
    const begins = at - (samples.length / FRAME) * FRAME_MS;
    this.#now = at;
    this.#open?.chunks.push(samples);
    for (let index = 0; index * FRAME < samples.length; index += 1)
      if (isAudible(samples.subarray(index * FRAME, (index + 1) * FRAME)))
        this.#sound(begins + index * FRAME_MS, samples);
    if (this.#open && at - this.#open.to >= SPAN_GAP_MS) this.end();
    this.#before = samples;
  }

  #sound(from: number, samples: Int16Array): void {
    this.#open ??= { from, to: from, chunks: [this.#before, samples] };
    this.#open.to = from + FRAME_MS;
  }

  /** Ends the current span. */
  end(): void {
    if (this.#open) this.ended.push(this.#open);
    this.#open = undefined;
  }

  get now(): number {
    return this.#now;
  }

  /** The time since which the agent speaks; undefined while it is silent. */
  get since(): number | undefined {
    return this.#open?.from;
  }

  /** The time at which the agent was heard last. */
  get last(): number | undefined {
    return (this.#open ?? this.ended.at(-1))?.to;
  }

  /** All spans, including the current one. */
  get all(): readonly AgentSpan[] {
    return this.#open ? [...this.ended, this.#open] : this.ended;
  }
}

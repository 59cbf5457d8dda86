/**
 * An agent's fixed lines as sound, made ahead, so that no engine is needed when they are due: fillers, excuses, the apology.
 *
 * Invariants: calls with the same voice share their lines; a call keeps those that were made for it until it is over, and of others the
 * lines of voices that were not heard for long are forgotten.
 */
import { samplesOf } from '../../../contracts/audio.js';
import { ServiceError } from '../../../contracts/errors.js';
import { LIMITS } from '../../../contracts/limits.js';
import type { TextPart } from '../../../contracts/ports/speech/speech.js';
import type { SpokenLine } from './spoken-line.js';
import type { AgentVoice } from './utterance.js';

async function* partsOf(text: string): AsyncGenerator<TextPart> {
  yield { kind: 'text', text };
}

/** Errors: those of `Speech`; `nothing_to_say`. */
async function spoken({ speech, options, caller }: AgentVoice, text: string): Promise<SpokenLine> {
  const { signal } = new AbortController();
  const parts: Int16Array[] = [];
  let length = 0;
  for await (const { audio } of speech.synthesizeTimed({ ...options, text: partsOf(text) }, caller, signal)) {
    const samples = samplesOf(audio);
    if ((length += samples.length) > LIMITS.session.lineSamples) break;
    parts.push(samples);
  }
  if (length === 0) throw new ServiceError('nothing_to_say');
  const samples = new Int16Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    samples.set(part, at);
    at += part.length;
  }
  return { text, samples };
}

const keyOf = ({ options, caller }: AgentVoice, text: string): string =>
  [caller.workspaceId, options.voice, options.likelyLanguage, text].join('\n');

/** The lines of all calls of a process. */
export class SpokenLines {
  /** The least recently used first. */
  readonly #lines = new Map<string, Promise<SpokenLine>>();

  /** The line in that voice, made now unless it was made before. Errors: those of `Speech`. */
  of(voice: AgentVoice, text: string): Promise<SpokenLine> {
    const key = keyOf(voice, text);
    const line = this.#lines.get(key) ?? this.#make(key, voice, text);
    this.#lines.delete(key);
    this.#lines.set(key, line);
    for (const [oldest] of this.#lines) {
      if (this.#lines.size <= LIMITS.session.spokenLines) break;
      this.#lines.delete(oldest);
    }
    return line;
  }

  #make(key: string, voice: AgentVoice, text: string): Promise<SpokenLine> {
    const line = spoken(voice, text);
    line.catch(() => {
      if (this.#lines.get(key) === line) this.#lines.delete(key);
    });
    return line;
  }
}

export class CallLines {
  /** Those that were made ahead for it. */
  #kept = new Map<string, Promise<SpokenLine>>();

  constructor(private readonly shared: SpokenLines) {}

  /** The line in that voice, made now unless it was made before. Errors: those of `Speech`. */
  of(voice: AgentVoice, text: string): Promise<SpokenLine> {
    return this.#kept.get(keyOf(voice, text)) ?? this.shared.of(voice, text);
  }

  /** Makes them one after the other, for later. Those that cannot be made now are made when they are due. Never rejects. */
  async prepare(voice: AgentVoice, texts: readonly string[]): Promise<void> {
    const kept = (this.#kept = new Map<string, Promise<SpokenLine>>());
    for (const text of new Set(texts)) {
      if (text === '') continue;
      const key = keyOf(voice, text);
      const line = this.shared.of(voice, text);
      kept.set(key, line);
      await line.catch(() => kept.delete(key));
    }
  }
}

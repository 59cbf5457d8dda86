/**
 * An agent's fixed lines as sound, made ahead, so that no engine is needed when they are due: fillers, excuses, the apology.
 *
 * Invariants: calls of a workspace with the same voice share their lines; a call keeps those that were made for it until it is over, and
 * others are kept among the workspace's speech.
 */
import { joinSamples, samplesOf } from '../../../contracts/audio.js';
import { ServiceError } from '../../../contracts/errors.js';
import { LIMITS } from '../../../contracts/limits.js';
import type { KeptSpeech } from '../../../contracts/ports/speech/kept-speech.js';
import type { TextPart } from '../../../contracts/ports/speech/speech.js';
import { leadOf } from './leading-silence.js';
import type { SpokenLine } from './spoken-line.js';
import type { AgentVoice } from './utterance.js';

async function* partsOf(text: string): AsyncGenerator<TextPart> {
  yield { kind: 'text', text };
}

/** Errors: those of `Speech`; `nothing_to_say`. */
async function spoken({ speech, options, caller }: AgentVoice, text: string): Promise<SpokenLine> {
  const { signal } = new AbortController();
  // It is kept as a whole.
  const request = { ...options, keepsRepeated: false, text: partsOf(text) };
  const parts: Int16Array[] = [];
  let length = 0;
  for await (const { audio } of speech.synthesizeTimed(request, caller, signal)) {
    const samples = samplesOf(audio);
    if ((length += samples.length) > LIMITS.session.lineSamples) break;
    parts.push(samples);
  }
  if (length === 0) throw new ServiceError('nothing_to_say');
  const samples = joinSamples(parts);
  return { text, samples: samples.slice(leadOf(samples)) };
}

const keyOf = ({ options, caller }: AgentVoice, text: string): string =>
  ['line', caller.workspaceId, options.voice, options.likelyLanguage, text].join('\n');

/** The lines of all calls of a process. */
export class SpokenLines {
  /** Those that are being made. */
  readonly #making = new Map<string, Promise<SpokenLine>>();

  /** `kept`: where those that were made are kept; absent: nowhere. */
  constructor(private readonly kept?: KeptSpeech) {}

  /** The line in that voice, made now unless it was made before. Errors: those of `Speech`. */
  of(voice: AgentVoice, text: string): Promise<SpokenLine> {
    const key = keyOf(voice, text);
    const making = this.#making.get(key);
    if (making) return making;
    const kept = this.kept?.find(voice.caller.workspaceId, key);
    return kept ? Promise.resolve({ text, samples: kept.samples }) : this.#make(key, voice, text);
  }

  #make(key: string, voice: AgentVoice, text: string): Promise<SpokenLine> {
    const line = spoken(voice, text)
      .then((made) => {
        this.kept?.keep(voice.caller.workspaceId, key, { samples: made.samples, words: [] });
        return made;
      })
      .finally(() => this.#making.delete(key));
    this.#making.set(key, line);
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

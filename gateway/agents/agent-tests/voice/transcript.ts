/** The transcript of a call by voice: the caller's words as intended, the agent's as they were heard. */
import { bytesOf, RECOGNITION_RATE } from '../../../../contracts/audio.js';
import { DEFAULT_TRANSCRIPTION_MODEL } from '../../../../contracts/speech/models.js';
import type { Caller } from '../../../../contracts/ports/accounts/identity.js';
import type { TranscriptLine } from '../../../../contracts/ports/agents/agent-tests.js';
import type { SessionItem } from '../../../../contracts/ports/sessions/sessions.js';
import type { Transcription } from '../../../../contracts/ports/speech/speech.js';
import { explained } from '../errors.js';
import type { AgentSpan } from './agent-spans.js';
import type { CallerTurn } from './timeline.js';

export interface TranscriptParts {
  readonly transcription: Pick<Transcription, 'transcribe'>;
  readonly caller: Caller;
  readonly language: string;
}

/** Transcribes each span once. */
export class SpanTranscripts {
  readonly #texts = new Map<AgentSpan, Promise<string>>();

  constructor(
    private readonly parts: TranscriptParts,
    private readonly signal: AbortSignal,
  ) {}

  /** Errors: `PlayError`; the signal's reason. */
  textOf(span: AgentSpan): Promise<string> {
    const known = this.#texts.get(span);
    if (known) return known;
    const text = this.#transcribe(span);
    this.#texts.set(span, text);
    return text;
  }

  async #transcribe({ chunks }: AgentSpan): Promise<string> {
    const { transcription, caller, language } = this.parts;
    const audio = { chunks: chunks.map(bytesOf), sampleRate: RECOGNITION_RATE };
    const request = { audio, model: DEFAULT_TRANSCRIPTION_MODEL, language };
    const transcript = transcription.transcribe(request, caller, this.signal);
    return (await explained('What the agent said was not recognised', transcript, this.signal)).text.trim();
  }

  /** In the order in which they began; spans of one answer are one line; empty: sound without words. */
  async lines(turns: readonly CallerTurn[], spans: readonly AgentSpan[]): Promise<readonly TranscriptLine[]> {
    const heard: TranscriptLine[] = [];
    for (const span of spans)
      heard.push({ speaker: 'agent', text: await this.textOf(span), fromMs: span.from, toMs: span.to });
    const said = turns.map(({ text, from, to, interrupts, backchannel }): TranscriptLine => ({
      speaker: 'caller',
      text,
      fromMs: from,
      toMs: to,
      ...(interrupts && { interrupts }),
      ...(backchannel && { backchannel }),
    }));
    return [...said, ...heard]
      .sort((one, other) => one.fromMs - other.fromMs)
      .reduce<TranscriptLine[]>((lines, line) => {
        const last = lines.at(-1);
        if (line.speaker === 'caller' || last?.speaker !== 'agent') return [...lines, line];
        return [
          ...lines.slice(0, -1),
          { ...last, text: `${last.text} ${line.text}`.trim(), toMs: line.toMs },
        ];
      }, []);
  }
}

/** The lines as items of a conversation's record, for the model that plays the user and for the judge. */
export const itemsOf = (lines: readonly TranscriptLine[]): readonly SessionItem[] =>
  lines.map(({ speaker, text, fromMs }, index) => ({
    type: 'message',
    role: speaker === 'caller' ? 'user' : 'assistant',
    content: text,
    turnId: index + 1,
    createdAt: new Date(fromMs),
  }));

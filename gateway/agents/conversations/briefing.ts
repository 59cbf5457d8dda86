/** The colleague's briefing about a caller before they are connected: our introduction, and a summary if the language model can write one. */
import type { Clock } from '../../../contracts/clock.js';
import { LANGUAGE_NAMES } from '../../../contracts/speech/languages.js';
import { LIMITS } from '../../../contracts/limits.js';
import type { ChatEvent, ChatMessage, ChatRequest } from '../../../contracts/ports/chat.js';
import type { SessionPlan } from '../../../contracts/ports/sessions/sessions.js';
import type { Briefing } from '../../../contracts/phone/transfers.js';
import { ContextWindow } from './context-window.js';
import { introductionIn } from './lines.js';

export interface BriefingParts {
  /** Undefined if there is no language model that could write a summary. */
  readonly ask: ((request: ChatRequest, signal: AbortSignal) => AsyncIterable<ChatEvent>) | undefined;
  readonly plan: SessionPlan;
  /** The conversation so far. */
  readonly said: readonly ChatMessage[];
  readonly contextTokens?: number | undefined;
  readonly clock: Pick<Clock, 'after'>;
}

const { briefing: MOST_CHARACTERS, briefingMs } = LIMITS.phone;

function requestOf({ said, plan, contextTokens }: BriefingParts): ChatRequest {
  const language = LANGUAGE_NAMES[plan.config.voice.speaking_language];
  const task =
    'A call is handed over to a colleague, to whom your answer is read aloud. Say in at most three short sentences who calls and what they ' +
    `need, as far as the conversation tells it. No greeting, no question, nothing that was not said. Write ${language}.`;
  const conversation = new ContextWindow(contextTokens)
    .fit(said, 0)
    .flatMap(({ role, content }) =>
      (role === 'user' || role === 'assistant') && content !== '' ? [`${role}: ${content}`] : [],
    );
  return {
    messages: [
      { role: 'system', content: task },
      { role: 'user', content: conversation.join('\n') },
    ],
    tools: [],
    passages: [],
  };
}

/** Empty if the model fails or takes too long. */
async function summaryOf(parts: BriefingParts, ended: AbortSignal): Promise<string> {
  if (!parts.ask) return '';
  const late = new AbortController();
  const stop = parts.clock.after(briefingMs, () => late.abort());
  let text = '';
  try {
    for await (const event of parts.ask(requestOf(parts), AbortSignal.any([ended, late.signal]))) {
      if (event.kind === 'text') text += event.text;
      if (text.length > MOST_CHARACTERS) break;
    }
  } catch {
    return '';
  } finally {
    stop();
  }
  return wholeSentences(text.replace(/\s+/g, ' ').trim(), MOST_CHARACTERS);
}

/** As many whole sentences as fit into so many characters; cut off if not even one does. */
export function wholeSentences(text: string, most: number): string {
  if (text.length <= most) return text;
  const cut = text.slice(0, most);
  return /^.*[.!?。！？](?=\s|$)/su.exec(cut)?.[0] ?? cut;
}

/** `asks`: whether the colleague is asked afterwards to take the call. Never rejects. */
export async function briefingOf(
  parts: BriefingParts,
  asks: boolean,
  signal: AbortSignal,
): Promise<Briefing> {
  const { voice_id: voiceId, speaking_language: language } = parts.plan.config.voice;
  const lines = [introductionIn(language), await summaryOf(parts, signal)];
  return { text: lines.filter((line) => line !== '').join(' '), asks, language, voiceId };
}

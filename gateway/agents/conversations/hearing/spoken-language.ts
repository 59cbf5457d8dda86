/**
 * The language of a call whose agent hears several (`voice.languages`). It changes when the caller changes it, and to one of these
 * languages only (ops/adr/0082-languages-of-a-call.md).
 *
 * A few words may be a name, a brand, or a mistake of the recogniser: they change nothing by themselves. So many in one stretch of voice do,
 * and fewer in the same language twice in a row.
 */
import type { Language } from '../../../../contracts/speech/languages.js';
import { isLanguage } from '../../../../contracts/speech/languages.js';
import type { SessionPlan } from '../../../../contracts/ports/sessions/sessions.js';

/** Words that change the language at once, and characters of scripts without spaces. */
const MOST_DOUBTFUL = { words: 3, signs: 9 } as const;
const SIGN = /[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Hang}]/gu;

const isLong = (text: string): boolean =>
  (text.match(/\p{L}[\p{L}\p{M}'’]*/gu)?.length ?? 0) > MOST_DOUBTFUL.words ||
  (text.match(SIGN)?.length ?? 0) > MOST_DOUBTFUL.signs;

/** The languages in which the agent hears callers: its own first. */
export const languagesOf = ({
  speaking_language: own,
  languages,
}: SessionPlan['config']['voice']): readonly Language[] => [...new Set([own, ...(languages ?? [])])];

export class SpokenLanguage {
  /** Heard last, if it is another one than that of the call. */
  #other: Language | undefined;

  constructor(
    private readonly known: readonly string[],
    private readonly current: string,
  ) {}

  /** The language of a transcript as the recogniser reports it: the new one of the call, or undefined if that stays. */
  heard(text: string, language: string | undefined): Language | undefined {
    if (language === undefined || !isLanguage(language) || !this.known.includes(language)) return undefined;
    const before = this.#other;
    this.#other = language === this.current ? undefined : language;
    if (this.#other === undefined) return undefined;
    return isLong(text) || before === language ? language : undefined;
  }
}

/** Who speaks a language in a call. */
export type SpeakerOf = 'own' | 'default' | 'nobody';

/** The plan of an agent that speaks that language now. Sentences of its own are in its own, so that usual ones take their place. */
export function spokenIn(plan: SessionPlan, language: Language, speaker: SpeakerOf): SessionPlan {
  const { voice, tools, conversation, prompt } = plan.config;
  if (language === voice.speaking_language) return plan;
  const usual = (mode: 'auto' | 'fixed' | 'off') => (mode === 'fixed' ? 'auto' : mode);
  return {
    ...plan,
    ...(plan.system && { system: { ...plan.system, 'system.language': language } }),
    config: {
      ...plan.config,
      voice: { ...voice, speaking_language: language, ...(speaker !== 'own' && { voice_id: 'default' }) },
      tools: { ...tools, filler_mode: usual(tools.filler_mode) },
      conversation: { ...conversation, recovery_mode: usual(conversation.recovery_mode) },
      prompt: { ...prompt, first_message: '' },
    },
  };
}

/** What agents are asked, and the sources from which they answer: made for this scenario, in three languages. */

/** `direct`: in words of the source; `paraphrase`: in other words; `follow-up`: it says by itself not what it is about. */
export type Kind = 'direct' | 'paraphrase' | 'follow-up';

export interface Question {
  readonly kind: Kind;
  /** What the caller said, the newest first. */
  readonly turns: readonly string[];
  /** Stands in the passage that answers, and in no other. */
  readonly answer: string;
}

export interface Source {
  /** Of its language, as in ISO 639-1. */
  readonly language: string;
  readonly name: string;
  /** Markdown. */
  readonly text: string;
  readonly questions: readonly Question[];
}

export const direct = (asked: string, answer: string): Question => ({
  kind: 'direct',
  turns: [asked],
  answer,
});

export const paraphrase = (asked: string, answer: string): Question => ({
  kind: 'paraphrase',
  turns: [asked],
  answer,
});

export const followUp = (before: string, asked: string, answer: string): Question => ({
  kind: 'follow-up',
  turns: [asked, before],
  answer,
});

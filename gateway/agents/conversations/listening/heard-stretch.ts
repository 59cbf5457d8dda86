/** The transcript of a stretch of the user's voice. */
export interface HeardStretch {
  readonly span: number;
  /** So far; `final`: to its end. */
  readonly text: string;
  readonly final: boolean;
  /** The language of a final text, where several may be spoken and the recogniser tells it. */
  readonly language?: string | undefined;
  /** The text is that of all stretches since this one, and replaces theirs. */
  readonly joins?: number;
  /** Code of the error, if it is unknown. */
  readonly lost?: string;
}

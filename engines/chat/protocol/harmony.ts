/**
 * Harmony, the format of gpt-oss: messages with a channel. `final` is speech; `analysis` is a thought; `commentary` to a tool is
 * a call, and else a note about calls. A header stands before each message:
 * `<|start|>assistant<|channel|>commentary to=functions.weather <|constrain|>json<|message|>{…}<|call|>`.
 */
const HEADER =
  /^(?:<\|start\|>([^<]{0,100}))?<\|channel\|>([^<]{1,100})(?:<\|constrain\|>[^<]{0,40})?<\|message\|>/;

const RECIPIENT = /\bto=([\w.:-]{1,200})/;

/** Ends of a message, which are part of it. */
export const MESSAGE_ENDS: readonly string[] = ['<|end|>', '<|call|>', '<|return|>'];

export interface HarmonyMessage {
  readonly headerLength: number;
  readonly isSpeech: boolean;
  /** The tool that it calls. */
  readonly recipient: string | undefined;
}

/** The header at the beginning of a text. */
export function harmonyMessage(text: string): HarmonyMessage | undefined {
  const [header, start = '', channel = ''] = HEADER.exec(text) ?? [];
  if (header === undefined) return undefined;
  const recipient = RECIPIENT.exec(`${start} ${channel}`)?.[1];
  const isSpeech = recipient === undefined && /^\s*final\b/.test(channel);
  return { headerLength: header.length, isSpeech, recipient };
}

/** A header is at most this long, so that one that has begun is waited for. */
const MOST_HEADER = 300;

/** Whether a text may still become a header. */
export const mayBeHeader = (text: string): boolean =>
  text.length < MOST_HEADER && /^<\|(?:start|channel)\|>/.test(text) && !text.includes('<|message|>');

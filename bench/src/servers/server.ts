/** A server under test, or a baseline: where it is, how it is spoken to, and which process it is where that is known. */
export interface Server {
  /** How figures name it. */
  readonly name: string;
  /** Without a slash at the end. */
  readonly origin: string;
  readonly key: string;
  /** Headers that every request needs besides the key. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Base of `/audio/speech`, `/audio/transcriptions` and `/realtime`; undefined if the server lacks OpenAI's dialect. */
  readonly openai: string | undefined;
  /** Whether it has `/v1/tts` and `/v1/asr`. */
  readonly isNative: boolean;
  /** Hz of its raw PCM by the OpenAI dialect. */
  readonly pcmRate: number;
  /** Its first process, on this machine; children are found below it. */
  readonly pid?: number;
  stop(): Promise<void>;
}

export const authorizationOf = ({
  key,
  headers,
}: Pick<Server, 'key' | 'headers'>): Record<string, string> => ({
  ...headers,
  ...(key === '' ? {} : { authorization: `Bearer ${key}` }),
});

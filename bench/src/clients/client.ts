/**
 * A client sends one kind of request. What came back is judged when the load is over, so that judging takes no time from
 * sending; `perform` hands over how.
 */
export type Verdict =
  | { readonly failure: string }
  | {
      /** By name: milliseconds of `performance.now()`. They are told from when the request was due. */
      readonly instants: Readonly<Record<string, number>>;
      /** By name: what is told as it is. */
      readonly values?: Readonly<Record<string, number>>;
    };

export interface Client {
  /** Before the load: connections, sockets. */
  open?(): Promise<void>;
  /** One request, the `index`th of its load. What it throws is a failure, named by `failureOf`. */
  perform(index: number, signal: AbortSignal): Promise<() => Verdict>;
  close(): Promise<void>;
}

/** A few words for what went wrong, with nothing of the request in them: the same words for the same fault. */
export function failureOf(error: unknown): string {
  const { name, code, message } = error as { name?: string; code?: string; message?: string };
  if (name === 'TimeoutError' || name === 'AbortError') return 'no answer in time';
  if (code === 'UND_ERR_SOCKET' || message === 'terminated') return 'cut off';
  return code ?? message ?? 'failed';
}

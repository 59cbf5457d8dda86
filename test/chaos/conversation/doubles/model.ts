/**
 * A language model whose faults can be switched, for each call or for all. The agent's instructions name the call: `[call NAME]`.
 * Without a fault it answers as the call's script says.
 */
import type { ServerResponse } from 'node:http';
import { delta, sse } from '../../../fixtures/chat/server.js';
import { type Answered, type Model, type ModelMessage, startModel } from '../../../fixtures/chat/model.js';
import { HTTP_FAULTS } from './http.js';
import { Switch } from './switch.js';

type Messages = readonly ModelMessage[];
type Faulty = (messages: Messages, response: ServerResponse) => void;

/** What it was going to say when it was cut off. */
export const CUT_SHORT = 'It is open until six. On Sundays';
/** The tool that it calls. */
export const ORDER = 'Order';
const THOUGHT_MS = 200;
/** Characters of a request that fit into its window. */
const WINDOW = 4000;

const begin = (response: ServerResponse): void =>
  void response.writeHead(200, { 'content-type': 'text/event-stream' });

/** An answer that stops for `reason`; null: its stream ends without an end. */
const cut =
  (reason: string | null): Faulty =>
  (_, response) => {
    begin(response);
    response.write(sse(delta({ content: CUT_SHORT })));
    const last = { choices: [{ index: 0, delta: {}, finish_reason: reason }] };
    response.end(reason === null ? '' : sse(last, '[DONE]'));
  };

/** Sends these for ever. */
const keepsSending =
  (piece: object): Faulty =>
  (_, response) => {
    begin(response);
    const timer = setInterval(() => response.write(sse(delta(piece))), THOUGHT_MS);
    response.on('close', () => clearInterval(timer));
  };

const lengthOf = (messages: Messages): number =>
  messages.reduce((sum, { content }) => sum + (content?.length ?? 0), 0);

const refuseLength = (messages: Messages, response: ServerResponse): void => {
  const [most, asked] = [WINDOW / 4, Math.ceil(lengthOf(messages) / 4)];
  const message = `This model's maximum context length is ${most} tokens. However, you requested ${asked} tokens`;
  response.writeHead(400, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ error: { message, type: 'BadRequestError', code: 400 } }));
};

const own = {
  /** Half a sentence, then nothing. */
  stalls: (_, response) => {
    begin(response);
    response.write(sse(delta({ content: CUT_SHORT })));
  },
  thinks: keepsSending({ reasoning_content: 'Hmm. ' }),
  'blank lines': keepsSending({ content: '\n' }),
  empty: cutOff('stop'),
  length: cut('length'),
  'content filter': cut('content_filter'),
  unfinished: cut(null),
} as const satisfies Record<string, Faulty>;

/** An answer without a word. */
function cutOff(reason: string): Faulty {
  return (_, response) => {
    begin(response);
    response.end(sse({ choices: [{ index: 0, delta: {}, finish_reason: reason }] }, '[DONE]'));
  };
}

/** Faults that depend on what is asked: undefined where the model answers as usual. */
const CONDITIONAL: Readonly<Record<string, (messages: Messages) => Answered | undefined>> = {
  /** Its tool calls are text. */
  'tools as text': (messages) =>
    messages.at(-1)?.role === 'tool' || saysOrdered(messages)
      ? undefined
      : `<tool_call>\n{"name": "${ORDER}", "arguments": {}}\n</tool_call>`,
  'small window': (messages) =>
    lengthOf(messages) > WINDOW ? (response) => refuseLength(messages, response) : undefined,
};

/** Whether it was ordered since somebody said something: a conversation may have ordered before. */
const saysOrdered = (messages: Messages): boolean =>
  messages
    .slice(messages.findLastIndex(({ role }) => role === 'user') + 1)
    .some(({ content }) => content?.includes('ordered') ?? false);

const FAULTY: Readonly<Record<string, Faulty>> = {
  ...own,
  ...Object.fromEntries(
    Object.entries(HTTP_FAULTS).map(([name, fails]): [string, Faulty] => [
      name,
      (_, response) => fails(response),
    ]),
  ),
};

export type ModelFault = keyof typeof own | keyof typeof HTTP_FAULTS | 'tools as text' | 'small window';

/** What the model says in a call. */
export type Script = (messages: Messages) => Answered;

export interface ModelDouble extends Pick<Model, 'url' | 'asked' | 'away' | 'back'> {
  readonly faults: Switch<ModelFault>;
  /** Sets what it says in a call. */
  script(call: string, says: Script): void;
}

/** The call that a request is about. */
const callOf = (messages: Messages): string | undefined =>
  /\[call ([\w-]+)\]/.exec(messages.map(({ content }) => content ?? '').join('\n'))?.[1];

export async function startModelDouble(t: { teardown(end: () => unknown): void }): Promise<ModelDouble> {
  const model = await startModel();
  t.teardown(() => model.stop());
  const faults = new Switch<ModelFault>();
  const scripts = new Map<string, Script>();
  model.answer((messages) => {
    const call = callOf(messages);
    const fault = faults.of(call);
    const faulty = fault === undefined ? undefined : FAULTY[fault];
    if (faulty) return (response) => faulty(messages, response);
    const usual = (): Answered => scripts.get(call ?? '')?.(messages) ?? 'Yes.';
    return (fault === undefined ? undefined : CONDITIONAL[fault]?.(messages)) ?? usual();
  });
  const { url, asked, away, back } = model;
  return { url, asked, away, back, faults, script: (call, says) => void scripts.set(call, says) };
}

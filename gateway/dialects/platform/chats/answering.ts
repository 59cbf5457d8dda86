/** What an answer in a chat tells its client: as server-sent events while it is written, or as one object. */
import type { ServiceError } from '../../../../contracts/errors.js';
import { toServiceError } from '../../../../contracts/errors.js';
import { LIMITS } from '../../../../contracts/limits.js';
import type { ChatNews, ChatOutcome, OpenChat } from '../../../../contracts/ports/calls/chats.js';
import { AsyncQueue } from '../../../../media/async-queue.js';
import type { HttpRequest, Reply } from '../../../server/port.js';
import { formatEvent, SSE_HEADERS } from '../../../server/sse.js';

type Of<On extends ChatNews['on']> = Extract<ChatNews, { readonly on: On }>;

const toolOf = ({ callId, toolName, toolSource }: Of<'tool_call' | 'tool_result'>) => ({
  call_id: callId,
  tool_name: toolName,
  tool_source: toolSource,
});

const BODIES: { readonly [On in ChatNews['on']]: (news: Of<On>) => object } = {
  delta: ({ text }) => ({ text }),
  tool_call: (news) => ({ ...toolOf(news), input: news.input }),
  tool_result: (news) => ({ ...toolOf(news), output: news.output, error: news.error }),
  message: ({ item: { content, error, turnId, createdAt } }) => ({
    content,
    ...(error !== undefined && { error }),
    turn_id: turnId,
    created_at: createdAt.toISOString(),
  }),
};

const bodyOf = (news: ChatNews): object => (BODIES[news.on] as (news: ChatNews) => object)(news);

export const endOf = (chatId: string, { ended, cut }: ChatOutcome) => ({ chat_id: chatId, ended, cut });

/** The answer as one object, once it is over. Errors: those of `OpenChat.answer`. */
export async function wholeAnswer(
  chat: OpenChat,
  chatId: string,
  text: string | undefined,
  signal: AbortSignal,
): Promise<object> {
  const heard: ChatNews[] = [];
  const told = (news: ChatNews): boolean => {
    if (news.on !== 'delta') heard.push(news);
    return true;
  };
  const outcome = await chat.answer(text, { told, signal });
  const all = (on: ChatNews['on']) => heard.filter((news) => news.on === on).map(bodyOf);
  const written = heard.flatMap((news) => (news.on === 'message' ? [news.item.content] : []));
  return {
    ...endOf(chatId, outcome),
    text: written.join('\n\n'),
    messages: all('message'),
    tool_calls: all('tool_call'),
    tool_results: all('tool_result'),
  };
}

const errorEvent = ({ status, code, message }: ServiceError): string =>
  formatEvent({ event: 'error', data: { status, code, message } });

/** The answer as it is written. It begins once the chat is open, and ends with its client. Errors: those of `open`. */
export async function streamedAnswer(
  open: () => Promise<OpenChat>,
  chatId: string,
  text: string,
  request: Pick<HttpRequest, 'signal' | 'share'>,
): Promise<Reply> {
  const { signal } = request;
  const events = new AsyncQueue<string>(({ length }) => length, request.share('answer'));
  const chat = await open();
  const told = (news: ChatNews): boolean =>
    events.bytes <= LIMITS.agentChat.waitingBytes &&
    events.push(formatEvent({ event: news.on, data: bodyOf(news) }));
  chat
    .answer(text, { told, signal })
    .then((outcome) => events.push(formatEvent({ event: 'end', data: endOf(chatId, outcome) })))
    .catch((error: unknown) => events.push(errorEvent(toServiceError(error))))
    .finally(() => events.end());
  return { status: 200, headers: SSE_HEADERS, body: events, breakOff: errorEvent };
}

/** A language model whose answers and failures are told to the keeper of parts. */
import type { ChatModel } from '../../contracts/ports/chat.js';
import { askedFor, type Keeper, type Part } from '../../contracts/ports/parts.js';

/** Errors of `chat`: those of the model. */
export function watchedChat(chat: ChatModel, part: Part, keeper: Keeper): ChatModel {
  keeper.knowPart(part);
  return {
    ...chat,
    chat: (request, signal) => askedFor(keeper.ask(part, request.whom), chat.chat(request, signal), signal),
  };
}

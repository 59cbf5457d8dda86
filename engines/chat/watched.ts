/** A language model whose answers and failures are told to the keeper of parts. */
import type { ChatEvent, ChatModel, ChatRequest } from '../../contracts/ports/chat.js';
import type { Keeper, Part } from '../../contracts/ports/parts.js';

/** Errors of `chat`: those of the model. An answer that its reader leaves after it has begun counts as one. */
export const watchedChat = (chat: ChatModel, part: Part, keeper: Keeper): ChatModel => {
  keeper.know(part);
  return {
    ...chat,
    async *chat(request: ChatRequest, signal: AbortSignal): AsyncGenerator<ChatEvent> {
      const question = keeper.ask(part, request.whom);
      try {
        for await (const event of chat.chat(request, signal)) {
          question.began();
          yield event;
        }
        question.ended();
      } catch (error) {
        question.ended(error, signal);
        throw error;
      } finally {
        question.left();
      }
    },
  };
};

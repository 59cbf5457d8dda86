/** The section `webhooks` of an agent's configuration: addresses of its owner that are asked or told of calls (docs/webhooks.md). */
import { LIMITS } from '../limits.js';
import { leaf, nullable, strict, text } from './shapes.js';
import { type Static, Type } from './type.js';
import { HasSecret } from './write-only.js';

const { postCallWebhook: hook, conversationInit: init } = LIMITS;

const seconds = (extra: object = {}) =>
  Type.Number({ minimum: init.timeoutSeconds.min, maximum: init.timeoutSeconds.max, ...extra });

const Init = Type.Object({
  url: text(hook.url),
  has_secret: Type.Boolean(),
  timeout_seconds: seconds(),
  web: Type.Boolean(),
});
export type ConversationInit = Static<typeof Init>;

export const Webhooks = Type.Object({
  post_call: Type.Array(Type.Object({ url: text(hook.url), has_secret: Type.Boolean() }), {
    maxItems: hook.count,
  }),
  conversation_init: nullable(Init),
});
export type Webhooks = Static<typeof Webhooks>;

export const DEFAULT_WEBHOOKS: Webhooks = { post_call: [], conversation_init: null };
/** What a new question before calls has, where its owner says nothing. */
export const INIT_DEFAULTS = { timeout_seconds: init.timeoutSeconds.default, web: false } as const;

const secret = leaf(
  text(hook.secret, {
    description:
      'Signs the requests, and is never shown again. Absent, or null beside `has_secret: true`, keeps the stored one of the same ' +
      'URL; null alone removes it.',
  }),
);

const PostCallChange = strict({ url: text(hook.url), secret, has_secret: Type.Optional(HasSecret) });

const InitChange = strict(
  {
    url: text(hook.url),
    secret,
    has_secret: Type.Optional(HasSecret),
    timeout_seconds: leaf(
      seconds({
        description: 'How long the call waits for the answer; without it, it goes on without its variables.',
      }),
    ),
    web: leaf(
      Type.Boolean({ description: 'Whether it is asked before calls from web pages and programs, too.' }),
    ),
  },
  {
    description:
      'Asked before an inbound phone call is answered: the `dynamic_variables` of its answer fill the prompt. Without an address nobody ' +
      'is asked.',
  },
);
export type InitChange = Static<typeof InitChange>;

export const WebhooksChange = strict({
  post_call: leaf(
    Type.Array(PostCallChange, {
      maxItems: hook.count,
      description:
        'Gets the events of each call after its end. A new value replaces the list; one object stands for a list of one, null and [] clear it.',
    }),
  ),
  conversation_init: leaf(InitChange),
});

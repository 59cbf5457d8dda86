/** Names of the headers of post-call deliveries (docs/webhooks.md); their signature is made in gateway/outbound/signer.ts. */
import type { Vocabulary } from '../vocabulary.js';

export const signatureHeader = ({ headerPrefix }: Vocabulary): string => `${headerPrefix}Webhook-Signature`;
export const eventIdHeader = ({ headerPrefix }: Vocabulary): string => `${headerPrefix}Webhook-Event-Id`;

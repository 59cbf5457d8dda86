/** What the process that reads a document says of it. */
import { LIMITS } from '../../contracts/limits.js';

/** `refusal`: what is wrong with it, behind its name. */
export type DocumentResult = { readonly text: string } | { readonly refusal: string };

export const TOO_LONG = {
  refusal: `has more than ${LIMITS.document.textBytes / 1_000_000} MB of text: divide it`,
} satisfies DocumentResult;

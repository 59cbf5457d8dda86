/** Why a call is not placed, as one word for programs (docs/contract/platform.md 6.14). */
import { ErrorBody } from '../../../../contracts/schemas/shapes.js';
import { answers } from '../../../server/openapi/openapi-parts.js';
import { type ErrorCode, ServiceError } from '../../../../contracts/errors.js';

/** Words for errors that have none of their own. */
const BY_CODE: Readonly<Partial<Record<ErrorCode, string>>> = {
  quota_exceeded: 'insufficient_credit',
  concurrency_exceeded: 'concurrency_limit_exceeded',
};

/** Codes instead of those of `/calls`, by reason. */
export type Codes = Readonly<Partial<Record<string, ErrorCode>>>;

/** Refusal of a workspace that places no calls. */
export const NO_OUTBOUND = answers(
  403,
  'Placing calls is turned off for the workspace (`outbound_disabled`)',
  ErrorBody,
);

/** What `work` resolves with; its errors get a reason, where there is one, and the code that belongs to it. Errors: those of `work`. */
export async function reasoned<T>(work: () => Promise<T>, codes: Codes = {}): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const reason = error.reason ?? BY_CODE[error.code];
    throw reason === undefined ? error : error.because(reason, codes[reason]);
  }
}

/** What `work` returns; an error gets this reason. Errors: those of `work`. */
export function because<T>(reason: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw error instanceof ServiceError ? error.because(reason) : error;
  }
}

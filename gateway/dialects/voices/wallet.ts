/**
 * The wallet as its clients expect it. Credit is counted in characters of synthesis: the rest of the month's
 * quota, or without a quota a constant larger than any real usage.
 */
import { ServiceError } from '../../../contracts/errors.js';
import type { Caller } from '../../../contracts/ports/accounts/identity.js';
import type { Wallet } from '../../../contracts/ports/accounts/wallet.js';
import { answers } from '../../server/openapi/openapi-parts.js';
import type { HttpRequest } from '../../server/port.js';
import { json } from '../../server/replies.js';
import { tagged } from '../../server/routes.js';
import type { VoicesParts } from './parts.js';
import { failures, type VoicesHandler, type VoicesRow } from './rows.js';
import { ApiCredit, Package } from './schema.js';

const UNLIMITED = 1_000_000_000;
const DECIMALS = 6;

const amount = (characters: number): string => characters.toFixed(DECIMALS);

/** `/wallet/self/api-credit`. */
const creditOf = ({ since, from, characters }: Wallet, workspaceId: string) => ({
  _id: workspaceId,
  user_id: workspaceId,
  credit: amount(characters?.left ?? UNLIMITED),
  cumulative_top_up: amount(characters?.quota ?? UNLIMITED),
  created_at: since.toISOString(),
  updated_at: from.toISOString(),
  has_phone_sha256: false,
  has_free_credit: false,
});

/** `/wallet/self/package`. */
const packageOf = ({ from, until, characters }: Wallet, workspaceId: string) => ({
  _id: workspaceId,
  user_id: workspaceId,
  type: characters ? 'monthly' : 'unlimited',
  total: characters?.quota ?? UNLIMITED,
  balance: characters?.left ?? UNLIMITED,
  created_at: from.toISOString(),
  updated_at: from.toISOString(),
  finished_at: until.toISOString(),
});

/** Reads the wallet by `self` or by the id of the caller's workspace. */
async function walletOf({ params }: HttpRequest, { wallet }: VoicesParts, { workspaceId }: Caller) {
  const owner = params['self'];
  const found = owner === 'self' || owner === workspaceId ? await wallet(workspaceId) : undefined;
  if (found) return found;
  throw new ServiceError('not_found', { message: 'Wallet not found' });
}

const credit: VoicesHandler = async (request, parts, caller) =>
  json(200, creditOf(await walletOf(request, parts, caller), caller.workspaceId));

const plan: VoicesHandler = async (request, parts, caller) =>
  json(200, packageOf(await walletOf(request, parts, caller), caller.workspaceId));

export const WALLET_ROWS: readonly VoicesRow[] = tagged('wallet', [
  {
    method: 'GET',
    path: '/wallet/{self}/api-credit',
    permission: 'catalogue',
    handler: credit,
    description: {
      summary: 'Credit',
      description: 'In characters of synthesis. Usage is counted in batches, so it lags a few seconds.',
      responses: { ...answers(200, 'The credit', ApiCredit), ...failures(401, 404) },
    },
  },
  {
    method: 'GET',
    path: '/wallet/{self}/package',
    permission: 'catalogue',
    handler: plan,
    description: {
      summary: "The month's package",
      responses: { ...answers(200, 'The package', Package), ...failures(401, 404) },
    },
  },
]);

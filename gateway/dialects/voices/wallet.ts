/**
 * The wallet in the words of its clients. Credit is counted in characters of synthesis: what is left of the
 * month's quota, or a constant larger than anybody speaks where there is no quota.
 */
import type { Wallet } from '../../../contracts/ports/wallet.js';

const UNLIMITED = 1_000_000_000;
const DECIMALS = 6;

const amount = (characters: number): string => characters.toFixed(DECIMALS);

/** `/wallet/self/api-credit`. */
export const creditOf = ({ since, from, characters }: Wallet, workspaceId: string) => ({
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
export const packageOf = ({ from, until, characters }: Wallet, workspaceId: string) => ({
  _id: workspaceId,
  user_id: workspaceId,
  type: characters ? 'monthly' : 'unlimited',
  total: characters?.quota ?? UNLIMITED,
  balance: characters?.left ?? UNLIMITED,
  created_at: from.toISOString(),
  updated_at: from.toISOString(),
  finished_at: until.toISOString(),
});

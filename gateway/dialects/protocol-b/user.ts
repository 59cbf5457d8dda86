/**
 * The user of a key, which SDKs request when they start (docs/contract/decisions.md "Protocol B"). Characters are the
 * workspace's real figures; fields about billing that does not exist here are constant.
 */
import { ServiceError } from '../../../contracts/errors.js';
import { LIMITS } from '../../../contracts/limits.js';
import type { Caller } from '../../../contracts/ports/accounts/identity.js';
import type { Wallet } from '../../../contracts/ports/accounts/wallet.js';
import { json } from '../../server/replies.js';
import { callerOf } from './auth.js';
import type { ProtocolBParts } from './parts.js';
import { type ProtocolBHandler, reading, type ProtocolBRow } from './rows.js';
import { Subscription, User } from './schema.js';

/** Stands for no quota. */
const UNLIMITED = 2 ** 31 - 1;

const CONSTANT = {
  tier: 'self_hosted',
  status: 'active',
  max_character_limit_extension: null,
  max_credit_limit_extension: 'unlimited',
  can_extend_character_limit: false,
  allowed_to_extend_character_limit: false,
  voice_slots_used: 0,
  professional_voice_slots_used: 0,
  professional_voice_slots_used_in_workspace: 0,
  voice_limit: LIMITS.voice.perWorkspace,
  voice_add_edit_counter: 0,
  professional_voice_limit: 0,
  can_extend_voice_limit: false,
  can_use_professional_voice_cloning: false,
  currency: 'usd',
  current_overage: { amount: '0', currency: 'usd' },
  billing_period: 'monthly_period',
  character_refresh_period: 'monthly_period',
} as const;

const seconds = (date: Date): number => Math.floor(date.getTime() / 1000);

const subscriptionOf = ({ characters, until }: Wallet, clones: boolean): object => ({
  ...CONSTANT,
  character_count: characters ? characters.quota - characters.left : 0,
  character_limit: characters?.quota ?? UNLIMITED,
  next_character_count_reset_unix: seconds(until),
  can_use_instant_voice_cloning: clones,
});

/** Errors: `invalid_key` if the workspace no longer exists. */
async function walletOf({ wallet }: ProtocolBParts, { workspaceId }: Caller): Promise<Wallet> {
  const found = await wallet(workspaceId);
  if (found) return found;
  throw new ServiceError('invalid_key');
}

const readSubscription: ProtocolBHandler = async (request, parts) => {
  const wallet = await walletOf(parts, await callerOf(request, parts));
  const open = { open_invoices: [], has_open_invoices: false, next_invoice: null, pending_change: null };
  return json(200, { ...subscriptionOf(wallet, parts.voices.clones), ...open });
};

const readUser: ProtocolBHandler = async (request, parts) => {
  const caller = await callerOf(request, parts);
  const wallet = await walletOf(parts, caller);
  return json(200, {
    user_id: caller.workspaceId,
    workspace_id: caller.workspaceId,
    subscription: subscriptionOf(wallet, parts.voices.clones),
    is_new_user: false,
    can_use_delayed_payment_methods: false,
    is_onboarding_completed: true,
    is_onboarding_checklist_completed: true,
    is_api_key_hashed: true,
    created_at: seconds(wallet.since),
    seat_type: 'workspace_admin',
  });
};

export const USER_ROWS: readonly ProtocolBRow[] = [
  {
    method: 'GET',
    path: '/v1/user',
    permission: 'catalogue',
    handler: readUser,
    description: reading('Who the key belongs to (protocol B)', User, [401]),
  },
  {
    method: 'GET',
    path: '/v1/user/subscription',
    permission: 'catalogue',
    handler: readSubscription,
    description: reading('What may still be spoken (protocol B)', Subscription, [401]),
  },
];

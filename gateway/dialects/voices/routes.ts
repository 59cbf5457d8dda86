/** The routes of `/model` and `/wallet`: key first, then the address, then the body. */
import { ServiceError } from '../../../contracts/errors.js';
import type { Decode } from '../../../contracts/ports/codec.js';
import type { Caller, KeyAuthority } from '../../../contracts/ports/identity.js';
import type { VoiceCatalogue } from '../../../contracts/ports/voices.js';
import type { ReadWallet } from '../../../contracts/ports/wallet.js';
import { authenticate } from '../../server/auth.js';
import type { HttpRequest, Reply } from '../../server/port.js';
import { readBody } from './bodies.js';
import { checked } from './checked.js';
import { newVoice } from './creation.js';
import { entityOf } from './entity.js';
import { pageOf } from './listing.js';
import { listQuery } from './query.js';
import { Changes } from './schema.js';
import { creditOf, packageOf } from './wallet.js';

export interface VoicesParts {
  readonly voices: VoiceCatalogue;
  readonly wallet: ReadWallet;
  /** Tells whether reference audio is audio. */
  readonly decode: Decode;
  readonly keys: KeyAuthority;
}

export type Handler = (request: HttpRequest, parts: VoicesParts, caller: Caller) => Promise<Reply>;

const checkChanges = checked(Changes);

const json = (status: number, value: object): Reply => ({
  status,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(value),
});

const notFound = (message: string): ServiceError => new ServiceError('not_found', { message });

const idOf = ({ params }: HttpRequest): string => params['id'] ?? '';

/** Reads the caller's voice. Errors: `not_found`. */
async function voiceOf(request: HttpRequest, { voices }: VoicesParts, { workspaceId }: Caller) {
  const voice = await voices.read(idOf(request), workspaceId);
  if (voice) return voice;
  throw notFound('Model not found');
}

export const list: Handler = async (request, { voices }, { workspaceId }) => {
  const query = listQuery(request.query);
  return json(200, pageOf(await voices.list(workspaceId), query));
};

export const read: Handler = async (request, parts, caller) =>
  json(200, entityOf(await voiceOf(request, parts, caller)));

export const create: Handler = async (request, { voices, decode }, { workspaceId }) => {
  if (!voices.clones) {
    const message = 'No configured engine can clone a voice from reference audio';
    throw new ServiceError('cloning_unavailable', { message });
  }
  const voice = await newVoice(await readBody(request), decode, request.signal);
  return json(201, entityOf(await voices.create(voice, workspaceId)));
};

/** Whether it may be changed comes before the body: a voice of an engine has no valid change. */
export const change: Handler = async (request, parts, caller) => {
  const { kind } = await voiceOf(request, parts, caller);
  if (kind === 'engine') throw new ServiceError('voice_read_only');
  const { title, description, visibility, tags } = checkChanges((await readBody(request)).fields);
  const changes = {
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    ...(visibility !== undefined && { visibility }),
    ...(tags !== undefined && { tags }),
  };
  if (!(await parts.voices.change(idOf(request), caller.workspaceId, changes)))
    throw notFound('Model not found');
  return { status: 200 };
};

export const remove: Handler = async (request, { voices }, { workspaceId }) => {
  if (await voices.remove(idOf(request), workspaceId)) return { status: 204 };
  throw notFound('Model not found');
};

/** `self`, or the workspace by its id. */
async function walletOf({ params }: HttpRequest, { wallet }: VoicesParts, { workspaceId }: Caller) {
  const owner = params['self'];
  const found = owner === 'self' || owner === workspaceId ? await wallet(workspaceId) : undefined;
  if (found) return found;
  throw notFound('Wallet not found');
}

export const credit: Handler = async (request, parts, caller) =>
  json(200, creditOf(await walletOf(request, parts, caller), caller.workspaceId));

export const plan: Handler = async (request, parts, caller) =>
  json(200, packageOf(await walletOf(request, parts, caller), caller.workspaceId));

/** A handler that knows who calls. Errors: `missing_key`, `invalid_key`. */
export const authenticated =
  (handler: Handler, parts: VoicesParts) =>
  async (request: HttpRequest): Promise<Reply> =>
    handler(request, parts, await authenticate(request, parts.keys));

/**
 * What a LiveKit server stores of numbers whose calls come in: of each a trunk, which says where they may come from, and a
 * dispatch rule, which gives each call a room and asks for one of our agents. Both are named by installation and number, and
 * carry a digest of what they were made from.
 *
 * Invariants: what others store is not touched; a number that is as it should be is left alone, so that its calls are taken
 * meanwhile; what exists twice, because two processes were at it, is there once in the end.
 */
import { createHash } from 'node:crypto';
import type { RoomConfiguration } from '@livekit/protocol';
import type { CreateSipInboundTrunkOptions, SipClient } from 'livekit-server-sdk';
import type { SipNumber } from '../../contracts/ports/sip.js';

export type SipStore = Pick<
  SipClient,
  | 'listSipInboundTrunk'
  | 'createSipInboundTrunk'
  | 'deleteSipTrunk'
  | 'listSipDispatchRule'
  | 'createSipDispatchRule'
  | 'deleteSipDispatchRule'
>;

export interface KeepingParts {
  readonly store: SipStore;
  /** Of this installation: also that of its agents' jobs. */
  readonly agentName: string;
  /** Of the room of a call to that number. */
  roomOf(numberId: string): RoomConfiguration;
  /** Of every trunk: how long a caller waits for an agent, and whether sound may be encrypted. */
  readonly trunk: Pick<CreateSipInboundTrunkOptions, 'ringingTimeout' | 'mediaEncryption'>;
}

interface Kept {
  readonly name: string;
  readonly metadata: string;
}

const digestOf = (value: unknown): string =>
  createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 32);

/** What is called: the number, or the user of a SIP address. */
export const userOf = (address: string): string => /^sips?:([^@]+)@/.exec(address)?.[1] ?? address;

/** Of those with the same name the first is meant, by whatever order its ids have. */
function firstOf<Each extends Kept>(all: readonly Each[], id: (each: Each) => string): Map<string, Each> {
  const sorted = [...all].sort((one, other) => (id(one) < id(other) ? 1 : -1));
  return new Map(sorted.map((each) => [each.name, each]));
}

/** One number as it should be. Errors: those of the server. */
async function keepOne(
  { id, address, sources }: SipNumber,
  name: string,
  kept: { readonly trunk: string | undefined; readonly digest: string },
  { store, agentName, roomOf, trunk }: KeepingParts,
): Promise<void> {
  const metadata = kept.digest;
  const options = { ...trunk, metadata, allowedAddresses: [...sources] };
  const trunkId =
    kept.trunk ?? (await store.createSipInboundTrunk(name, [userOf(address)], options)).sipTrunkId;
  const rule = { type: 'callee', roomPrefix: agentName, randomize: true } as const;
  await store.createSipDispatchRule(rule, { name, metadata, trunkIds: [trunkId], roomConfig: roomOf(id) });
}

/** Never stops at a number that the server refuses. Errors: the first one, once all have been tried. */
export async function keepNumbers(numbers: readonly SipNumber[], parts: KeepingParts): Promise<void> {
  const { store, agentName } = parts;
  const isOurs = ({ name }: Kept): boolean => name.startsWith(`${agentName}:`);
  const rules = (await store.listSipDispatchRule()).filter(isOurs);
  const trunks = (await store.listSipInboundTrunk()).filter(isOurs);
  const wanted = new Map(
    numbers.map((number) => [
      `${agentName}:${number.id}`,
      { number, digest: digestOf([userOf(number.address), number.sources, parts.trunk]) },
    ]),
  );
  const fits = ({ name, metadata }: Kept): boolean => wanted.get(name)?.digest === metadata;
  const ruleOf = firstOf(rules, (rule) => rule.sipDispatchRuleId);
  const trunkOf = firstOf(trunks, (trunk) => trunk.sipTrunkId);
  const stays = (rule: (typeof rules)[number]): boolean =>
    ruleOf.get(rule.name) === rule && fits(rule) && rule.trunkIds[0] === trunkOf.get(rule.name)?.sipTrunkId;
  for (const rule of rules) if (!stays(rule)) await store.deleteSipDispatchRule(rule.sipDispatchRuleId);
  for (const trunk of trunks)
    if (trunkOf.get(trunk.name) !== trunk || !fits(trunk)) await store.deleteSipTrunk(trunk.sipTrunkId);
  let failure: unknown;
  for (const [name, { number, digest }] of wanted) {
    const [rule, trunk] = [ruleOf.get(name), trunkOf.get(name)];
    if (rule && stays(rule)) continue;
    const kept = { trunk: trunk && fits(trunk) ? trunk.sipTrunkId : undefined, digest };
    await keepOne(number, name, kept, parts).catch((error: unknown) => (failure ??= error));
  }
  if (failure !== undefined) throw failure as Error;
}

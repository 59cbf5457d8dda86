/**
 * Records of a LiveKit server for numbers with inbound calls: for each a trunk, which says where calls may come from, and a
 * dispatch rule, which gives each call a room and asks for one of our agents. Both are named by installation and number, and
 * carry a digest of their source values.
 *
 * Invariants: records of others are not touched; a number whose records are right is left alone, so that it keeps taking
 * calls; duplicates, made by two processes at once, are reduced to one.
 */
import { createHash } from 'node:crypto';
import type { RoomConfiguration } from '@livekit/protocol';
import type { CreateSipInboundTrunkOptions, SipClient } from 'livekit-server-sdk';
import type { SipNumber } from '../../contracts/ports/phone/sip.js';

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
  /** Name of this installation, also the agent name of its jobs. */
  readonly agentName: string;
  /** Configuration of the room of a call to that number. */
  roomOf(numberId: string): RoomConfiguration;
  /** Options of every trunk: how long a caller waits for an agent, and whether audio may be encrypted. */
  readonly trunk: Pick<CreateSipInboundTrunkOptions, 'ringingTimeout' | 'mediaEncryption'>;
}

interface Kept {
  readonly name: string;
  readonly metadata: string;
}

const digestOf = (value: unknown): string =>
  createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 32);

/** The called user: the number itself, or the user part of a SIP address. */
export const userOf = (address: string): string => /^sips?:([^@]+)@/.exec(address)?.[1] ?? address;

/** The first record of each name, in the order of their ids. */
function firstOf<Each extends Kept>(all: readonly Each[], id: (each: Each) => string): Map<string, Each> {
  const sorted = [...all].sort((one, other) => (id(one) < id(other) ? 1 : -1));
  return new Map(sorted.map((each) => [each.name, each]));
}

/** Creates the missing records of one number. Errors: those of the server. */
async function keepOne(
  { id, address, sources, account }: SipNumber,
  name: string,
  kept: { readonly trunk: string | undefined; readonly digest: string },
  { store, agentName, roomOf, trunk }: KeepingParts,
): Promise<void> {
  const metadata = kept.digest;
  // Without either, the trunk would take calls from everybody.
  if (sources.length === 0 && !account)
    throw new Error(`the number ${id} has neither addresses nor an account`);
  const options = {
    ...{ ...trunk, metadata, allowedAddresses: [...sources] },
    ...(account && { authUsername: account.username, authPassword: account.password }),
  };
  const trunkId =
    kept.trunk ?? (await store.createSipInboundTrunk(name, [userOf(address)], options)).sipTrunkId;
  const rule = { type: 'callee', roomPrefix: agentName, randomize: true } as const;
  await store.createSipDispatchRule(rule, { name, metadata, trunkIds: [trunkId], roomConfig: roomOf(id) });
}

/** What a number's records are made of; the same as before for numbers without an account, whose trunks stay. */
const shapeOf = ({ address, sources, account }: SipNumber, { trunk }: KeepingParts): readonly unknown[] => [
  ...[userOf(address), sources, trunk],
  ...(account ? [account] : []),
];

/**
 * Brings the server's records in line with the numbers; continues after a refused one. Resolves with the errors of those that it does not
 * have, by id. Errors: those of reading and removing records.
 */
export async function keepNumbers(
  numbers: readonly SipNumber[],
  parts: KeepingParts,
): Promise<ReadonlyMap<string, unknown>> {
  const { store, agentName } = parts;
  const isOurs = ({ name }: Kept): boolean => name.startsWith(`${agentName}:`);
  const rules = (await store.listSipDispatchRule()).filter(isOurs);
  const trunks = (await store.listSipInboundTrunk()).filter(isOurs);
  const wanted = new Map(
    numbers.map((number) => [
      `${agentName}:${number.id}`,
      { number, digest: digestOf(shapeOf(number, parts)) },
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
  const failures = new Map<string, unknown>();
  for (const [name, { number, digest }] of wanted) {
    const [rule, trunk] = [ruleOf.get(name), trunkOf.get(name)];
    if (rule && stays(rule)) continue;
    const kept = { trunk: trunk && fits(trunk) ? trunk.sipTrunkId : undefined, digest };
    await keepOne(number, name, kept, parts).catch((error: unknown) => failures.set(number.id, error));
  }
  return failures;
}

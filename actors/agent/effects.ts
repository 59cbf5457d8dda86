/**
 * What a turn may do, and how far what the caller says meanwhile decides about it. The machine asks this table before anything
 * begins (job.ts), and the host before it cuts anything off (gateway/agents/conversations/tools/tools.ts).
 *
 * Speech can be taken back, and a lookup changes nothing; everything else happens in the world: begun over the caller's
 * correction, or cut off and repeated, it is an order too many.
 */

/** `user`: any voice, words, typed line, key or `user.interrupt`; `timeout`: its own time limit; `end`: the end of the call. */
export type CutBy = 'user' | 'timeout' | 'end';

export interface EffectRule {
  /** Whether it may begin while the user's voice is active or a transcript is owed. */
  readonly overUser: boolean;
  /** By what it may be cut off once it has begun. */
  readonly cutBy: readonly CutBy[];
}

/** What tools do; an answer is also spoken. */
export type Act = 'read' | 'effect' | 'handOver' | 'transfer' | 'hangUp';

export const EFFECTS: Readonly<Record<Act | 'speak', EffectRule>> = {
  speak: { overUser: false, cutBy: ['user', 'end'] },
  /** A webhook that is fetched by GET. */
  read: { overUser: true, cutBy: ['user', 'timeout', 'end'] },
  /** A webhook of any other method, a tool of an MCP server or of the client, keys of the telephone. */
  effect: { overUser: false, cutBy: ['timeout', 'end'] },
  /** Another agent takes over. */
  handOver: { overUser: false, cutBy: ['end'] },
  /** Somebody on the telephone takes over. It begins once the caller has heard of it. */
  transfer: { overUser: false, cutBy: ['timeout', 'end'] },
  /** The call ends. It begins with the tool, and once more with the end of the agent's last words. */
  hangUp: { overUser: false, cutBy: [] },
};

/** Whether these may begin whatever the user does. */
export const mayBeginOverUser = (acts: readonly Act[]): boolean => acts.every((act) => EFFECTS[act].overUser);

/** Whether the user's next words cut it off. */
export const isCutByUser = (act: Act): boolean => EFFECTS[act].cutBy.includes('user');

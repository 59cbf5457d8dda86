/** The rest of a workspace's speech quota, for the native API's wallet (docs/contract/native.md 5). */
export interface Wallet {
  /** When the workspace was created. */
  readonly since: Date;
  /** The month counted, UTC. */
  readonly from: Date;
  readonly until: Date;
  /** Characters of synthesis this month; absent if there is no quota. */
  readonly characters?: { readonly quota: number; readonly left: number };
}

/** The workspace's wallet; undefined if the workspace no longer exists. */
export type ReadWallet = (workspaceId: string) => Promise<Wallet | undefined>;

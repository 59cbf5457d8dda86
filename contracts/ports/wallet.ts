/** The rest of a workspace's speech quota, as the native API's wallet shows it (docs/contract/native.md 5). */
export interface Wallet {
  /** When the workspace was made. */
  readonly since: Date;
  /** The month that is counted, UTC. */
  readonly from: Date;
  readonly until: Date;
  /** Characters of synthesis this month; absent where there is no quota. */
  readonly characters?: { readonly quota: number; readonly left: number };
}

/** The workspace's wallet; undefined where the workspace is gone. */
export type ReadWallet = (workspaceId: string) => Promise<Wallet | undefined>;

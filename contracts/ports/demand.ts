/** How a piece of work is weighed against the others that wait for the same engine (engines/scheduling/). */
export interface Demand {
  /** Tells workspaces apart, and says nothing about them: no id, no name, no key. */
  readonly workspaceTag: string;
  /** Seconds until its listener has heard what is there already; 0 where nothing is, as for a first piece. */
  readonly aheadSeconds: number;
}

/** The demand of work that nobody named one for. */
export const NO_DEMAND: Demand = { workspaceTag: '', aheadSeconds: 0 };

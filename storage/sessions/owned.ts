/** A session, and the process that believes that it owns it. */
export interface Owned {
  readonly id: string;
  readonly ownerId: string;
}

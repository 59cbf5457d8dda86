/** A session, and the process that has it as far as that process knows. */
export interface Owned {
  readonly id: string;
  readonly ownerId: string;
}

/** Who did what in a workspace, and from where: names and ids only, never a value that was sent. */
import type { Listed, PageRequest } from '../page.js';

/**
 * What leaves an entry. `repeats`: the same again within minutes, such as a form that is saved while somebody types, counts in the
 * entry that is there.
 */
export const AUDIT_ACTIONS = {
  'agent.created': {},
  'agent.changed': { repeats: true },
  'agent.configured': { repeats: true },
  'agent.published': {},
  'agent.deleted': {},
  'agent.previewed': { repeats: true },
  'model.tested': { repeats: true },
  'tool.created': {},
  'tool.changed': { repeats: true },
  'tool.deleted': {},
  'tool.tested': { repeats: true },
  'knowledge.created': {},
  'knowledge.changed': { repeats: true },
  'knowledge.deleted': {},
  'voice.created': {},
  'voice.changed': { repeats: true },
  'voice.deleted': {},
  'number.created': {},
  'number.changed': { repeats: true },
  'number.deleted': {},
  'scenario.created': {},
  'scenario.changed': { repeats: true },
  'scenario.deleted': {},
  'suite.created': {},
  'suite.changed': { repeats: true },
  'suite.deleted': {},
  'test_run.deleted': {},
  'session.deleted': {},
  'sessions.deleted': {},
  'delivery.redelivered': { repeats: true },
  'deliveries.redelivered': {},
  'webhook.tested': { repeats: true },
  /** By the commands, the first start, API_KEY, or another key: the database notes it. */
  'key.created': {},
  'key.revoked': {},
  'model.added': {},
  'model.cancelled': {},
  'model.removed': {},
  'workspace.limited': {},
  signed_in: { repeats: true },
} as const satisfies Readonly<Record<string, { readonly repeats?: true }>>;
export type AuditAction = keyof typeof AUDIT_ACTIONS;

/** What a route declares. */
export interface Audited {
  readonly action: AuditAction;
  /** What it was done to: a parameter of the path, else a member of the answer. Absent: nothing that has an id. */
  readonly subject?: string;
  /** A member of the answer that says more, such as the number of a version. */
  readonly detail?: string;
}

export interface NewAuditEntry {
  readonly workspaceId: string;
  readonly keyId: string;
  readonly action: AuditAction;
  readonly subjectId: string | null;
  readonly subjectName: string | null;
  readonly detail: string | null;
  /** The client's. */
  readonly address: string;
  /** Names of what was sent. */
  readonly fields: readonly string[];
}

export interface AuditEntry extends Omit<NewAuditEntry, 'workspaceId' | 'keyId' | 'address'> {
  readonly id: string;
  readonly at: Date;
  /** When it was done last, and how often. */
  readonly lastAt: Date;
  readonly count: number;
  /** Null where an operator did it by a command. */
  readonly keyId: string | null;
  readonly keyName: string | null;
  readonly address: string | null;
}

export interface AuditFilter {
  readonly action?: AuditAction;
  readonly subjectId?: string;
  readonly keyId?: string;
  readonly after?: Date;
  readonly before?: Date;
}

export interface AuditEntries {
  /** Errors: those of the database. */
  add(entry: NewAuditEntry): Promise<void>;
  /** Newest first. */
  list(workspaceId: string, filter: AuditFilter, page: PageRequest): Promise<Listed<AuditEntry>>;
}

export interface AuditTrail extends Pick<AuditEntries, 'list'> {
  /** Never rejects: what has been done is not undone because of its entry. The log has what could not be kept. */
  note(entry: NewAuditEntry): Promise<void>;
}

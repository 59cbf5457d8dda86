/**
 * Permissions of keys. A key has one role; a route needs one permission (gateway/permissions.ts); a permission is
 * held by some roles. `full` holds all of them.
 */
export const ROLES = ['full', 'speech', 'sessions', 'read'] as const;
export type Role = (typeof ROLES)[number];

export const isRole = (role: string): role is Role => (ROLES as readonly string[]).includes(role);

interface PermissionRow {
  /** In addition to `full`. */
  readonly roles: readonly Exclude<Role, 'full'>[];
  /** For documentation. */
  readonly what: string;
}

export const PERMISSIONS = {
  open: { roles: ['speech', 'sessions', 'read'], what: 'needs no key, or checks a token of its own' },
  speech: { roles: ['speech'], what: 'speak, transcribe, hand out short-lived speech keys' },
  catalogue: { roles: ['speech', 'read'], what: 'read voices, models and what is left of the quota' },
  sessions: {
    roles: ['sessions'],
    what: 'create and end sessions, place and cancel calls, start and cancel runs of tests',
  },
  records: {
    roles: ['sessions', 'read'],
    what: 'read sessions, their recordings and deliveries, placed calls, and tests',
  },
  read: { roles: ['read'], what: 'read agents, versions, tools, knowledge sources, metrics, nodes and keys' },
  manage: { roles: [], what: 'change anything else' },
} as const satisfies Record<string, PermissionRow>;

export type Permission = keyof typeof PERMISSIONS;

export const allows = (role: Role, permission: Permission): boolean =>
  role === 'full' || (PERMISSIONS[permission].roles as readonly Role[]).includes(role);

/** The roles that hold a permission, the narrowest first. */
export const rolesOf = (permission: Permission): readonly Role[] => [
  ...PERMISSIONS[permission].roles,
  'full',
];

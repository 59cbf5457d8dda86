/**
 * Permissions of keys. A key has one role; a route needs one permission, which its row names; a permission is
 * held by some roles. `full` holds all of them, `machine` and `operate` only in
 * the default workspace.
 */
export const ROLES = ['full', 'speech', 'sessions', 'read', 'machine'] as const;
export type Role = (typeof ROLES)[number];

export const isRole = (role: string): role is Role => (ROLES as readonly string[]).includes(role);

interface PermissionRow {
  /** In addition to `full`. */
  readonly roles: readonly Exclude<Role, 'full'>[];
  /** For documentation. */
  readonly what: string;
}

export const PERMISSIONS = {
  open: {
    roles: ['speech', 'sessions', 'read', 'machine'],
    what: 'needs no key, or checks a token of its own',
  },
  speech: { roles: ['speech'], what: 'speak, transcribe, hand out short-lived speech keys' },
  catalogue: { roles: ['speech', 'read'], what: 'read voices, models and what is left of the quota' },
  sessions: {
    roles: ['sessions'],
    what: 'create and end sessions, begin chats and write in them, place and cancel calls, start and cancel runs of tests',
  },
  records: {
    roles: ['sessions', 'read'],
    what: 'read sessions and chats, their recordings and deliveries, placed calls, and tests',
  },
  read: { roles: ['read'], what: 'read agents, versions, tools, knowledge sources and keys' },
  machine: {
    roles: ['machine'],
    what: 'read figures of all workspaces: nodes, metrics, history (`full` of the workspace Default only)',
  },
  operate: {
    roles: [],
    what: 'change what the machine has for all workspaces, such as models (`full` of the workspace Default only)',
  },
  manage: { roles: [], what: 'change anything else' },
} as const satisfies Record<string, PermissionRow>;

export type Permission = keyof typeof PERMISSIONS;

export const allows = (role: Role, permission: Permission): boolean =>
  role === 'full' || (PERMISSIONS[permission].roles as readonly Role[]).includes(role);

/** A key's role, and whether its workspace is the default one, which is the operator's. */
export interface RoleHolder {
  readonly role: Role;
  readonly isOperators?: boolean | undefined;
}

const OF_OPERATORS: ReadonlySet<Permission> = new Set(['machine', 'operate']);

/** As `allows`, but full keys of other workspaces may not see what concerns all. */
export const holds = ({ role, isOperators = false }: RoleHolder, permission: Permission): boolean =>
  allows(role, permission) && (!OF_OPERATORS.has(permission) || role !== 'full' || isOperators);

/** The roles that hold a permission, the narrowest first. */
export const rolesOf = (permission: Permission): readonly Role[] => [
  ...PERMISSIONS[permission].roles,
  'full',
];

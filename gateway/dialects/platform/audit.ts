/** Who did what in the workspace, when, and from where (docs/contract/platform.md 6.18). */
import { LIMITS } from '../../../contracts/limits.js';
import { AUDIT_ACTIONS, type AuditAction, type AuditEntry } from '../../../contracts/ports/accounts/audit.js';
import { Moment, nullable } from '../../../contracts/schemas/shapes.js';
import { Type } from '../../../contracts/schemas/type.js';
import { answers, queryParameter } from '../../server/openapi/openapi-parts.js';
import { json } from '../../server/replies.js';
import { tagged } from '../../server/routes.js';
import { momentOf } from './moments.js';
import { oneOf, Page, pageBody, pageRequest, PAGING, textOf } from './paging.js';
import { failures, type PlatformHandler, type PlatformRow } from './rows.js';

const ACTIONS = Object.keys(AUDIT_ACTIONS) as AuditAction[];
const LIST = 'audit';

const EntryEntity = Type.Object(
  {
    entry_id: Type.String(),
    at: Moment,
    last_at: Type.String({
      format: 'date-time',
      description: 'When the same was done last, within minutes.',
    }),
    count: Type.Integer({ minimum: 1 }),
    action: Type.Enum(ACTIONS),
    subject_id: nullable(Type.String({ description: 'What it was done to.' })),
    subject_name: nullable(Type.String({ description: 'As it was called then.' })),
    detail: nullable(Type.String({ description: 'The number of the version, or the role of the key.' })),
    fields: Type.Array(Type.String(), { description: 'Names of what was sent, never the values.' }),
    key_id: nullable(Type.String({ description: 'Null: an operator, by a command.' })),
    key_name: nullable(Type.String()),
    address: nullable(Type.String({ description: "The client's." })),
  },
  {
    title: 'AuditEntry',
    examples: [
      {
        entry_id: '71',
        at: '2026-01-01T12:00:00.000Z',
        last_at: '2026-01-01T12:00:00.000Z',
        count: 1,
        action: 'agent.published',
        subject_id: 'agent_5f0c8a1b2c3d4e5f60718293',
        subject_name: 'Lamp shop',
        detail: '3',
        fields: ['version_title'],
        key_id: 'key_5f0c8a1b2c3d4e5f60718293',
        key_name: 'ada',
        address: '203.0.113.7',
      },
    ],
  },
);

const entryBody = (entry: AuditEntry) => ({
  entry_id: entry.id,
  at: entry.at.toISOString(),
  last_at: entry.lastAt.toISOString(),
  count: entry.count,
  action: entry.action,
  subject_id: entry.subjectId,
  subject_name: entry.subjectName,
  detail: entry.detail,
  fields: entry.fields,
  key_id: entry.keyId,
  key_name: entry.keyName,
  address: entry.address,
});

const list: PlatformHandler = async ({ query }, { audit }, { workspaceId }) => {
  const page = pageRequest(query, LIST);
  const [action, after, before] = [
    oneOf(query, 'action', ACTIONS),
    momentOf(query, 'after'),
    momentOf(query, 'before'),
  ];
  const [subjectId, keyId] = ['subject_id', 'key_id'].map((name) =>
    textOf(query, name, LIMITS.agent.reference),
  );
  const filter = {
    ...(action && { action }),
    ...(subjectId !== undefined && { subjectId }),
    ...(keyId !== undefined && { keyId }),
    ...(after && { after }),
    ...(before && { before }),
  };
  return json(200, pageBody(LIST, 'entries', await audit.list(workspaceId, filter, page), entryBody));
};

export const AUDIT_ROWS: readonly PlatformRow[] = tagged('audit', [
  {
    method: 'GET',
    path: '/v1/agent/audit',
    permission: 'read',
    handler: list,
    description: {
      summary: 'Who did what',
      operationId: 'listAudit',
      description:
        'Changes, publications, deletions, keys, numbers and sign-ins, newest first: by which key, when, and from which address. ' +
        'Kept for `AUDIT_DAYS`. Nothing that was sent is part of it but the names of fields.',
      parameters: [
        queryParameter('action', { enum: ACTIONS }),
        queryParameter('subject_id', { type: 'string', maxLength: LIMITS.agent.reference }),
        queryParameter('key_id', { type: 'string', maxLength: LIMITS.agent.reference }),
        queryParameter('after', { type: 'string' }, 'A date or an RFC 3339 date-time.'),
        queryParameter('before', { type: 'string' }),
        ...PAGING,
      ],
      responses: { ...answers(200, 'One page', Page('entries', EntryEntity)), ...failures(400) },
    },
  },
]);

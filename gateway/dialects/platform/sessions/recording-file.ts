/**
 * The audio of a recording, at the signed address that reading the recording returned (docs/contract/platform.md 6.7); the
 * signature stands for a key. Players may ask for a range of it.
 */
import type { RecordingFile, Recordings } from '../../../../contracts/ports/sessions/recordings.js';
import { LIMITS } from '../../../../contracts/limits.js';
import type { Reply } from '../../../server/port.js';
import type { RouteHandler, RouteRow } from '../../../server/routes.js';
import { queryParameter } from '../../../server/openapi/openapi-parts.js';
import { failures, found } from '../rows.js';

const RANGE = /^bytes=(\d{0,15})-(\d{0,15})$/;
const MINUTES = LIMITS.recording.urlMs / 60_000;

interface Part {
  readonly from: number;
  /** The byte after the last one. */
  readonly to: number;
}

/** One range of bytes (RFC 9110, 14.1.2). Undefined for several ranges or an unsatisfiable one: the whole file is sent. */
function partOf(range: string, bytes: number): Part | undefined {
  const [, first = '', last = ''] = RANGE.exec(range) ?? [];
  if (first === '' && last === '') return undefined;
  const from = first === '' ? Math.max(0, bytes - Number(last)) : Number(first);
  const to = first === '' || last === '' ? bytes : Math.min(bytes, Number(last) + 1);
  return from < to ? { from, to } : undefined;
}

function reply(file: RecordingFile, part: Part | undefined): Reply {
  const { from, to } = part ?? { from: 0, to: file.bytes };
  return {
    status: part ? 206 : 200,
    headers: {
      'content-type': 'audio/ogg',
      'accept-ranges': 'bytes',
      'cache-control': 'private, no-store',
      ...(part && { 'content-range': `bytes ${from}-${to - 1}/${file.bytes}` }),
    },
    body: file.read(from, to),
  };
}

/** Redirects to the bucket, whose signed addresses only allow reading. */
const sentTo = (location: string): Reply => ({
  status: 307,
  headers: { location, 'cache-control': 'private, no-store' },
});

interface RecordingFileParts {
  readonly recordings: Pick<Recordings, 'open'>;
}

const download: RouteHandler<RecordingFileParts, void> = async (request, { recordings }) => {
  const { params, headers, method, query } = request;
  const file = found(await recordings.open(params['token'] ?? ''), 'Recording');
  const mayRedirect = method === 'GET' && query.get('redirect') !== 'false';
  if (file.address !== undefined && mayRedirect) return sentTo(file.address);
  return reply(file, partOf(headers.get('range') ?? '', file.bytes));
};

const audio = { 'audio/ogg': { type: 'string', format: 'binary' } };
const { 401: _, ...FAILURES } = failures(404);

export const RECORDING_FILE_ROWS: readonly RouteRow<RecordingFileParts, void>[] = [
  {
    method: 'GET',
    path: '/v1/agent/recordings/{token}',
    // The address is signed.
    permission: 'open',
    handler: download,
    description: {
      summary: "Download one side of a session's recording",
      description:
        `At the address that reading the recording gave, for ${MINUTES} minutes. Ogg with Opus, mono; the sides of a call ` +
        'have the same timeline. A range of bytes may be asked for.',
      tags: ['sessions'],
      auth: false,
      parameters: [
        queryParameter(
          'redirect',
          { type: 'boolean', default: true },
          'false: from here in any case, for pages that may load nothing from a bucket.',
        ),
      ],
      responses: {
        200: { description: 'The audio', content: audio },
        206: { description: 'A part of it', content: audio },
        307: { description: 'The audio is in a bucket, at the address in `location`' },
        ...FAILURES,
      },
    },
  },
];

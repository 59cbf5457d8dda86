/** Publishing, and published versions (docs/contract/platform.md 6.4). */
import type {
  AgentVersion,
  Publication as PublicationOf,
  VersionSummary as Summary,
} from '../../../contracts/ports/agents/agents.js';
import { Publication, Published, VersionDetail, VersionSummary } from '../../../contracts/schemas/agents.js';
import { answers, jsonBody } from '../../server/openapi/openapi-parts.js';
import { json } from '../../server/replies.js';
import { tagged } from '../../server/routes.js';
import { agentIdOf, configEntity } from './agents.js';
import { readOptionalBody } from './bodies.js';
import { checked } from './checked.js';
import { transferWarnings, warningsOf } from './config-check.js';
import { modelWarnings } from './model-address.js';
import { toolWarnings, variableWarnings } from './variable-warnings.js';
import { notFound, refuse } from './errors.js';
import { Page, pageBody, pageRequest, PAGING } from './paging.js';
import type { PlatformParts } from './parts.js';
import { bodyFailures, failures, found, type PlatformHandler, type PlatformRow } from './rows.js';
import { cueWarnings, languageWarnings, voiceProblems } from './voice-check.js';

const checkPublication = checked(Publication);

const NUMBER = /^[1-9]\d{0,8}$/;

const summaryOf = ({ number, title, description, configHash, publishedAt }: Summary) => ({
  version_number: number,
  version_title: title,
  version_description: description,
  config_hash: configHash,
  published_at: publishedAt.toISOString(),
});

/** Publishes the draft with a checked voice; if the draft's voice changes meanwhile, the new one is checked too. */
async function publishChecked(
  id: string,
  workspaceId: string,
  about: Omit<PublicationOf, 'voice'>,
  parts: PlatformParts,
): Promise<AgentVersion> {
  for (;;) {
    const { voice } = found(await parts.agents.config(id, workspaceId), 'Agent').config;
    refuse(await voiceProblems(voice, workspaceId, parts.speech, ['voice', 'voice_id']));
    const version = found(await parts.versions.publish(id, workspaceId, { ...about, voice }), 'Agent');
    if (version !== 'changed') return version;
  }
}

const publish: PlatformHandler = async (request, parts, { workspaceId }) => {
  const body = checkPublication(await readOptionalBody(request));
  const about = { title: body.version_title ?? null, description: body.version_description ?? null };
  const version = await publishChecked(agentIdOf(request), workspaceId, about, parts);
  const warnings = [
    ...warningsOf(version.config, parts.languages),
    ...(await modelWarnings(version, parts.outbound, parts.models)),
    ...variableWarnings(version.config),
    ...(await cueWarnings(version.config.voice, workspaceId, parts.speech)),
    ...(await languageWarnings(version.config.voice, workspaceId, parts.speech)),
    ...(await toolWarnings(agentIdOf(request), workspaceId, version.number, parts)),
    ...(await transferWarnings(version.config, workspaceId, parts)),
  ];
  return json(200, { ...summaryOf(version), warnings });
};

const list: PlatformHandler = async (request, { versions }, { workspaceId }) => {
  const page = pageRequest(request.query, 'versions');
  const listed = found(await versions.list(agentIdOf(request), workspaceId, page), 'Agent');
  return json(200, pageBody('versions', 'versions', listed, summaryOf));
};

const read: PlatformHandler = async (request, { versions }, { workspaceId }) => {
  const number = request.params['version_number'] ?? '';
  if (!NUMBER.test(number)) throw notFound('Version');
  const version = found(await versions.read(agentIdOf(request), workspaceId, Number(number)), 'Version');
  return json(200, { ...summaryOf(version), config: configEntity(version) });
};

const AGENT = '/v1/agent/agents/{agent_id}';

export const VERSION_ROWS: readonly PlatformRow[] = tagged('agents', [
  {
    method: 'POST',
    path: `${AGENT}/publish`,
    permission: 'manage',
    handler: publish,
    audit: { action: 'agent.published', subject: 'agent_id', detail: 'version_number' },
    description: {
      summary: 'Publish the draft',
      description:
        'Makes the next version, which new sessions run: the configuration, the attached tools as they are, and the newest ' +
        'content of the knowledge sources. Refused if the voice does not exist or does not speak the language; other ' +
        'problems are warnings.',
      requestBody: jsonBody(Publication),
      bodyIsOptional: true,
      responses: { ...answers(200, 'The version', Published), ...bodyFailures(404) },
    },
  },
  {
    method: 'GET',
    path: `${AGENT}/versions`,
    permission: 'read',
    handler: list,
    description: {
      summary: 'List versions',
      description: 'Newest first.',
      parameters: PAGING,
      responses: { ...answers(200, 'One page', Page('versions', VersionSummary)), ...failures(400, 404) },
    },
  },
  {
    method: 'GET',
    path: `${AGENT}/versions/{version_number}`,
    permission: 'read',
    handler: read,
    description: {
      summary: 'Read a version',
      responses: { ...answers(200, 'The version', VersionDetail), ...failures(404) },
    },
  },
]);
